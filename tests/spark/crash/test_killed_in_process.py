"""A run that ends at any of its steps, and the retry that ends where an undisturbed run does.

Every write of Spark is followed by one listing of what it wrote, so that the calls to the object
store stand before and after each of them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slacktide.errors import StorageError
from slacktide.store.objects import Objects
from tests.harness.objects import FaultyObjects, Killed, lost
from tests.harness.shop import Shop

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def disturbed(spark, shop: Shop, **fault) -> list[tuple[str, str]]:
    """Refresh the pending change over objects that fail as told; give the calls that were made."""
    wrapped: list[FaultyObjects] = []

    def wrap(objects: Objects) -> Objects:
        wrapped.append(FaultyObjects(objects))
        return wrapped[0]

    workspace = shop.another(wrap)
    wrapped[0].calls.clear()
    for name, value in fault.items():
        setattr(wrapped[0], name, value)
    workspace.refresh(spark, shop.plan_id)
    return wrapped[0].calls


@pytest.fixture(scope="session")
def calls(spark, pending: Shop, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """The calls of one undisturbed refresh."""
    return disturbed(spark, pending.copy(tmp_path_factory.mktemp("counted")))


def retry(spark, shop: Shop, expected: Shop) -> None:
    """A process that knows nothing of the first attempt ends where an undisturbed run does."""
    report = shop.another().refresh(spark, shop.plan_id)
    assert report.run == 2
    assert shop.answers() == expected.answers()
    assert shop.world().views["totals"].versions == expected.world().views["totals"].versions
    assert shop.log() == expected.log()
    shop.check()


def test_the_calls_are_those_of_all_steps(calls: list[tuple[str, str]]) -> None:
    written = [key for name, key in calls if name == "put" and key.endswith(".parquet")]
    assert sorted(key.partition("/")[0] for key in written) == ["states", "views", "views", "views"]
    assert len(set(written)) == len(written)
    assert [name for name, _ in calls].count("put_if_absent") == 1


def test_killed_before_each_step(
    spark, calls: list[tuple[str, str]], copies: Callable[[], Shop], expected: Shop
) -> None:
    commit = next(step for step, (name, _) in enumerate(calls) if name == "put_if_absent")
    for step, (name, _) in enumerate(calls):
        shop = copies()
        with pytest.raises(Killed):
            disturbed(spark, shop, fail_at=step)
        # After the commit sinks are looked at.
        entries = expected.world().number - int(step <= commit)
        assert shop.world().number == len(shop.log()) - 1 == entries
        retry(spark, shop, expected)
        if name != "get":
            assert shop.workspace.verify(spark).equal


def test_killed_right_after_the_commit(
    spark, calls: list[tuple[str, str]], shop: Shop, expected: Shop
) -> None:
    commit = next(step for step, (name, _) in enumerate(calls) if name == "put_if_absent")
    with pytest.raises(Killed):
        disturbed(spark, shop, fail_at=commit, before=False)
    written = shop.files()
    retry(spark, shop, expected)
    assert shop.files() == written


def test_answers_of_the_object_store_are_lost(
    spark, calls: list[tuple[str, str]], copies: Callable[[], Shop], expected: Shop
) -> None:
    """Nothing is half a run: a lost answer fails the run as a whole, or is made good at once."""
    steps = [step for step, (name, _) in enumerate(calls) if name != "get"]
    steps += [step for step in (0, len(calls) - 2) if step not in steps]
    for step in steps:
        shop = copies()
        if calls[step][0] == "put_if_absent":
            disturbed(spark, shop, fail_at=step, before=False, error=lost)
            assert shop.world().plans[shop.plan_id] == 2
        else:
            with pytest.raises(StorageError):
                disturbed(spark, shop, fail_at=step, before=False, error=lost)
            assert shop.plan_id not in shop.world().plans
        retry(spark, shop, expected)


def test_the_object_store_is_gone_from_the_commit_on(
    spark, calls: list[tuple[str, str]], shop: Shop, expected: Shop
) -> None:
    """Whether the entry is there is unknown to the run, and settled by the retry."""
    reached: list[str] = []

    def hook(name: str, key: str) -> None:
        if reached:
            raise lost()
        if name == "put_if_absent":
            reached.append(key)

    commit = next(step for step, (name, _) in enumerate(calls) if name == "put_if_absent")
    with pytest.raises(StorageError):
        disturbed(spark, shop, fail_at=commit, before=False, error=lost, hook=hook)
    assert reached
    retry(spark, shop, expected)


def test_a_committed_plan_is_not_executed_again(spark, shop: Shop) -> None:
    report = shop.workspace.refresh(spark, shop.plan_id)
    log, files = shop.log(), shop.files()
    assert shop.workspace.refresh(spark, shop.plan_id) == report
    assert shop.another().refresh(spark, shop.plan_id) == report
    assert shop.another().report(shop.plan_id) == report
    assert (shop.log(), shop.files()) == (log, files)

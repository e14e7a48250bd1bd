"""What killed runs wrote is garbage, and nothing else is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from slacktide.store.garbage import GRACE
from tests.harness.objects import FaultyObjects, Killed
from tests.harness.shop import Shop

pytestmark = pytest.mark.spark


def later() -> datetime:
    """A time at which nothing that is written now can still be under way."""
    return datetime.now(UTC) + GRACE + timedelta(minutes=1)  # noqa: TID251 - files carry real times


def kill(spark, shop: Shop, name: str, count: int) -> None:
    """Refresh, and die at the n-th call of a name."""
    calls: list[str] = []

    def hook(called: str, _: str) -> None:
        calls.extend([called] if called == name else [])
        if len(calls) == count:
            raise Killed

    with pytest.raises(Killed):
        shop.another(lambda objects: FaultyObjects(objects, hook=hook)).refresh(spark, shop.plan_id)


def test_what_killed_runs_wrote_is_removed(spark, shop: Shop, expected: Shop) -> None:
    for name, count in (("put", 2), ("put_if_absent", 1)):
        kill(spark, shop, name, count)
    garbage = {path for path in shop.files() - shop.named() if path.endswith(".parquet")}
    assert {path.partition("/")[0] for path in garbage} == {"states", "views"}
    assert shop.workspace.gc().files == 0  # by its clock, all of it is new
    shop.workspace.refresh(spark, shop.plan_id)
    removed = shop.another(clock=later).gc()
    assert removed.files >= len(garbage) > 0
    assert shop.files() == shop.named()
    shop.check()
    assert shop.answers() == expected.answers()
    assert shop.workspace.verify(spark).equal
    assert sorted(map(tuple, shop.workspace.read(spark, "totals").collect())) == sorted(
        expected.answers()["totals"]
    )
    assert shop.workspace.changes(spark, "totals", since=0).count() > 0


def test_what_a_run_under_way_writes_is_kept(spark, shop: Shop, expected: Shop) -> None:
    """Collected at each of its steps by a clock of now, and again when it is over."""

    def now() -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - files carry real times

    def hook(name: str, _: str) -> None:
        if name in {"put", "put_if_absent"}:
            removed.append(shop.another(clock=now).gc().files)

    removed: list[int] = []
    shop.another(lambda objects: FaultyObjects(objects, hook=hook)).refresh(spark, shop.plan_id)
    assert len(removed) >= 5
    assert set(removed) == {0}
    shop.another(clock=later).gc()
    shop.check()
    assert shop.answers() == expected.answers()
    assert shop.workspace.verify(spark).equal

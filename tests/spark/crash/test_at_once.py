"""Runs, discoveries, readers and collections that meet: what was committed stays whole."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any

import pytest

from slacktide.engine.reports import Report
from slacktide.engine.workspace import Workspace
from slacktide.errors import CommitConflictError, RetryableError, SlacktideError
from tests.harness.objects import FaultyObjects
from tests.harness.shop import NOON, TOTALS, Shop

pytestmark = pytest.mark.spark

PATIENCE = 200


def before_commit(shop: Shop, action: Callable[[], Any]) -> Workspace:
    """The workspace as a process has it that stops for an action before it takes its first number."""
    done: list[str] = []

    def hook(name: str, key: str) -> None:
        if name == "put_if_absent" and not done:
            done.append(key)
            action()

    return shop.another(lambda objects: FaultyObjects(objects, hook=hook))


def while_it_works(shop: Shop, action: Callable[[], Any]) -> Workspace:
    """The same, with the stop before its first write."""
    done: list[str] = []

    def hook(name: str, key: str) -> None:
        if name == "put" and not done:
            done.append(key)
            action()

    return shop.another(lambda objects: FaultyObjects(objects, hook=hook))


def together(spark, shop: Shop, *plans: str) -> list[Report | SlacktideError]:
    """Refresh plans in threads, all of which reach their commit before one of them commits."""
    barrier = Barrier(len(plans))

    def run(plan: str) -> Report | SlacktideError:
        workspace = before_commit(shop, lambda: barrier.wait(PATIENCE))
        try:
            return workspace.refresh(spark, plan)
        except SlacktideError as error:
            return error

    with ThreadPoolExecutor(len(plans)) as pool:
        return list(pool.map(run, plans))


def planned(shop: Shop, *views: str) -> str:
    """Another plan of the pending change."""
    return shop.another().plan(list(views) or None, now=NOON.replace(hour=13)).plan_id


def settled(spark, shop: Shop, expected: Shop) -> None:
    """The workspace is whole, and every view has the answer to all that came."""
    shop.check()
    assert shop.answers() == expected.answers()
    assert shop.workspace.verify(spark).equal


def test_the_same_plan_twice(spark, shop: Shop, expected: Shop) -> None:
    first, second = together(spark, shop, shop.plan_id, shop.plan_id)
    assert isinstance(first, Report)
    assert first == second
    assert list(shop.world().runs) == [1, 2]
    settled(spark, shop, expected)


def test_two_plans_of_the_same_change(spark, shop: Shop, expected: Shop) -> None:
    plans = (shop.plan_id, planned(shop))
    ended = dict(zip(plans, together(spark, shop, *plans), strict=True))
    (loser,) = (plan for plan, end in ended.items() if isinstance(end, RetryableError))
    (winner,) = (end for end in ended.values() if isinstance(end, Report))
    assert winner.run == 2
    settled(spark, shop, expected)
    log, files = shop.log(), shop.files()
    again = shop.workspace.refresh(spark, loser)
    assert again.run == 3, "who waits for the plan finds its report"
    assert {view.method for view in again.views.values()} == {"unchanged"}
    assert all("STALE_PLAN" in view.reasons[-1] for view in again.views.values())
    assert (shop.log(), shop.files()) == ([*log, len(log)], files)


def test_two_views_that_share_a_state(spark, shop: Shop, expected: Shop) -> None:
    plans = (planned(shop, "totals", "named"), planned(shop, "busy"))
    ended = dict(zip(plans, together(spark, shop, *plans), strict=True))
    (loser,) = (plan for plan, end in ended.items() if isinstance(end, CommitConflictError))
    shop.check()
    again = shop.workspace.refresh(spark, loser)
    assert again.run == 3
    assert all("STALE_PLAN" in view.reasons[-1] for view in again.views.values())
    settled(spark, shop, expected)


def test_views_that_share_nothing(spark, shop: Shop, expected: Shop) -> None:
    """Nobody waits and nobody loses; each says of itself what is its own."""
    first, second = together(spark, shop, planned(shop, "totals", "busy"), planned(shop, "named"))
    assert isinstance(first, Report), first
    assert isinstance(second, Report), second
    assert {first.run, second.run} == {2, 3}
    settled(spark, shop, expected)
    (named,) = shop.world().chains["changes/named"].segments[1:]
    assert second.views["named"].actual["rows_out"] == named.rows


def test_a_hundred_discoveries(spark, shop: Shop, expected: Shop) -> None:
    halfway = Event()

    def discover() -> None:
        workspace = shop.another()
        for number in range(100):
            shop.land_orders(f"late {number}", [("insert", 1000 + number, number % 7, 1)])
            workspace.discover()
            if number == 50:
                halfway.set()

    workspace = before_commit(shop, lambda: halfway.wait(PATIENCE))
    plan = workspace.stored_plan(shop.plan_id)
    with ThreadPoolExecutor(1) as pool:
        discovering = pool.submit(discover)
        report = workspace.refresh(spark, plan)
        discovering.result(PATIENCE)
    assert halfway.is_set()
    assert report.versions == plan.versions
    ends = {view.view: view.end for view in plan.views}
    assert {name: view.versions for name, view in report.views.items()} == ends
    settled(spark, shop, expected)
    assert shop.world().sources["orders"].version == plan.versions["orders"] + 100
    shop.workspace.refresh(spark)
    shop.check()
    assert sum(n for _, _, n in shop.answers()["totals"]) == 200
    assert shop.workspace.verify(spark).equal


def test_readers_see_committed_answers_only(spark, shop: Shop) -> None:
    seen: list[frozenset[Any]] = []
    committed = [frozenset(shop.answers()["totals"])]
    is_over = Event()

    def read() -> None:
        workspace = shop.another()
        while not is_over.is_set():
            seen.append(frozenset(map(tuple, workspace.read(spark, "totals").collect())))

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        try:
            for number in range(3):
                shop.workspace.refresh(spark, views=["totals"])
                committed.append(frozenset(shop.answers()["totals"]))
                shop.land_orders(f"next {number}", [("insert", 200 + number, 0, number)])
        finally:
            is_over.set()
        reading.result(PATIENCE)
    assert len(set(committed)) == 4
    order = [committed.index(answer) for answer in seen]
    assert order == sorted(order)
    assert seen


def test_an_arrival_is_left_out_during_the_run(spark, shop: Shop) -> None:
    version = shop.world().sources["orders"].version
    workspace = while_it_works(shop, lambda: shop.another().skip("orders", version))
    with pytest.raises(CommitConflictError):
        workspace.refresh(spark, shop.plan_id)
    workspace.refresh(spark, shop.plan_id)
    shop.check()
    assert sum(n for _, _, n in shop.answers()["totals"]) == 100
    assert shop.workspace.verify(spark).equal


def test_definitions_go_away_during_the_run(spark, shop: Shop, expected: Shop) -> None:
    def drop() -> None:
        other = shop.another()
        other.drop_view("named")
        other.drop_source("customers")

    workspace = while_it_works(shop, drop)
    with pytest.raises(CommitConflictError):
        workspace.refresh(spark, shop.plan_id)
    report = workspace.refresh(spark, shop.plan_id)
    assert sorted(report.views) == ["busy", "totals"]
    assert shop.answers()["totals"] == expected.answers()["totals"]
    assert shop.workspace.verify(spark).equal


def test_old_changes_are_forgotten_during_a_run(spark, shop: Shop) -> None:
    """What a run adds to the changes of an answer outlives a collection that it met."""
    shop.workspace.refresh(spark, shop.plan_id)
    shop.land_orders("next", [("insert", 200, 0, 1)])
    collecting = before_commit(shop, lambda: shop.another().refresh(spark, views=["totals"]))
    assert collecting.gc(keep_runs=1).changes >= 2
    shop.check()
    assert [segment.run for segment in shop.world().chains["changes/totals"].segments] == [3]


def test_a_source_that_is_reset_during_the_run(spark, shop: Shop, expected: Shop) -> None:
    workspace = while_it_works(shop, lambda: shop.another().reset_source("orders"))
    with pytest.raises(CommitConflictError):
        workspace.refresh(spark, shop.plan_id)
    workspace.discover()
    report = workspace.refresh(spark, shop.plan_id)
    assert all("STALE_PLAN" in view.reasons[-1] for view in report.views.values())
    settled(spark, shop, expected)


def test_a_view_is_registered_by_two_runs(spark, shop: Shop, expected: Shop) -> None:
    declared = {"views": {"again": {"sql": TOTALS}}}
    plans = [
        shop.another().plan(now=NOON.replace(minute=minute), declarations=declared).plan_id
        for minute in (1, 2)
    ]
    ended = together(spark, shop, *plans)
    assert sorted(type(end).__name__ for end in ended) == ["CommitConflictError", "Report"]
    shop.check()
    assert shop.answers()["again"] == expected.answers()["totals"]
    assert shop.workspace.verify(spark).equal

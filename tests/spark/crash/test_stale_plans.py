"""A plan whose ground has moved is made again, under its own id, and says so."""

from __future__ import annotations

import pytest

from slacktide.engine.reports import Report
from tests.harness.shop import NOON, TOTALS, VIEWS, Shop

pytestmark = pytest.mark.spark


def stale(report: Report) -> dict[str, bool]:
    """Which views of a report were planned again."""
    return {
        name: any(reason.startswith("STALE_PLAN") for reason in view.reasons)
        for name, view in report.views.items()
    }


def settled(spark, shop: Shop, expected: Shop) -> None:
    """The workspace is whole and answers as its twin does."""
    shop.check()
    assert shop.answers() == expected.answers()
    assert shop.workspace.verify(spark).equal


def test_another_run_did_the_work(spark, shop: Shop, expected: Shop) -> None:
    other = shop.workspace.plan(now=NOON.replace(hour=13))
    shop.workspace.refresh(spark, other)
    log, files = shop.log(), shop.files()
    report = shop.another().refresh(spark, shop.plan_id)
    assert report.run == 3, "who waits for the plan finds its report"
    assert set(stale(report).values()) == {True}
    assert {view.method for view in report.views.values()} == {"unchanged"}
    assert (shop.log(), shop.files()) == ([*log, len(log)], files)
    settled(spark, shop, expected)


def test_another_run_took_in_more(spark, shop: Shop) -> None:
    """A retry always makes progress: it takes in what has come since."""
    shop.land_orders("more", [("insert", 300, 0, 5)])
    shop.workspace.refresh(spark, views=["totals"])
    report = shop.another().refresh(spark, shop.plan_id)
    assert (report.run, report.plan_id) == (3, shop.plan_id)
    assert set(stale(report).values()) == {True}
    assert report.views["totals"].method == "unchanged"
    assert report.views["named"].versions["orders"] == shop.world().sources["orders"].version
    assert shop.workspace.refresh(spark, shop.plan_id) == report
    executed = shop.workspace.stored_plan(shop.plan_id)
    assert executed.plan_id == shop.plan_id
    assert executed.versions == report.versions
    assert {v.view: v.method for v in executed.views} == {
        name: view.method for name, view in report.views.items()
    }
    shop.check()
    assert shop.workspace.verify(spark).equal


def test_another_view_moved_a_state_that_is_shared(spark, shop: Shop, expected: Shop) -> None:
    """The view itself is as the plan knew it, but the rows that it would add are in the state."""
    busy = shop.workspace.plan(["busy"], now=NOON.replace(hour=14)).plan_id
    shop.workspace.refresh(spark, views=["totals", "named"])
    report = shop.another().refresh(spark, busy)
    assert stale(report) == {"busy": True}
    assert report.views["busy"].reasons[0].startswith("STATE_MISSING")
    settled(spark, shop, expected)


def test_a_view_was_dropped(spark, shop: Shop, expected: Shop) -> None:
    shop.workspace.drop_view("totals")
    report = shop.another().refresh(spark, shop.plan_id)
    assert stale(report) == {"busy": True, "named": True}
    assert shop.answers() == {name: expected.answers()[name] for name in ("busy", "named")}
    assert shop.workspace.verify(spark).equal


def test_the_only_view_was_dropped(spark, shop: Shop) -> None:
    plan = shop.workspace.plan(["named"], now=NOON.replace(hour=14)).plan_id
    shop.workspace.drop_view("named")
    log = shop.log()
    report = shop.another().refresh(spark, plan)
    assert (report.run, dict(report.views), shop.log()) == (2, {}, [*log, len(log)])


def test_a_view_was_replaced(spark, shop: Shop) -> None:
    shop.workspace.replace_view(spark, "busy", f"{TOTALS} HAVING count(*) > 24")
    report = shop.another().refresh(spark, shop.plan_id)
    assert set(stale(report).values()) == {True}
    assert report.views["busy"].method == "full"
    shop.check()
    assert {n for _, _, n in shop.answers()["busy"]} == {25}
    assert shop.workspace.verify(spark).equal


@pytest.mark.parametrize("is_discovered", [True, False])
def test_a_source_was_reset(spark, shop: Shop, expected: Shop, is_discovered: bool) -> None:
    shop.workspace.reset_source("orders")
    if is_discovered:
        shop.workspace.discover()
    report = shop.another().refresh(spark, shop.plan_id)
    assert set(stale(report).values()) == {True}
    if is_discovered:
        settled(spark, shop, expected)
        return
    assert not shop.answers()["totals"]
    assert shop.workspace.verify(spark).equal
    shop.workspace.refresh(spark)
    settled(spark, shop, expected)


def test_a_source_was_reset_before_a_view_was_registered(spark, shop: Shop) -> None:
    declared = {"views": {"ids": {"sql": "SELECT id FROM customers"}}}
    plan = shop.workspace.plan([], now=NOON, declarations=declared)
    shop.workspace.reset_source("customers")
    report = shop.another().refresh(spark, plan)
    assert report.views["ids"].versions == {"customers": 0}
    shop.workspace.refresh(spark)
    shop.check()
    assert sorted(shop.answers()["ids"]) == [(i,) for i in range(5)]
    assert shop.workspace.verify(spark).equal


def test_a_mirror_is_not_set_back(spark, shop: Shop) -> None:
    """A mirror that the run of another view wrote at a later version stays, and the plan is made again from there."""
    shop.land_orders("many", [("insert", 400 + i, i % 4, 1) for i in range(60)])
    early = shop.workspace.plan(["named"], now=NOON.replace(hour=14))
    assert early.mirrors == {"orders": 3}
    shop.land_orders("few", [("insert", 500, 0, 1)])
    shop.workspace.add_view(spark, "also", f"{VIEWS['named']} WHERE o.id > 7")
    shop.workspace.refresh(spark, views=["also"])
    mirror = shop.world().chains["sources/orders"]
    assert mirror.versions == {"orders": 4}
    report = shop.another().refresh(spark, early)
    assert stale(report) == {"named": True}
    assert report.views["named"].versions["orders"] == 4
    assert shop.world().chains["sources/orders"] == mirror
    assert shop.workspace.verify(spark).equal

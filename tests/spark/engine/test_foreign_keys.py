"""Foreign keys between sources: what uses them, what guards them, and what happens when they break."""

from __future__ import annotations

import pytest

from slacktide.common.tree import of_type
from slacktide.engine.plan import Plan
from slacktide.program.operator import ByBalance
from slacktide.spark.measures.metrics import Meter
from tests.harness.lab import Lab

pytestmark = pytest.mark.spark

LINES = "lines(o) -> orders(k)"
BUYERS = "orders(c) -> customers(k)"
SQL = (
    "SELECT c.name, o.k, o.state, l.n, l.v FROM customers c, orders o, lines l "
    "WHERE c.k = o.c AND o.k = l.o AND o.state <> 'x'"
)


def joined(customers, orders, lines):
    names, states = dict(customers), {k: (c, s) for k, c, s in orders}
    return [
        (names[states[o][0]], o, states[o][1], n, v)
        for o, n, v in lines
        if o in states and states[o][0] in names and states[o][1] != "x"
    ]


@pytest.fixture
def shop(lab: Lab) -> Lab:
    """Customers, orders of customers and lines of orders, with an answer, checked."""
    lab.source("customers", "k INT, name STRING", (1, "a"), (2, "b"), key=["k"])
    lab.source(
        "orders",
        "k INT, c INT, state STRING",
        *((10 + i, 1 + i % 2, "o") for i in range(4)),
        (20, None, "o"),
        key=["k"],
        references={"c": "customers.k"},
    )
    lab.source(
        "lines",
        "o INT, n INT, v INT",
        *((10 + i % 4, i, i) for i in range(12)),
        (None, 99, 0),
        key=["n"],
        references={"o": "orders.k"},
    )
    lab.view("joined", SQL, joined, "customers", "orders", "lines")
    lab.step(joined="full")
    found = lab.ws.verify_foreign_keys(lab.spark)
    assert found.holds, found.to_dict()
    return lab


def known(lab: Lab) -> set[str]:
    return set(lab.ws._store.world().held_keys)


def goes_by_foreign_keys(plan: Plan) -> bool:
    view = plan.views[0]
    assert view.program is not None
    has = any(of_type(view.program, ByBalance))
    assert bool(view.foreign_keys) or not has
    return has


def planned(lab: Lab) -> Plan:
    """Refresh, check all, and give the plan as it was executed."""
    plan = lab.ws.plan()
    report = lab.ws.refresh(lab.spark, plan)
    lab.check()
    assert report.views["joined"].method == "incremental"
    return lab.ws.stored_plan(plan.plan_id)


def test_what_holds_is_told_and_used(shop: Lab) -> None:
    assert known(shop) == {LINES, BUYERS}
    number = shop.number
    assert shop.ws.verify_foreign_keys(shop.spark).holds
    assert shop.number == number, "what is known already is not said again"
    (told,) = shop.ws.status().sources["lines"]["foreign_keys"]
    assert (told["state"], told["versions"]) == ("holds", {"lines": 1, "orders": 1})
    shop.land("orders", insert=[(14, 2, "o"), (15, 1, "x")], delete=[(10, 1, "o")])
    shop.land("lines", insert=[(14, 20, 1), (15, 21, 1)], delete=[(10, i, i) for i in (0, 4, 8)])
    plan = planned(shop)
    assert goes_by_foreign_keys(plan)
    assert set(plan.foreign_keys) == set(plan.views[0].foreign_keys) == {LINES, BUYERS}
    versions = shop.ws._store.world().foreign_keys[LINES].versions
    assert dict(versions) == {"lines": 2, "orders": 2}


def test_no_work_is_left_out_of_a_report(shop: Lab) -> None:
    shop.land("orders", insert=[(14, 2, "o")], delete=[(10, 1, "o")])
    shop.land("lines", insert=[(14, 20, 1)], delete=[(10, i, i) for i in (0, 4, 8)])
    meter = Meter(shop.spark)
    before = meter.mark()
    report = shop.refresh()
    ran = meter.cost(before, meter.mark(), {})
    parts = [view.actual for view in report.views.values()]
    parts += [mirror.actual for mirror in report.mirrors.values()]
    for figure in ("jobs", "stages", "rows_read"):
        told = sum(part[figure] for part in (*parts, report.asked))
        assert told == getattr(ran, figure), figure
    assert report.asked["jobs"] >= len(known(shop))
    assert report.asked["writes"] == 0


def test_rows_that_are_updated_and_keys_that_move(shop: Lab) -> None:
    shop.land("customers", update=[((1, "a"), (1, "A"))], insert=[(3, "c")])
    shop.land(
        "orders",
        update=[
            ((10, 1, "o"), (10, 2, "o")),
            ((11, 2, "o"), (11, 2, "x")),
            ((13, 2, "o"), (13, None, "o")),
        ],
        delete=[(12, 1, "o")],
        insert=[(22, 1, "o")],
    )
    moved = [((12, i, i), (22, i, i)) for i in (2, 6, 10)]
    shop.land("lines", update=[*moved, ((10, 0, 0), (20, 0, 5))])
    assert goes_by_foreign_keys(planned(shop))
    shop.land("orders", update=[((11, 2, "x"), (11, 3, "o"))])
    assert goes_by_foreign_keys(planned(shop))
    assert known(shop) == {LINES, BUYERS}


def test_a_run_without_kept_keys_does_not_read_the_referring_source(shop: Lab) -> None:
    shop.land("orders", insert=[(14, 2, "o")])
    plan = shop.ws.plan()
    report = shop.ws.refresh(shop.spark, plan)
    shop.check()
    assert goes_by_foreign_keys(shop.ws.stored_plan(plan.plan_id))
    assert report.views["joined"].actual["rows_read"] == 0


def test_a_referring_column_that_is_null_breaks_nothing(shop: Lab) -> None:
    shop.land("lines", insert=[(None, 40, 1)], update=[((10, 0, 0), (None, 0, 0))])
    shop.land("orders", insert=[(30, None, "o")], update=[((11, 2, "o"), (11, None, "o"))])
    assert goes_by_foreign_keys(planned(shop))
    shop.land("orders", delete=[(20, None, "o"), (30, None, "o")])
    assert goes_by_foreign_keys(planned(shop))
    assert known(shop) == {LINES, BUYERS}
    assert shop.ws.verify_foreign_keys(shop.spark).holds


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ("lines", {"insert": [(77, 30, 1)]}),
        ("orders", {"delete": [(11, 2, "o")]}),
        ("orders", {"insert": [(11, 1, "o")]}),
        ("orders", {"insert": [(None, 1, "o")]}),
    ],
    ids=["a fact before its dimension", "facts that are left", "a key on two rows", "a NULL key"],
)
def test_a_broken_foreign_key_is_withdrawn_before_it_is_used(shop: Lab, source: str, rows) -> None:
    shop.land(source, **rows)
    report = shop.ws.refresh(shop.spark)
    assert known(shop) == {BUYERS}
    assert any(LINES in notice for notice in report.notices)
    found = shop.ws.verify(shop.spark)
    assert found.equal, found.to_dict()
    (told,) = shop.ws.status().sources["lines"]["foreign_keys"]
    assert told["name"] == LINES
    assert told["state"] == "broken"
    assert told["broken"] in report.notices[0]
    shop.land("lines", insert=[(11, 31, 1)])
    plan = shop.ws.plan()
    shop.ws.refresh(shop.spark, plan)
    assert LINES not in shop.ws.stored_plan(plan.plan_id).views[0].foreign_keys
    assert shop.ws.verify(shop.spark).equal
    again = shop.ws.verify_foreign_keys(shop.spark)
    assert not again.holds
    assert not again.doubted
    assert known(shop) == {BUYERS}


def test_a_dimension_that_came_late_is_trusted_once_verified(shop: Lab) -> None:
    shop.land("lines", insert=[(77, 30, 1)])
    shop.step(joined="incremental")
    shop.land("orders", insert=[(77, 1, "o")])
    shop.step(joined="incremental")
    assert known(shop) == {BUYERS}
    assert shop.ws.verify_foreign_keys(shop.spark).holds
    shop.land("orders", update=[((77, 1, "o"), (77, 2, "o"))])
    plan = planned(shop)
    assert LINES in plan.views[0].foreign_keys


def test_what_lags_and_cannot_be_read_is_withdrawn(shop: Lab) -> None:
    """No view went by it meanwhile, and the mirror tells what the landed file did."""
    shop.view("others", "SELECT l.n, c.name FROM lines l, customers c WHERE l.v = c.k")
    shop.ws.drop_view("joined")
    shop.refresh()
    landed = shop.land("lines", insert=[(10 + i % 4, 100 + i, i) for i in range(20)])
    shop.refresh()
    landed.unlink()
    shop.view("joined", SQL, joined, "customers", "orders", "lines")
    report = shop.refresh()
    shop.check()
    assert known(shop) == {BUYERS}
    (notice,) = report.notices
    assert notice.startswith(f"{LINES} is not known to hold any more: source lines: ")
    shop.land("lines", insert=[(10, 200, 1)])
    shop.step(joined="incremental")


def test_all_that_breaks_is_told_by_one_run(shop: Lab) -> None:
    shop.land("lines", insert=[(77, 30, 1)])
    shop.land("orders", insert=[(40, 9, "o")])
    report = shop.refresh()
    shop.verified()
    assert not known(shop)
    assert report.notices == (
        f"{LINES} does not hold: 77 without its row; not used until verified",
        f"{BUYERS} does not hold: 9 without its row; not used until verified",
    )


def test_a_source_that_is_held_back(shop: Lab) -> None:
    shop.ws.hold_source("orders")
    shop.land("orders", insert=[(14, 2, "o")])
    shop.land("lines", insert=[(14, 20, 1)])
    shop.refresh()
    shop.verified()
    assert known(shop) == {BUYERS}
    shop.ws.hold_source("orders", held=False)
    shop.step(joined="incremental")


def test_answers_that_went_by_a_broken_foreign_key_are_made_anew(shop: Lab) -> None:
    """As where rows were damaged in a way that no run could see."""
    store = shop.ws._store
    shop.land("lines", insert=[(78, 40, 1)])
    shop.ws.discover()
    from dataclasses import replace

    from slacktide.store import update as u

    shop.refresh()
    versions = {"lines": 2, "orders": 1}
    record = store.world().foreign_keys[LINES]
    assert record.broken == "does not hold: 78 without its row"
    store.commit([u.NoteForeignKeys((replace(record, broken="", versions=versions),))])
    found = shop.ws.verify_foreign_keys(shop.spark)
    assert found.doubted == ("joined",)
    assert {check.name: check.violations for check in found.checks}[LINES] == 1
    (check,) = [check for check in found.checks if check.name == LINES]
    assert check.line == f"foreign key {LINES}: 1 key violates it: 78"
    plan = shop.ws.plan()
    assert [str(reason) for reason in plan.views[0].reasons] == [f"REFERENCE_BROKEN({LINES})"]
    shop.ws.refresh(shop.spark, plan)
    shop.check()
    assert store.world().views["joined"].doubted == ""


def test_what_is_declared_wrongly_is_told(lab: Lab) -> None:
    lab.source("s", "k INT, j BIGINT", (1, 1), (1, 2), (None, 3), key=["k"])
    declared = {"a": "s.k", "b": "s.j", "c": "nowhere.k"}
    lab.source("r", "a BIGINT, b BIGINT, c INT", (1, 1, 1), references=declared)
    lab.ws.discover()
    found = lab.ws.verify_foreign_keys(lab.spark)
    assert not found.holds
    lines = [check.line for check in found.checks]
    assert lines == [
        "key s(k): 2 keys violate it: NULL; 1",
        "foreign key r(a) -> s(k): not checked, as a has the type BIGINT and k the type INT",
        "foreign key r(b) -> s(j): not checked, as j is not the declared key of s",
        "foreign key r(c) -> nowhere(k): not checked, as there is no source nowhere",
    ]
    assert not known(lab)

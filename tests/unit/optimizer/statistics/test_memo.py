"""How many rows relations have and change by, where statistics are known, and where not."""

from __future__ import annotations

from dataclasses import replace

import hypothesis
import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import relations, sources
from slacktide.common.tree import of_type
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.versions import Tables, Version
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.statistics import (
    ChangeFacts,
    ColumnFacts,
    Figure,
    SourceFacts,
    Statistics,
)
from slacktide.optimizer.statistics.facts import UNKNOWN_ROWS
from slacktide.optimizer.statistics.memo import GroupSizes
from tests.harness.plans import Case, cases

pytestmark = pytest.mark.unit
LINES = from_text("scan lines [l_order#1:INT!, l_price#2:INT!, l_day#3:INT]")
ORDERS = from_text("scan orders [o_key#4:INT!, o_city#5:STRING!]")
TABLES = Tables(("lines", "orders"))


def told(value: float) -> Figure:
    return Figure(value, "declared")


def valued(distinct: float, high: float | None = None, nulls: float = 0.0) -> ColumnFacts:
    return ColumnFacts(told(distinct), None if high is None else 0.0, high, told(nulls))


KNOWN = Statistics(
    {
        "lines": SourceFacts(
            rows=told(4020),
            changes=(ChangeFacts(told(60), deleted=told(20)),),
            columns={
                "l_order": valued(1000),
                "l_price": valued(100, 100),
                "l_day": valued(10, 10, 0.5),
            },
        ),
        "orders": SourceFacts(
            rows=told(1010),
            changes=(ChangeFacts(told(10), deleted=told(0)),),
            columns={"o_key": valued(1000), "o_city": valued(20)},
        ),
    }
)
FIRST, SECOND = (1, 1), (2, 2)


def call(function: str, *arguments: s.Scalar) -> s.Call:
    return s.Call(function, arguments, "BOOLEAN", nullable=True)


def ref(rel: Rel, name: str) -> s.Reference:
    return s.reference(next(column for column in rel.columns if column.name == name))


def number(value: int) -> s.Literal:
    return s.Literal(str(value), "INT", nullable=False)


SAME = call("=", ref(LINES, "l_order"), ref(ORDERS, "o_key"))
PRICE, DAY = ref(LINES, "l_price"), ref(LINES, "l_day")
ADDED = s.Call("+", (PRICE, DAY), "INT", nullable=True)
FEW = call("=", ref(ORDERS, "o_key"), DAY)
AGAIN = r.Scan("orders", (s.Column(9, "o_key", "INT", nullable=False),))
CITY = s.Column(20, "city", "STRING", nullable=True)
LEVEL = s.Column(21, "level", "INT", nullable=False)
ROLLED = r.Expand(
    ORDERS,
    (
        (ref(ORDERS, "o_city"), number(0)),
        (s.Literal("CAST(NULL AS STRING)", "STRING", nullable=True), number(1)),
    ),
    (CITY, LEVEL),
)
ROWS = {
    "a source": (LINES, 4000),
    "an equality": (r.Filter(LINES, call("=", PRICE, number(7))), 40),
    "a range": (r.Filter(LINES, call("<", PRICE, number(25))), 1000),
    "a range from the other side": (r.Filter(LINES, call("<", number(25), PRICE)), 3000),
    "a range that has NULLs": (r.Filter(LINES, call(">", DAY, number(5))), 1000),
    "past the end": (r.Filter(LINES, call(">", PRICE, number(500))), 0),
    "NULL": (r.Filter(LINES, call("isnull", DAY)), 2000),
    "not NULL": (r.Filter(LINES, call("not", call("isnull", DAY))), 2000),
    "both": (
        r.Filter(LINES, call("and", call("<", PRICE, number(50)), call("isnull", DAY))),
        1000,
    ),
    "either": (
        r.Filter(LINES, call("or", call("<", PRICE, number(50)), call("isnull", DAY))),
        3000,
    ),
    "a join to a key": (r.Join(LINES, ORDERS, "inner", SAME), 4000),
    "no condition": (r.Join(ORDERS, AGAIN, "inner", None), 1_000_000),
    "rows that meet": (r.Join(LINES, ORDERS, "semi", SAME), 4000),
    "rows that meet none": (r.Join(LINES, ORDERS, "anti", SAME), 0),
    "padded": (r.Join(ORDERS, LINES, "left", SAME), 4000),
    "not equal, and not NULL": (r.Filter(LINES, call("not", call("=", DAY, number(7)))), 1800),
    "not NULL, which is not true": (
        r.Filter(LINES, call("not", s.Literal("CAST(NULL AS BOOLEAN)", "BOOLEAN", nullable=True))),
        0,
    ),
    "not both": (
        r.Filter(
            LINES, call("not", call("and", call("=", DAY, number(7)), call("<", PRICE, number(50))))
        ),
        4000 * (1 - (1 - 0.45) * (1 - 0.5)),
    ),
    "rows that meet, by few values": (r.Join(ORDERS, LINES, "semi", FEW), 10),
    "rows that meet none, by few values": (r.Join(ORDERS, LINES, "anti", FEW), 990),
    "padded, by few values": (r.Join(ORDERS, LINES, "left", FEW), 2990),
    "padded rows alone": (
        r.Filter(r.Join(ORDERS, LINES, "left", FEW), call("isnull", replace(PRICE, nullable=True))),
        990,
    ),
    "groups": (r.Aggregate(ORDERS, (s.identity(ORDERS.columns[1]),), ()), 20),
    "one group": (r.Aggregate(ORDERS, (), ()), 1),
    "the first": (r.Limit(LINES, 10), 10),
    "rolled up": (r.Aggregate(ROLLED, tuple(map(s.identity, ROLLED.columns)), ()), 21 * 2),
    "without a group": (r.Filter(ROLLED, call("isnull", s.reference(ROLLED.columns[0]))), 1000),
    "all of two": (r.Union((LINES, LINES), LINES.columns), 8000),
}
CHANGED = {
    "a source": (LINES, 60),
    "a filter": (r.Filter(LINES, call("<", PRICE, number(25))), 15),
    "a join": (r.Join(LINES, ORDERS, "inner", SAME), 60 * 1010 / 1010 + 10 * 4020 / 1010),
    "groups, before and after": (r.Aggregate(ORDERS, (s.identity(ORDERS.columns[1]),), ()), 20),
    "one group": (r.Aggregate(LINES, (), ()), 2),
    "padded: what changes itself, and what meets another now": (
        r.Join(ORDERS, LINES, "left", SAME),
        max(10 * 4.02, 10) + 60 + 60,
    ),
    "rows that meet": (r.Join(ORDERS, LINES, "semi", SAME), 10 + 60),
    "rows that meet, of which there are no more": (r.Join(ORDERS, AGAIN, "semi", None), 10 + 1010),
    "partitions of four rows, before and after": (
        r.Window(LINES, (ref(LINES, "l_order"),), (), ()),
        2 * 60 * 4.02,
    ),
    "constant rows": (r.Values((), ((), ())), 0),
}


def sizes(statistics: Statistics, tables: Tables = TABLES) -> GroupSizes:
    return GroupSizes(Memo(tables), statistics)


def rows_of(rel: Rel, version: Version, statistics: Statistics = KNOWN) -> Figure:
    return sizes(statistics).snapshot(version).of(rel).rows


def changed_of(rel: Rel, start: Version, end: Version, statistics: Statistics = KNOWN) -> Figure:
    return sizes(statistics).change(start, end).of(rel).rows


@pytest.mark.parametrize("name", ROWS)
def test_rows_where_all_is_known(name: str) -> None:
    rel, expected = ROWS[name]
    found = rows_of(rel, FIRST)
    assert found.value == pytest.approx(expected)
    assert found.origin != "default"


@pytest.mark.parametrize("name", CHANGED)
def test_changes_where_all_is_known(name: str) -> None:
    rel, expected = CHANGED[name]
    found = changed_of(rel, FIRST, SECOND)
    assert found.value == pytest.approx(expected, rel=0.02)
    assert found.origin != "default"


def test_rows_follow_the_changes() -> None:
    assert rows_of(LINES, FIRST) == told(4000)
    assert rows_of(LINES, SECOND) == told(4020)
    assert changed_of(LINES, (1, 1), (1, 2)).value == 0


def test_of_the_first_rows_no_more_than_all_are_others() -> None:
    assert changed_of(r.Limit(LINES, 10), FIRST, SECOND) == Figure(20.0)
    assert changed_of(r.Limit(LINES, None), FIRST, SECOND) == Figure(60.0)


def test_several_instants_have_their_own_changes() -> None:
    changes = tuple(ChangeFacts(told(rows), deleted=told(0)) for rows in (10, 20, 30))
    known = Statistics({"lines": SourceFacts(told(160), changes=changes)})
    assert [rows_of(LINES, (n, 1), known).value for n in (1, 2, 3, 4)] == [100, 110, 130, 160]
    assert changed_of(LINES, (2, 1), (4, 1), known) == told(50)
    later = changed_of(LINES, (4, 1), (5, 1), known)
    assert later == Figure(32.0), "as much as comes and goes where nobody says"
    assert rows_of(LINES, (5, 1), known) == Figure(160.0)


@pytest.mark.parametrize(
    "rel",
    [
        r.Filter(LINES, call("like", PRICE, number(1))),
        r.Aggregate(
            LINES,
            (s.Assignment(s.Column(50, "k", "INT", nullable=True), ADDED),),
            (),
        ),
        r.Scan("others", (s.Column(60, "x", "INT", nullable=True),)),
    ],
    ids=["a function", "a computed key", "another source"],
)
def test_what_is_a_guess_says_so(rel: Rel) -> None:
    assert rows_of(rel, FIRST).origin == "default"


def test_a_source_of_which_nothing_is_known() -> None:
    assert rows_of(LINES, FIRST, Statistics()) == Figure(UNKNOWN_ROWS)


def test_a_column_of_which_nothing_is_known_has_a_default() -> None:
    total = s.Assignment(s.Column(31, "sum", "INT", True), ADDED)
    estimate = sizes(KNOWN).snapshot(FIRST).of(r.Project(LINES, (total,)))
    assert estimate.column(31).distinct == Figure(10.0)
    equal = call("=", s.reference(total.column), number(7))
    assert rows_of(r.Filter(r.Project(LINES, (total,)), equal), FIRST).value == 400


@hypothesis.settings(
    max_examples=30, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
@hypothesis.given(case=cases(batches=2))
def test_no_relation_is_smaller_than_nothing_and_no_change_of_rows_larger_than_all(
    case: Case,
) -> None:
    root = Maintainability(case.relation).root
    tables = Tables(sources(root))
    first, second = ((n,) * len(tables.names) for n in (1, 2))
    for statistics in (Statistics(), KNOWN):
        found = sizes(statistics, tables)
        for rel in relations(root):
            before, after = (
                found.snapshot(version).of(rel).rows.value for version in (first, second)
            )
            changed = found.change(first, second).of(rel).rows.value
            assert min(before, after, changed) >= 0
            if not any(of_type(rel, (r.Aggregate, r.Join, r.Limit, r.Window))):
                assert changed <= (before + after) * (1 + 1e-9), rel.tag

"""How many rows relations have and change by, where statistics are known, and where not."""

from __future__ import annotations

import hypothesis
import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import relations, sources
from slacktide.optimizer.estimation.known import (
    DEFAULT_ROWS,
    ChangeStatistics,
    ColumnStatistics,
    Statistics,
    TableStatistics,
)
from slacktide.optimizer.estimation.origins import origin
from slacktide.optimizer.estimation.sizes import Sizes
from slacktide.optimizer.maintainability import Maintainability
from slacktide.optimizer.memo.versions import Tables
from tests.harness.plans import Case, cases

pytestmark = pytest.mark.unit
LINES = from_text("scan lines [l_order#1:INT!, l_price#2:INT!, l_day#3:INT]")
ORDERS = from_text("scan orders [o_key#4:INT!, o_city#5:STRING!]")
TABLES = Tables(("lines", "orders"))
KNOWN = Statistics(
    {
        "lines": TableStatistics(
            4000,
            {
                "l_order": ColumnStatistics(distinct=1000, width=4),
                "l_price": ColumnStatistics(distinct=100, width=4, least=0, greatest=100),
                "l_day": ColumnStatistics(distinct=10, null_share=0.5, least=0, greatest=10),
            },
        ),
        "orders": TableStatistics(
            1000,
            {"o_key": ColumnStatistics(distinct=1000), "o_city": ColumnStatistics(distinct=20)},
        ),
    },
    {("lines", 2): ChangeStatistics(40, 20), ("orders", 2): ChangeStatistics(10, 0)},
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
AGAIN = r.Scan("orders", (s.Column(9, "o_key", "INT", nullable=False),))
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
    "groups": (r.Aggregate(ORDERS, (s.identity(ORDERS.columns[1]),), ()), 20),
    "one group": (r.Aggregate(ORDERS, (), ()), 1),
    "the first": (r.Limit(LINES, 10), 10),
    "all of two": (r.Union((LINES, LINES), LINES.columns), 8000),
}
CHANGED = {
    "a source": (LINES, 60),
    "a filter": (r.Filter(LINES, call("<", PRICE, number(25))), 15),
    "a join": (r.Join(LINES, ORDERS, "inner", SAME), 60 * 1010 / 1010 + 10 * 4020 / 1010),
    "groups, before and after": (r.Aggregate(ORDERS, (s.identity(ORDERS.columns[1]),), ()), 20),
    "one group": (r.Aggregate(LINES, (), ()), 2),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_where_all_is_known(name: str) -> None:
    rel, expected = ROWS[name]
    size = Sizes(KNOWN, TABLES).snapshot(rel, FIRST)
    assert size.rows == pytest.approx(expected)
    assert size.is_known


@pytest.mark.parametrize("name", CHANGED)
def test_changes_where_all_is_known(name: str) -> None:
    rel, expected = CHANGED[name]
    size = Sizes(KNOWN, TABLES).change(rel, FIRST, SECOND)
    assert size.rows == pytest.approx(expected, rel=0.02)
    assert size.is_known


def test_rows_follow_the_changes() -> None:
    assert Sizes(KNOWN, TABLES).snapshot(LINES, SECOND).rows == 4020
    assert Sizes(KNOWN, TABLES).change(LINES, (1, 1), (1, 2)).rows == 0


def test_bytes_of_a_row() -> None:
    assert Sizes(KNOWN, TABLES).snapshot(LINES, FIRST).width == 4 + 4 + 16


@pytest.mark.parametrize(
    "rel",
    [
        r.Filter(LINES, call("like", PRICE, number(1))),
        r.Aggregate(
            LINES,
            (s.Assignment(s.Column(50, "k", "INT", nullable=True), call("+", PRICE, DAY)),),
            (),
        ),
        r.Scan("others", (s.Column(60, "x", "INT", nullable=True),)),
    ],
    ids=["a function", "a computed key", "another source"],
)
def test_what_is_a_guess_says_so(rel: Rel) -> None:
    assert not Sizes(KNOWN, TABLES).snapshot(rel, FIRST).is_known


def test_a_source_of_which_nothing_is_known() -> None:
    size = Sizes(Statistics(), TABLES).snapshot(LINES, FIRST)
    assert size.rows == DEFAULT_ROWS
    assert not size.is_known


def test_a_column_comes_from_a_source_or_is_computed() -> None:
    renamed = r.Project(
        r.Join(LINES, ORDERS, "left", SAME),
        (
            s.Assignment(s.Column(30, "city", "STRING", True), ref(ORDERS, "o_city")),
            s.Assignment(s.Column(31, "sum", "INT", True), call("+", PRICE, DAY)),
        ),
    )
    assert origin(renamed, 30) == (ORDERS, "o_city")
    assert origin(renamed, 31) is None


@hypothesis.settings(
    max_examples=30, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
@hypothesis.given(case=cases(batches=2))
def test_no_relation_is_smaller_than_nothing(case: Case) -> None:
    root = Maintainability(case.relation).root
    tables = Tables(sources(root))
    first, second = ((n,) * len(tables.names) for n in (1, 2))
    for statistics in (Statistics(), KNOWN):
        sizes = Sizes(statistics, tables)
        for rel in relations(root):
            assert sizes.snapshot(rel, first).rows >= 0
            assert sizes.change(rel, first, second).rows >= 0
            assert sizes.snapshot(rel, second).width > 0

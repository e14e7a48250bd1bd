"""How many rows relations and operators are taken to have: by hand, and what must hold of any."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.widths import width
from slacktide.common.tree import of_type
from slacktide.optimizer.costs.operators import query_work
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import maintain, rebuild
from slacktide.optimizer.statistics import (
    Cardinality,
    ChangeFacts,
    ColumnFacts,
    Figure,
    Sizes,
    SourceFacts,
    Statistics,
    StoredFacts,
    selectivity,
    with_columns,
)
from slacktide.optimizer.statistics.estimate import MOST_PAIRS
from slacktide.optimizer.statistics.widths import packed
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Program
from tests.unit.optimizer.views import (
    BOOLEAN,
    EXPANDED,
    FILTERED,
    GENERATED,
    JOINED,
    LINES,
    ORDERS,
    PARTITIONED,
    PROJECTED,
    SUMMED,
    TOP,
    UNITED,
    column,
)

KEY = {"c1": ColumnFacts(Figure(1000, "declared"), 0.0, 1000.0, Figure(0.0, "declared"))}
KNOWN = Statistics(
    {
        "orders": SourceFacts(rows=Figure(1000, "observed"), columns=KEY),
        "lines": SourceFacts(rows=Figure(4000, "observed")),
    }
)
SHAPES = (FILTERED, PROJECTED, JOINED, UNITED, SUMMED, TOP, EXPANDED, GENERATED, PARTITIONED)
KINDS = ("inner", "left", "right", "full", "semi", "anti")


def rows(rel: r.Rel, known: Statistics = KNOWN) -> Figure:
    return Cardinality(known).of(rel).rows


def both(one: s.Scalar, other: s.Scalar) -> s.Call:
    return s.Call("and", (one, other), BOOLEAN, nullable=True)


def compared(function: str, bound: str, data_type: str = "INT") -> s.Call:
    return s.Call(
        function, (s.reference(column(1)), s.Literal(bound, data_type, False)), BOOLEAN, True
    )


def test_a_join_along_a_key_has_the_rows_of_the_other_side() -> None:
    assert rows(JOINED).value == pytest.approx(4000)


def test_what_runs_have_counted_is_not_estimated() -> None:
    assert rows(SUMMED).origin == "default"
    counted = replace(KNOWN, observed={SUMMED.digest: 17.0})
    assert rows(SUMMED, counted) == Figure(17.0, "observed")
    assert rows(TOP, counted).value == 10


def test_nothing_known_is_a_default() -> None:
    assert rows(ORDERS, Statistics()).origin == "default"


@pytest.mark.parametrize(
    ("predicate", "share"),
    [
        (compared("=", "5"), 0.001),
        (compared("<", "250"), 0.25),
        (compared(">", "250"), 0.75),
        (
            s.Call(
                "in",
                (s.reference(column(1)), *[s.Literal(n, "INT", False) for n in "123"]),
                BOOLEAN,
                True,
            ),
            0.003,
        ),
        (s.Call("not", (compared("=", "5"),), BOOLEAN, True), 0.999),
        (s.Call("or", (compared("<", "250"), compared(">", "750")), BOOLEAN, True), 1 - 0.75**2),
        (compared("<", "DATE '2020-01-01'", "DATE"), 1.0),
        (both(compared(">=", "250"), compared("<", "300")), 0.05),
        (both(both(compared(">=", "250"), compared(">", "100")), compared("<", "300")), 0.05),
        (both(compared(">=", "250"), compared(">", "500")), 0.5),
        (both(compared(">", "750"), compared("<", "250")), 0.001),
        (both(compared(">", "1000"), compared("<=", "2000")), 0.0),
    ],
    ids=str,
)
def test_shares_of_predicates(predicate: s.Scalar, share: float) -> None:
    found = selectivity(predicate, {1: KEY["c1"]}.__getitem__)
    assert found.value == pytest.approx(share)
    assert found.origin == "declared"


@pytest.mark.parametrize(("low", "high", "share"), [("250", "750", 0.35), ("400", "420", 0.014)])
def test_nulls_lie_between_no_bounds(low: str, high: str, share: float) -> None:
    facts = replace(KEY["c1"], nulls=Figure(0.3, "declared"))
    between = both(compared(">=", low), compared("<", high))
    assert selectivity(between, {1: facts}.__getitem__).value == pytest.approx(share)


@pytest.mark.parametrize("kind", KINDS)
def test_outer_joins_lose_no_row_and_semi_joins_gain_none(kind: str) -> None:
    found = rows(r.Join(ORDERS, LINES, kind, JOINED.condition)).value  # type: ignore[arg-type]
    least = {"left": 1000, "right": 4000, "full": 4000}.get(kind, 0)
    most = {"semi": 1000, "anti": 1000}.get(kind, 4000)
    assert least <= found <= most


def test_a_pair_that_null_leaves_open_counts_as_one_that_is_equal() -> None:
    equal = JOINED.condition
    assert equal is not None
    open_pair = s.Call("isnull", (equal,), BOOLEAN, nullable=False)
    not_in = s.Call("or", (equal, open_pair), BOOLEAN, nullable=True)
    plain, aware = (r.Join(LINES, ORDERS, "anti", condition) for condition in (equal, not_in))
    assert rows(aware) == rows(plain)


def test_many_joins_without_keys_are_a_number_of_rows() -> None:
    rel: r.Rel = ORDERS
    for number in range(1, 120):
        columns = tuple(replace(c, id=c.id + 1000 * number) for c in ORDERS.columns)
        rel = r.Join(rel, r.Scan("orders", columns), "inner", None)
    known = Statistics({"orders": SourceFacts(Figure(1e7))})
    estimates = Cardinality(known)
    assert estimates.of(rel).rows.value == MOST_PAIRS
    assert query_work(rel, estimates, known).to_dict()["rows_shuffled"] > MOST_PAIRS


def planned(rel: r.Rel, known: Statistics = KNOWN) -> float:
    return Cardinality(known).of(rel).planned_bytes


def test_spark_expects_all_bytes_of_a_table_whatever_is_filtered() -> None:
    assert planned(FILTERED) == planned(FILTERED.child) == packed(Figure(1000), ORDERS.columns)
    assert planned(PROJECTED) < planned(PROJECTED.child)
    assert planned(JOINED) == planned(JOINED.left) * planned(JOINED.right)
    semi = r.Join(ORDERS, LINES, "semi", JOINED.condition)
    assert planned(semi) == planned(ORDERS)
    assert planned(UNITED) == sum(map(planned, UNITED.children))
    assert planned(TOP) < 1000 < planned(TOP.child)


def test_it_expects_one_row_of_a_grouping_without_keys_and_no_side_to_be_nothing() -> None:
    assert isinstance(SUMMED, r.Aggregate)
    total = replace(SUMMED, keys=())
    assert planned(total) == width(total.columns)
    nothing = r.Values(LINES.columns, ())
    assert planned(r.Join(ORDERS, nothing, "inner", None)) == planned(ORDERS)


@pytest.mark.parametrize("whole", [0.0, 20.0, 80.0])
def test_it_expects_of_few_columns_their_share_of_the_files(whole: float) -> None:
    orders = replace(KNOWN.sources["orders"], bytes=5000.0, width=whole)
    found = planned(ORDERS, Statistics({"orders": orders}))
    of = width(ORDERS.columns)
    expected = packed(Figure(1000), ORDERS.columns) if not whole else 5000.0 * min(of / whole, 1.0)
    assert found == pytest.approx(expected)


def sized(program: Program, changed: float) -> dict[Operator, float]:
    sources = {
        name: replace(facts, changes=(ChangeFacts(Figure(changed * facts.rows.value)),))
        for name, facts in KNOWN.sources.items()
    }
    found = Sizes(program, replace(KNOWN, sources=sources))
    return {one: found.of(one).rows.value for one in of_type(program, Operator)}


@pytest.mark.parametrize("rel", SHAPES, ids=lambda rel: rel.tag)
@given(shares=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_more_changes_are_no_fewer_rows_anywhere(rel: r.Rel, shares: tuple[float, float]) -> None:
    analysis = Maintainability(rel)
    program = maintain("v", analysis, frozenset({"orders", "lines"})).program
    less, more = (sized(program, share) for share in sorted(shares))
    assert all(0 <= less[one] <= more[one] * (1 + 1e-9) + 1e-9 for one in less)


def test_a_change_meets_as_many_rows_as_its_share() -> None:
    program = maintain("v", Maintainability(JOINED), frozenset({"orders"})).program
    assert sized(program, 0.01)[program.steps[-1].child] == pytest.approx(40)


def test_what_is_stored_has_the_rows_that_the_log_counts() -> None:
    analysis = Maintainability(SUMMED)
    program = maintain("v", analysis, frozenset({"orders"})).program
    chain = next(iter(rebuild("v", analysis).steps)).chain  # type: ignore[union-attr]
    stored = {chain: StoredFacts(123.0, 1000.0)}
    found = Sizes(program, replace(KNOWN, stored=stored))
    reads = [one for one in of_type(program, Operator) if one.tag == "read_state"]
    assert [found.of(one).rows for one in reads] == [Figure(123.0, "observed")]


def test_what_is_known_of_columns_is_known_of_them_where_they_are_stored() -> None:
    stored = o.ReadBag("states/orders", ORDERS.columns)
    lines = o.ReadSnapshot("lines", LINES.columns, "after")
    joined = o.JoinBags(stored, lines, JOINED.condition)
    program = o.Program((o.Publish("v", joined, is_base=True),))
    some = replace(KNOWN, stored={"states/orders": StoredFacts(500.0, 1000.0)})
    told = Sizes(program, with_columns(some, JOINED)).of(joined).rows
    assert told == Figure(2000.0, "declared"), "half of the orders meet half of the lines"
    assert Sizes(program, some).of(joined).rows.origin == "default"

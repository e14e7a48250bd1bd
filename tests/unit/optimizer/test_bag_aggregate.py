"""Aggregates over a bag add multiplicities up, and give what counting its rows out gives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.optimizer.rule_parts.bag_aggregate import aggregate_by_multiplicity
from slacktide.program import operator as o
from slacktide.program.operator import Operator
from slacktide.program.reference.bags import Bag
from slacktide.program.reference.programs import run_program
from tests.unit.program.reference.test_operators import FixedWorld

KEY = s.Column(1, "k", "INT", nullable=True)
VALUE = s.Column(2, "v", "INT", nullable=True)
BAG = o.Add((o.ReadBag("states/a", (KEY, VALUE)), o.ReadChanges("t", (KEY, VALUE))), (KEY, VALUE))
ROWS = o.ReadSnapshot("t", (KEY, VALUE), "after")


def call(function: str, result: str, *, distinct: bool = False) -> s.Measure:
    made = s.AggregateCall(function, (s.reference(VALUE),), distinct, None, result, nullable=True)
    return s.Measure(s.Column(9, "m", result, nullable=True), made)


COUNT, SUM, LEAST = call("count", "BIGINT"), call("sum", "BIGINT"), call("min", "INT")
ALL = s.Measure(
    s.Column(8, "n", "BIGINT", nullable=False),
    s.AggregateCall("count", (), False, None, "BIGINT", nullable=False),
)


def evaluated(*measures: s.Measure, keys: int = 1, over: Operator = BAG) -> o.Evaluate:
    grouped = (s.Assignment(s.Column(7, "g", "INT", True), s.reference(KEY)),)[:keys]
    query = r.Aggregate(r.Scan("input0", (KEY, VALUE)), grouped, measures)
    return o.Evaluate(query, (o.Input("input0", over),))


def rows_of(operator: Operator, stored: Bag, changes: Bag) -> Counter[tuple[Any, ...]]:
    step = o.Publish("v", operator, is_base=True)
    world = FixedWorld({"states/a": stored, "t": changes})
    found: Counter[tuple[Any, ...]] = Counter()
    for row, multiplicity in run_program(o.Program((step,)), world).published["v"].data:
        found[row] += multiplicity
    return found


@pytest.mark.parametrize(
    ("measures", "keys"),
    [((), 1), ((COUNT,), 0), ((COUNT,), 1), ((SUM, ALL), 0), ((SUM, ALL), 1), ((ALL,), 0)],
)
@given(data=st.data())
def test_gives_what_counting_out_gives(
    measures: tuple[s.Measure, ...], keys: int, data: st.DataObject
) -> None:
    small = st.none() | st.integers(-2, 2)
    bag = st.dictionaries(st.tuples(small, small), st.integers(1, 3), max_size=6)
    stored, came = data.draw(bag), data.draw(bag)
    gone = {row: data.draw(st.integers(0, stored[row])) for row in stored}
    changes = [*came.items(), *((row, -n) for row, n in gone.items() if n)]
    operator = evaluated(*measures, keys=keys)
    weighted = aggregate_by_multiplicity(operator)
    assert isinstance(weighted, o.Finish)
    assert weighted.columns == operator.columns
    assert rows_of(weighted, [*stored.items()], changes) == rows_of(
        operator, [*stored.items()], changes
    )


@pytest.mark.parametrize(
    "operator",
    [
        pytest.param(evaluated(LEAST), id="the least value"),
        pytest.param(evaluated(call("count", "BIGINT", distinct=True)), id="of distinct values"),
        pytest.param(evaluated(SUM, over=ROWS), id="rows that are plain"),
        pytest.param(BAG, id="no aggregate"),
        pytest.param(replace(evaluated(), query=r.Scan("input0", (KEY, VALUE))), id="a scan"),
    ],
)
def test_stays_as_it_is(operator: Operator) -> None:
    assert aggregate_by_multiplicity(operator) is None

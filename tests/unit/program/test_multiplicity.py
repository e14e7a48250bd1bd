"""How snapshots are read."""

from __future__ import annotations

import pytest

from slacktide.algebra.relation import Aggregate, Scan
from slacktide.algebra.scalar import AggregateCall, Call, Column, Measure, reference
from slacktide.program import operator as o
from slacktide.program.multiplicity import adds_up, ignores_copies, operators_planned
from slacktide.program.operator import Operator

X, Y = Column(1, "x", "INT", True), Column(2, "y", "INT", True)
T, U = o.ReadSnapshot("t", (X,), "after"), o.ReadSnapshot("u", (Y,), "after")
MEET = Call("=", (reference(X), reference(Y)), "BOOLEAN", nullable=True)
COUNTED = o.Summarise(T, (), (o.Partial(Column(9, "n", "BIGINT", False), "count", None, None),))
SCANNED = Scan("input0", o.by_id((X,)))


def evaluated(operator: Operator) -> o.Evaluate:
    return o.Evaluate(SCANNED, (o.Input("input0", operator),))


@pytest.mark.parametrize(
    "operator",
    [
        T,
        COUNTED,
        o.Consolidate(T),
        o.JoinBags(T, U, MEET),
        o.SemiBags(T, U, MEET, False),
        o.SemiBags(T, T, None, False),
        o.SemiBags(o.ReadBag("states/x", (X,)), o.Consolidate(U), MEET, False),
        evaluated(o.Consolidate(T)),
        evaluated(evaluated(o.Consolidate(T))),
    ],
)
def test_multiplicities_of_a_snapshot_are_added_up(operator: Operator) -> None:
    assert adds_up(operator)


@pytest.mark.parametrize(
    "operator",
    [
        evaluated(T),
        evaluated(o.Select(o.JoinBags(T, U, MEET), MEET)),
        o.SemiBags(o.ReadBag("states/x", (X,)), U, MEET, False),
        o.Summarise(evaluated(T), (), COUNTED.partials),
        o.ReadBag("states/x", (X,)),
        o.ReadChanges("t", (X,)),
    ],
)
def test_rows_of_a_snapshot_are_asked_for(operator: Operator) -> None:
    assert not adds_up(operator)


def test_an_operator_is_planned_as_often_as_it_is_read() -> None:
    twice = o.Add((o.Consolidate(T), o.Consolidate(T)), (X,))
    assert operators_planned(o.Program((o.Publish("v", twice, is_base=True),))) == 5


def aggregated(*functions: str, distinct: bool = False, of: Column = X) -> Aggregate:
    calls = (
        AggregateCall(one, (reference(of),), distinct, None, "INT", nullable=True)
        for one in functions
    )
    named = (Measure(Column(20 + n, "m", "INT", True), call) for n, call in enumerate(calls))
    return Aggregate(SCANNED, (), tuple(named))


def test_aggregates_of_values_ignore_copies() -> None:
    assert ignores_copies(aggregated("max", "min_by"))
    assert ignores_copies(aggregated("count", distinct=True))
    assert ignores_copies(aggregated("collect_set"))
    assert not ignores_copies(aggregated("collect_set", of=Column(3, "z", "DOUBLE", True)))
    assert not ignores_copies(aggregated("sum"))
    assert not ignores_copies(aggregated("max", "collect_list"))
    assert not ignores_copies(SCANNED)

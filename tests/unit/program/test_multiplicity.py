"""How snapshots are read."""

from __future__ import annotations

import pytest

from slacktide.algebra.relation import Scan
from slacktide.algebra.scalar import Call, Column, reference
from slacktide.program import operator as o
from slacktide.program.multiplicity import adds_up, operators_planned
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

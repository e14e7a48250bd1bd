"""Which inputs are read by the keys of a change."""

from __future__ import annotations

import pytest

from slacktide.algebra.scalar import Call, Column, Scalar, reference
from slacktide.program import operator as o
from slacktide.program.bounding import bounds
from slacktide.program.operator import Operator

X, Y, Z = (Column(n, name, "INT", nullable=True) for n, name in enumerate("xyz", 1))
CHANGE = o.ReadChanges("t", (X,))
TABLE = o.ReadSnapshot("u", (Y,), "after")


def equal(left: Column, right: Column) -> Call:
    return Call("=", (reference(left), reference(right)), "BOOLEAN", nullable=True)


def found(operator: Operator) -> list[tuple[int, list[Scalar], list[Operator]]]:
    return [
        (bound.place, [pair.own for pair in bound.pairs], [origin.by for origin in bound.origins])
        for bound in bounds(operator)
    ]


def test_a_table_is_read_by_the_keys_of_the_change_that_it_meets() -> None:
    assert found(o.JoinBags(CHANGE, TABLE, equal(X, Y))) == [(1, [reference(Y)], [CHANGE])]
    assert found(o.JoinBags(TABLE, CHANGE, equal(Y, X))) == [(0, [reference(Y)], [CHANGE])]
    touched = o.Touched(TABLE, CHANGE, (o.Pair(reference(Y), reference(X)),))
    assert found(touched) == [(0, [reference(Y)], [CHANGE])]


def test_a_join_with_itself_is_bounded_in_each_place_by_itself() -> None:
    """What bounds the one place must not bound the other."""
    joined = o.JoinBags(CHANGE, o.ReadSnapshot("u", (Y, Z), "after"), equal(X, Y))
    touched = o.Touched(joined, joined, (o.Pair(reference(Z), reference(X)),))
    assert found(touched) == [(0, [reference(Z)], [CHANGE])]


@pytest.mark.parametrize(
    "operator",
    [
        pytest.param(o.JoinBags(CHANGE, TABLE, None), id="no keys"),
        pytest.param(
            o.JoinBags(TABLE, o.ReadSnapshot("v", (Z,), "after"), equal(Y, Z)), id="large"
        ),
        pytest.param(o.SemiBags(CHANGE, TABLE, equal(X, Y), negated=False), id="semi-join"),
        pytest.param(
            o.JoinBags(
                o.ReadChanges("t", (Column(1, "x", "STRING", nullable=True),)),
                o.ReadSnapshot("u", (Column(2, "y", "STRING", nullable=True),), "after"),
                equal(
                    Column(1, "x", "STRING", nullable=True), Column(2, "y", "STRING", nullable=True)
                ),
            ),
            id="texts have no ranges",
        ),
    ],
)
def test_others_are_read_whole(operator: Operator) -> None:
    assert not found(operator)

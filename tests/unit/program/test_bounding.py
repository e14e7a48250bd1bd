"""Which inputs are read by the keys of a change, and by which columns rows are told apart."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Assignment, Call, Column, Scalar, reference
from slacktide.program import operator as o
from slacktide.program.bounding import bounds
from slacktide.program.operator import Operator
from slacktide.program.uniqueness import meets_once, unique_columns

X, Y, Z = (Column(n, name, "INT", nullable=True) for n, name in enumerate("xyz", 1))
N = Column(9, "n", "BIGINT", nullable=False)
CHANGE = o.ReadChanges("t", (X,))
TABLE = o.ReadSnapshot("u", (Y,), "after")
COUNTED = r.Aggregate(r.Scan("input0", (Y,)), (Assignment(Y, reference(Y)),), ())
GROUPS = o.Evaluate(COUNTED, (o.Input("input0", TABLE),))


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
    other = o.Map(
        joined,
        tuple(
            Assignment(Column(n, "w", "INT", True), reference(of))
            for n, of in ((11, X), (12, Y), (13, Z))
        ),
    )
    met = equal(X, other.columns[1])
    assert [place for place, _, _ in found(o.JoinBags(joined, other, met))] == [0, 1]


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


def test_groups_are_told_apart_by_their_keys() -> None:
    assert unique_columns(GROUPS) == {Y.id}
    renamed = o.Map(GROUPS, (Assignment(Z, reference(Y)),))
    assert unique_columns(renamed) == {Z.id}
    assert unique_columns(o.Select(renamed, equal(Z, Z))) == {Z.id}
    assert unique_columns(o.Map(GROUPS, (Assignment(N, reference(N)),))) is None
    summary = o.Summarise(
        TABLE, (Assignment(Z, reference(Y)),), (o.Partial(N, "count", None, None),)
    )
    for merged in (summary, o.Combine(summary, (Z,))):
        rows = o.Finish(merged, N.id, (Assignment(X, reference(Z)),), is_global=False)
        assert unique_columns(rows) == {X.id}
        hidden = o.Finish(merged, N.id, (Assignment(X, reference(N)),), is_global=False)
        assert unique_columns(hidden) is None
    assert unique_columns(TABLE) is None


def test_a_row_meets_a_group_once() -> None:
    assert meets_once(o.SemiBags(CHANGE, GROUPS, equal(X, Y), negated=False))
    assert not meets_once(o.SemiBags(CHANGE, TABLE, equal(X, Y), negated=False))
    less = Call("<", (reference(X), reference(Y)), "BOOLEAN", nullable=True)
    assert not meets_once(o.SemiBags(CHANGE, GROUPS, less, negated=False))

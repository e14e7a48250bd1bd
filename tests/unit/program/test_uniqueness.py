"""By which columns rows of an operator are told apart."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Assignment, Call, Column, reference
from slacktide.program import operator as o
from slacktide.program.uniqueness import meets_at_most_once, unique_key

X, Y, Z = (Column(n, name, "INT", nullable=True) for n, name in enumerate("xyz", 1))
N = Column(9, "n", "BIGINT", nullable=False)
CHANGE = o.ReadChanges("t", (X,))
TABLE = o.ReadSnapshot("u", (Y,), "after")
COUNTED = r.Aggregate(r.Scan("input0", (Y,)), (Assignment(Y, reference(Y)),), ())
GROUPS = o.Evaluate(COUNTED, (o.Input("input0", TABLE),))


def equal(left: Column, right: Column) -> Call:
    return Call("=", (reference(left), reference(right)), "BOOLEAN", nullable=True)


def test_groups_are_told_apart_by_their_keys() -> None:
    assert unique_key(GROUPS) == frozenset({Y.id})
    renamed = o.Map(GROUPS, (Assignment(Z, reference(Y)),))
    assert unique_key(renamed) == frozenset({Z.id})
    assert unique_key(o.Select(renamed, equal(Z, Z))) == frozenset({Z.id})
    assert unique_key(o.Map(GROUPS, (Assignment(N, reference(N)),))) is None
    summary = o.Summarise(
        TABLE, (Assignment(Z, reference(Y)),), (o.Partial(N, "count", None, None),)
    )
    for merged in (summary, o.Combine(summary, (Z,))):
        rows = o.Finish(merged, N.id, (Assignment(X, reference(Z)),), is_global=False)
        assert unique_key(rows) == frozenset({X.id})
        hidden = o.Finish(merged, N.id, (Assignment(X, reference(N)),), is_global=False)
        assert unique_key(hidden) is None
    assert unique_key(TABLE) is None


def test_a_row_meets_a_group_once() -> None:
    assert meets_at_most_once(o.SemiBags(CHANGE, GROUPS, equal(X, Y), negated=False))
    assert not meets_at_most_once(o.SemiBags(CHANGE, TABLE, equal(X, Y), negated=False))
    less = Call("<", (reference(X), reference(Y)), "BOOLEAN", nullable=True)
    assert not meets_at_most_once(o.SemiBags(CHANGE, GROUPS, less, negated=False))

"""Few rows that a change meets: how far down they leave rows out, and what stands in their way."""

from __future__ import annotations

import pytest

from slacktide.algebra import scalar as s
from slacktide.algebra.scalar import Column
from slacktide.common.tree import of_type
from slacktide.optimizer.rule_parts.reduction import reduced
from slacktide.program import operator as o

KEY, VALUE, COUNT, OUT = (Column(n, f"c{n}", "BIGINT", nullable=True) for n in range(1, 5))
FEW = o.ReadBag("states/few", (Column(9, "k", "BIGINT", nullable=True),))
STATE = o.ReadState("states/s", (KEY, COUNT))
CHANGES = o.ReadChanges("t", (KEY, VALUE))


def pair(column: Column) -> list[o.Pair]:
    return [o.Pair(s.reference(column), s.reference(FEW.columns[0]))]


def held(rows: o.Operator, column: Column) -> o.Touched:
    return o.Touched(rows, FEW, tuple(pair(column)))


def finished(below: o.Operator) -> o.Finish:
    outputs = (s.Assignment(OUT, s.reference(KEY)), s.identity(COUNT))
    return o.Finish(below, COUNT.id, outputs, is_global=False)


def test_groups_that_nobody_asks_for_are_left_out_where_states_are_read() -> None:
    """As in Q17, where the join has parts of one brand and the averages are of all parts."""
    merged = o.Combine(STATE, (KEY,))
    change = o.Consolidate(o.Add((finished(merged), o.Negate(finished(merged))), (OUT, COUNT)))
    found = reduced(change, FEW, pair(OUT))
    assert found == o.Consolidate(
        o.Add(
            (
                finished(o.Combine(held(STATE, KEY), (KEY,))),
                o.Negate(finished(o.Combine(held(STATE, KEY), (KEY,)))),
            ),
            (OUT, COUNT),
        )
    )


def test_what_was_held_against_a_change_is_held_against_both() -> None:
    touched = o.Touched(STATE, CHANGES, (o.Pair(s.reference(KEY), s.reference(KEY)),))
    found = reduced(touched, FEW, pair(KEY))
    assert found == o.Touched(held(STATE, KEY), CHANGES, touched.keys)


def test_expressions_of_columns_are_keys_too() -> None:
    more = s.Call("+", (s.reference(KEY), s.reference(VALUE)), "BIGINT", nullable=True)
    rows = o.Map(CHANGES, (s.Assignment(OUT, more),))
    found = reduced(o.Select(rows, s.Literal("true", "BOOLEAN", nullable=False)), FEW, pair(OUT))
    (touched,) = of_type(found, o.Touched)
    assert touched.child == CHANGES
    assert touched.keys[0].own == more


@pytest.mark.parametrize(
    "rows",
    [
        o.Combine(STATE, ()),
        o.Combine(o.ReadState("states/s", (KEY, COUNT)), (COUNT,)),
        finished(STATE),
        o.Finish(o.Combine(STATE, (KEY,)), COUNT.id, (s.identity(KEY),), is_global=True),
        CHANGES,
        o.JoinBags(CHANGES, o.ReadChanges("u", (VALUE,)), None),
    ],
    ids=["all groups", "groups of other keys", "not merged", "one group", "a read", "a join"],
)
def test_what_brings_several_keys_together_is_worked_out_first(rows: o.Operator) -> None:
    column = rows.columns[0]
    assert reduced(rows, FEW, pair(column)) == held(rows, column)

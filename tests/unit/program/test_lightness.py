"""Which steps are light."""

from __future__ import annotations

import pytest

from slacktide.algebra.scalar import Call, Column, identity, reference
from slacktide.program import operator as o
from slacktide.program.lightness import MOST_BYTES, MOST_READ, is_light
from slacktide.program.operator import Operator

X, Y = Column(1, "x", "INT", True), Column(2, "y", "INT", True)
CHANGES = o.ReadChanges("t", (X,))
STATE = o.ReadBag("states/s", (Y,))


@pytest.mark.parametrize(("rows", "expected"), [(0, True), (MOST_READ, True), (None, False)])
def test_rows_that_are_known_to_be_few(rows: int | None, expected: bool) -> None:
    assert is_light(o.Consolidate(CHANGES), rows, 1000) is expected
    assert not is_light(o.Consolidate(CHANGES), MOST_READ + 1, 1000)
    assert not is_light(o.Consolidate(CHANGES), rows, MOST_BYTES + 1)


@pytest.mark.parametrize(
    "operator",
    [
        o.JoinBags(CHANGES, STATE, None),
        o.JoinBags(
            CHANGES, STATE, Call("<", (reference(X), reference(Y)), "BOOLEAN", nullable=True)
        ),
        o.SemiBags(CHANGES, STATE, None, negated=False),
        o.Flips(CHANGES, STATE, STATE, None),
        o.Touched(CHANGES, STATE, ()),
        o.Consolidate(o.Batch("v", (X,))),
    ],
)
def test_what_may_make_many_rows_of_few_is_not(operator: Operator) -> None:
    assert not is_light(operator, 1, 1)


@pytest.mark.parametrize(
    "data_type", ["STRING COLLATE UTF8_LCASE", "ARRAY<STRING COLLATE UNICODE>"]
)
def test_what_is_collated_is_not(data_type: str) -> None:
    spelling = Column(3, "s", data_type, True)
    assert not is_light(o.Consolidate(o.ReadChanges("t", (X, spelling))), 1, 1)
    value = Call("collate", (reference(X),), data_type, nullable=True)
    condition = Call("=", (value, value), "BOOLEAN", nullable=True)
    assert not is_light(o.Select(CHANGES, condition), 1, 1)


def test_joins_by_keys_are() -> None:
    equal = Call("=", (reference(X), reference(Y)), "BOOLEAN", nullable=True)
    assert is_light(o.JoinBags(CHANGES, STATE, equal), 1, 1)


def test_so_is_one_with_a_row_or_two() -> None:
    count = Column(3, "n", "BIGINT", False)
    combined = o.Combine(o.ReadState("states/n", (count,)), ())
    total = o.Finish(combined, count.id, (identity(count),), is_global=True)
    change = o.Add((total, o.Negate(total)), total.columns)
    more = Call(">", (reference(X), reference(count)), "BOOLEAN", nullable=True)
    assert is_light(o.JoinBags(CHANGES, change, more), 1, 1)
    assert not is_light(o.JoinBags(CHANGES, o.Add((change, CHANGES), (count,)), more), 1, 1)


def test_plans_may_be_deeper_than_the_stack() -> None:
    deep: Operator = CHANGES
    for _ in range(3000):
        deep = o.Negate(deep)
    assert not is_light(o.JoinBags(deep, STATE, None), 10, 1000)
    value: Operator = o.Finish(CHANGES, 0, (identity(X),), is_global=True)
    for _ in range(40):
        value = o.Add((value, o.Negate(value)), value.columns)
    assert is_light(o.JoinBags(value, STATE, None), 10, 1000), "each part is looked at once"


@pytest.mark.parametrize(
    ("partials", "most"), [(1, MOST_READ), (3, MOST_READ), (7, MOST_READ // 5)]
)
def test_rows_of_which_much_is_made_are_soon_many(partials: int, most: int) -> None:
    made = tuple(
        o.Partial(Column(10 + n, "n", "BIGINT", False), "count", None, None)
        for n in range(partials)
    )
    summary = o.Summarise(CHANGES, (), made)
    assert is_light(summary, most, 1000)
    assert not is_light(summary, most + 1, 1000)

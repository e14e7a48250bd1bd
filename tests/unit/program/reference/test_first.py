"""First rows, fences and refills against results worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from slacktide.algebra import scalar as s
from slacktide.errors import InvariantError
from slacktide.program import operator as o
from slacktide.program.reference.bags import Bag
from slacktide.program.reference.first import is_dry
from slacktide.program.reference.programs import run_program
from tests.unit.program.reference.test_operators import FixedWorld

K = s.Column(1, "k", "DOUBLE", nullable=True)
V = s.Column(2, "v", "STRING", nullable=True)
FENCE = s.Column(3, "fence", "BOOLEAN", nullable=False)
STORED = o.ReadBag("states/first", (K, V, FENCE))
CHANGES = o.ReadChanges("t", (K, V))
RISING = (s.SortKey(s.reference(K), ascending=True, nulls_first=False),)
FALLING = (s.SortKey(s.reference(K), ascending=False, nulls_first=True),)


def given(operator: o.Operator, **bags: Bag) -> Bag:
    world = FixedWorld(bags={"states/first": bags.get("stored", []), "t": bags.get("changes", [])})
    saved = run_program(o.Program((o.Save("chain", operator, is_base=True),)), world).saved
    return sorted(saved["chain"].data, key=repr)


def rows(*keys: Any, fence: bool = False) -> Bag:
    return [((key, "a", fence), 1) for key in keys]


def test_where_rows_are_many_the_last_one_is_the_fence() -> None:
    found = given(o.First(STORED, RISING, 2), stored=rows(3.0, 1.0, None, 2.0))
    assert found == sorted([*rows(1.0, 2.0), *rows(2.0, fence=True)], key=repr)


def test_where_they_are_few_none_is_and_a_former_fence_stays() -> None:
    few = rows(3.0, None)
    assert given(o.First(STORED, RISING, 3), stored=few) == few
    former = [*few, *rows(9.0, fence=True)]
    assert given(o.First(STORED, RISING, 3), stored=former) == sorted(former, key=repr)
    found = given(o.First(STORED, RISING, 2), stored=former)
    assert found == sorted([*few, *rows(None, fence=True)], key=repr)


def test_copies_count_and_ties_stay_together() -> None:
    bag: Bag = [((1.0, "a", False), 3), ((0.0, "a", False), 1), ((-0.0, "b", False), 1)]
    found = given(o.First(STORED, RISING, 1), stored=bag)
    assert [row for row in found if not row[0][-1]] == [
        ((-0.0, "b", False), 1),
        ((0.0, "a", False), 1),
    ]
    found = given(o.First(STORED, FALLING, 2), stored=bag)
    assert found == [((1.0, "a", False), 3), ((1.0, "a", True), 1)]


@pytest.mark.parametrize(
    ("order", "fence", "expected"),
    [
        (RISING, 2.0, [1.0, 2.0]),
        (RISING, math.nan, [1.0, 2.0, math.nan]),
        (RISING, None, [1.0, 2.0, math.nan, None]),
        (FALLING, 2.0, [2.0, math.nan, None]),
        (FALLING, None, [None]),
    ],
)
def test_what_comes_after_the_fence_is_dropped(
    order: tuple[s.SortKey, ...], fence: float | None, expected: list[float | None]
) -> None:
    changes: Bag = [((key, "a"), -2) for key in (1.0, 2.0, math.nan, None)]
    fences = o.Select(STORED, s.reference(FENCE))
    stored = [*rows(5.0, 0.0), *rows(fence, fence=True)]
    found = given(o.UpTo(CHANGES, fences, order), stored=stored, changes=changes)
    wanted: Bag = [((key, "a"), -2) for key in expected]
    assert repr(found) == repr(sorted(wanted, key=repr))
    assert len(given(o.UpTo(CHANGES, fences, order), stored=rows(0.0), changes=changes)) == 4


@pytest.mark.parametrize(
    ("bag", "expected"),
    [
        ([], False),
        (rows(1.0), False),
        ([*rows(1.0), *rows(9.0, fence=True)], True),
        (rows(9.0, fence=True), True),
        ([((1.0, "a", False), 2), *rows(9.0, fence=True)], False),
    ],
)
def test_rows_run_dry_before_a_fence_alone(bag: Bag, expected: bool) -> None:
    assert is_dry(bag, 2) is expected


def test_a_chain_that_ran_dry_is_written_once_more() -> None:
    read = o.Map(CHANGES, (*map(s.identity, (K, V)), s.Assignment(FENCE, FALSE)))
    steps = (
        o.Save("chain", STORED, is_base=True),
        o.Refill("chain", o.First(read, RISING, 4), 2),
    )
    changes: Bag = [((7.0, "a"), 1), ((8.0, "a"), 1)]
    for stored, expected in (
        ([*rows(1.0), *rows(9.0, fence=True)], rows(7.0, 8.0)),
        (rows(1.0), rows(1.0)),
    ):
        world = FixedWorld(bags={"states/first": stored, "t": changes})
        saved = run_program(o.Program(steps), world).saved["chain"]
        assert saved.data == expected
        assert saved.is_base


FALSE = s.Literal("false", "BOOLEAN", nullable=False)


def test_refuses_what_has_no_fence_or_no_order() -> None:
    with pytest.raises(InvariantError, match="marks fences"):
        o.First(CHANGES, RISING, 2)
    with pytest.raises(InvariantError, match="which rows are first"):
        o.First(STORED, (), 2)
    with pytest.raises(InvariantError, match="which rows are first"):
        o.First(STORED, RISING, 0)

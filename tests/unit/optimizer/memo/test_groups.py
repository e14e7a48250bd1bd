"""Groups and time-varying relations: known once, merged by congruence, whole after anything."""

from __future__ import annotations

import random

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.errors import InvariantError
from slacktide.optimizer.memo.groups import Groups
from slacktide.optimizer.memo.hole import SnapshotAt
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.trait import SetDelta, SetSnap, Tie
from slacktide.optimizer.memo.versions import Tables
from slacktide.program import operator as o
from tests.unit.optimizer.views import ORDERS, column, equal

pytestmark = pytest.mark.unit
COLUMNS = ORDERS.columns
FILTERED = r.Filter(ORDERS, equal(1, 2))
TWICE = r.Filter(FILTERED, equal(1, 2))


def leaf(number: int) -> SnapshotAt:
    return SnapshotAt("orders", COLUMNS, number)


def groups() -> Groups:
    return Groups(lambda _kept, _gone: None)


def test_one_expression_is_known_once() -> None:
    known = groups()
    first = known.intern(o.Negate(leaf(1)))
    assert known.intern(o.Negate(leaf(1))) == first
    assert known.size() == 2
    assert len(known) == 2


def test_readers_of_merged_groups_are_merged() -> None:
    known = groups()
    one, other = known.intern(leaf(1)), known.intern(leaf(2))
    over_one = known.intern(o.Negate(o.Consolidate(known.hole(one))))
    over_other = known.intern(o.Negate(o.Consolidate(known.hole(other))))
    known.merge(one, other)
    assert known.find(over_one) == known.find(over_other)
    assert {flat.tag for flat in known.expressions(one)} == {"snapshot_at"}
    assert len(known.expressions(one)) == 2
    known.check()


def test_what_reads_its_own_group_is_left_out() -> None:
    known = groups()
    rows = known.intern(leaf(1))
    known.intern(o.Consolidate(known.hole(rows)), rows)
    assert [flat.tag for flat in known.expressions(rows)] == ["snapshot_at"]
    once = known.intern(o.Consolidate(known.hole(rows)))
    known.merge(rows, once)
    assert [flat.tag for flat in known.expressions(rows)] == ["snapshot_at"]
    known.check()


def test_refuses_other_columns() -> None:
    known = groups()
    rows = known.intern(leaf(1))
    other = known.intern(SnapshotAt("lines", (column(7),), 1))
    with pytest.raises(InvariantError, match="gives"):
        known.merge(rows, other)


@pytest.mark.parametrize("seed", range(4))
def test_stays_whole_over_random_registrations(seed: int) -> None:
    """2,500 registrations and merges for each seed, 10,000 in all; the parts never contradict each other."""
    source = random.Random(seed)  # noqa: S311
    known = groups()
    numbers = [known.intern(leaf(number)) for number in range(4)]
    for turn in range(2_500):
        one, other = source.choice(numbers), source.choice(numbers)
        match source.randrange(8):
            case 0:
                numbers.append(known.intern(leaf(source.randrange(10_000))))
            case 1 | 2:
                numbers.append(known.intern(o.Negate(known.hole(one))))
            case 3 | 4:
                both = (known.hole(one), known.hole(other))
                numbers.append(known.intern(o.Add(both, COLUMNS)))
            case 5 | 6:
                rows = o.Consolidate(o.Negate(known.hole(one)))
                numbers.append(known.intern(rows, other if source.random() < 0.05 else None))
            case _ if source.random() < 0.1:
                known.merge(one, other)
        numbers = numbers[-200:]
        if turn % 25 == 0:
            known.check()
    known.check()


def memo() -> Memo:
    return Memo(Tables(("orders",)))


def test_one_relation_is_one_tvr() -> None:
    known = memo()
    assert known.tvr(FILTERED) == known.tvr(FILTERED)
    assert len(known.tvrs()) == 2


def test_equal_relations_are_one_tvr_and_so_is_what_reads_them() -> None:
    known = memo()
    outer = r.Filter(TWICE, equal(1, 2))
    one, other = known.tvr(TWICE), known.tvr(FILTERED)
    above, below = known.tvr(outer), known.tvr(TWICE)
    known.equate(one, FILTERED)
    assert known.find(one) == known.find(other) == known.tvr(TWICE)
    assert known.find(above) == known.find(below), "a filter over equal inputs is one relation"
    known.check()


def test_a_trait_of_merged_tvrs_is_one_group() -> None:
    known = memo()
    one, other = known.tvr(FILTERED), known.tvr(TWICE)
    snaps = [known.ask(tvr, SetSnap((1,)), COLUMNS).group for tvr in (one, other)]
    change = known.ask(other, SetDelta((1,), (2,)), COLUMNS).group
    known.equate(one, TWICE)
    assert known.groups.find(snaps[0]) == known.groups.find(snaps[1])
    assert known.links(one)[SetDelta((1,), (2,))] == known.groups.find(change)
    known.check()


class Likeness(Tie):
    """A tie of a test."""


def test_a_tie_that_leads_to_two_makes_them_one() -> None:
    known = memo()
    start, one, other = known.tvr(ORDERS), known.tvr(FILTERED), known.tvr(TWICE)
    known.tie(start, Likeness(), one)
    known.tie(start, Likeness(), other)
    assert known.find(one) == known.find(other)
    known.check()


def test_refuses_to_equate_other_columns() -> None:
    known = memo()
    narrow = r.Project(ORDERS, (s.identity(column(1)),))
    with pytest.raises(InvariantError, match="columns"):
        known.equate(known.tvr(ORDERS), narrow)


def test_a_version_speaks_of_the_tables_that_are_read() -> None:
    known = Memo(Tables(("lines", "orders")))
    hole = known.ask(known.tvr(ORDERS), SetSnap((7, 2)), COLUMNS)
    assert known.ask(known.tvr(ORDERS), SetSnap((1, 2)), COLUMNS) == hole

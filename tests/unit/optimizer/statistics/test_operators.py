"""How many rows operators are expected to give that combine what is stored with what has changed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from slacktide.algebra import scalar as s
from slacktide.optimizer.statistics import ColumnFacts, Figure, Statistics
from slacktide.optimizer.statistics.estimate import Estimate
from slacktide.optimizer.statistics.operators import operator_estimate
from slacktide.program import operator as o
from slacktide.program.operator import Operator

pytestmark = pytest.mark.unit
KEY, COUNT = s.Column(1, "k", "INT", nullable=True), s.Column(2, "n", "BIGINT", nullable=False)
STORED = o.ReadState("states/s", (KEY, COUNT))
CHANGED = o.ReadSaved("states/s", (KEY, COUNT), is_bag=False)
PAIR = o.Pair(s.reference(KEY), s.reference(KEY))
TOUCHED = o.Touched(STORED, CHANGED, (PAIR,))


def combined(child: Operator, keys: tuple[s.Column, ...] = (KEY,), **rows: float) -> float:
    """The groups of partial aggregates, where operators of these names give so many rows."""
    given: Mapping[str, float] = {"read_state": 3_000.0, "read_saved": 20.0, "touched": 60.0} | rows
    known = {KEY.id: ColumnFacts(Figure(1_000.0, "observed"))}

    def below(operator: Operator) -> Estimate:
        number = sum(given[one.tag] for one in getattr(operator, "children", (operator,)))
        return Estimate(Figure(number, "observed"), known, 1.0)

    return operator_estimate(o.Combine(child, keys), below, Statistics({})).rows.value


def test_a_group_that_is_touched_is_one_however_many_pieces_hold_it() -> None:
    both = o.Add((TOUCHED, CHANGED), (KEY, COUNT))
    assert combined(TOUCHED) == combined(both) == 20.0
    assert combined(both, touched=5.0) == 20.0
    assert combined(both, read_saved=900.0) == 900.0


def test_there_are_no_more_groups_than_keys() -> None:
    assert combined(STORED) == 1_000.0
    assert combined(STORED, read_state=900.0) == 900.0
    assert combined(STORED, keys=()) == 1.0


def test_a_group_of_more_columns_than_are_touched_is_not_told_by_these() -> None:
    assert combined(TOUCHED, keys=(KEY, COUNT)) == 60.0

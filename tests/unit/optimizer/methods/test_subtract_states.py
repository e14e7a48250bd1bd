"""I-6: subtract_states gives the change of a state as the difference of two."""

from __future__ import annotations

import pytest

from slacktide.optimizer.expand import Problem, Switches, expand
from slacktide.optimizer.memo.trait import ValDelta
from slacktide.program import operator as o
from tests.harness.planner.groups import Filled, merged
from tests.harness.planner.summary import BATCHES, RETURNS, SALES, SUMMARY, TABLES

pytestmark = pytest.mark.unit
PROBLEM = Problem(SUMMARY, TABLES, 2)


def test_a_change_of_a_state_is_a_difference() -> None:
    """265 − 280 = −15, and 500 − 150 = 350; with the rows of each group."""
    space = expand(PROBLEM, switches=Switches(is_pruned=False))
    filled = Filled(space, TABLES, (SALES, RETURNS), BATCHES)
    assert filled.differing() == []
    memo = space.memo
    delta = memo.links(memo.tvr(SUMMARY))[ValDelta(SUMMARY.digest, (1, 1), (2, 2))]
    ways = [flat for flat in memo.groups.expressions(delta) if isinstance(flat, o.Add)]
    assert ways
    for flat in ways:
        sums = merged(filled.run(flat), memo.groups.hole(delta))
        assert sorted((values[0], values[-1]) for values in sums.values()) == [(1, -15), (2, 350)]


def test_pruning_subtracts_states_only_where_there_is_no_other_way() -> None:
    pruned, free = (
        expand(PROBLEM, methods=frozenset({"derive"}), switches=Switches(is_pruned=is_pruned)).trace
        for is_pruned in (True, False)
    )
    assert pruned.fired["subtract_states"] == 0
    assert pruned.skipped["subtract_states"] > 0
    assert free.fired["subtract_states"] > 0

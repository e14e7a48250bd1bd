"""Translational symmetry: a copied memo is the one that matching every instant gives."""

from __future__ import annotations

import random

import pytest

from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.optimizer.expand import Problem, Switches, expand
from tests.harness.planner.isomorphism import text_of
from tests.harness.planner.keyed import random_tree
from tests.harness.planner.summary import SUMMARY

pytestmark = pytest.mark.unit
CHAIN = from_text(
    """
aggregate key=[g#20 := #2] [s#21:BIGINT := sum(#8)]
  join inner on (#6 = #7)
    join inner on (#3 = #5)
      scan a [a1#1:INT, g#2:INT, b#3:INT]
      scan b [x#4:INT, b1#5:INT, c#6:INT]
    scan c [c1#7:INT, v#8:INT]
"""
)
UNEQUAL = from_text(
    """
join full on ((#1 = #4) and (#3 < #5))
  scan sales [o_id#1:INT!, cat#2:STRING!, price#3:INT!]
  scan returns [o_id#4:INT!, cost#5:INT!]
"""
)


def problem(relation: Rel, instants: int) -> Problem:
    tables = sources(relation)
    keys = dict.fromkeys(tables, ("k",))
    return Problem(relation, tables, instants, append_only=frozenset(tables), keys=keys)


@pytest.mark.parametrize("instants", [3, 4, 5, 6])
@pytest.mark.parametrize("relation", [SUMMARY, CHAIN, UNEQUAL], ids=["summary", "chain", "theta"])
def test_is_the_memo_that_matching_every_instant_gives(relation: Rel, instants: int) -> None:
    copied = expand(problem(relation, instants))
    matched = expand(problem(relation, instants), switches=Switches(is_translated=False))
    copied.memo.check()
    matched.memo.check()
    assert copied.trace.is_whole
    assert matched.trace.is_whole
    assert text_of(copied.memo) == text_of(matched.memo)


@pytest.mark.parametrize("seed", range(6))
def test_is_the_same_memo_for_trees_of_outer_joins(seed: int) -> None:
    relation, _ = random_tree(random.Random(seed), 3)  # noqa: S311
    copied = expand(problem(relation, 4))
    matched = expand(problem(relation, 4), switches=Switches(is_translated=False))
    assert text_of(copied.memo) == text_of(matched.memo)


def test_fires_as_many_rules_for_nine_instants_as_for_two() -> None:
    few = expand(problem(SUMMARY, 2))
    many = expand(problem(SUMMARY, 9))
    assert many.trace.fired == few.trace.fired
    assert many.trace.matched == few.trace.matched
    without = expand(problem(SUMMARY, 9), switches=Switches(is_translated=False))
    assert without.trace.fired.total() > 3 * many.trace.fired.total()


def test_one_instant_needs_no_sample() -> None:
    alone = expand(problem(SUMMARY, 1))
    assert len(alone.answers) == 1
    assert "derive_change" not in alone.trace.fired

"""The programs that go by whole snapshots."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.common.tree import of_type
from slacktide.errors import InvariantError
from slacktide.optimizer.costs.evidence import COUNTING, MERGING
from slacktide.optimizer.derivation import batch, evaluate, maintain, rebuild
from slacktide.optimizer.full import anew, merging, unstored, without_states
from slacktide.optimizer.maintainability import Maintainability
from slacktide.program import operator as o
from tests.unit.optimizer.views import FILTERED, JOINED, RANKED, SUMMED, TOP, view

STATEFUL = [SUMMED, RANKED, TOP]


@pytest.mark.parametrize("rel", STATEFUL)
def test_what_is_not_stored_is_computed_where_it_is_read(rel: r.Rel) -> None:
    built = rebuild("v", Maintainability(rel))
    alone = unstored(built)
    assert any(True for _ in of_type(built, o.Save))
    assert not any(True for _ in of_type(alone, (o.Save, o.ReadSaved)))
    assert [type(step) for step in alone.steps] == [o.Publish]
    assert alone.steps[0].child.columns == built.steps[-1].child.columns


@pytest.mark.parametrize("rel", [FILTERED, JOINED])
def test_a_view_without_states_is_its_text(rel: r.Rel) -> None:
    analysis = Maintainability(rel)
    text = without_states("v", view(rel), analysis, merges=False)
    assert without_states("v", view(rel), analysis, merges=True) == text
    assert anew("v", view(rel), analysis) == text
    assert isinstance(text.steps[0].child, o.Batch)


def test_a_program_that_extends_states_needs_them() -> None:
    program = maintain("v", Maintainability(SUMMED), frozenset({"orders"})).program
    with pytest.raises(InvariantError, match="built anew"):
        unstored(program)


def test_what_changes_to_mirrors_add() -> None:
    """The text looks rows that went up in all of a mirror; where multiplicities are added up, they are rows."""
    assert merging(batch("v", SUMMED.columns)) == MERGING
    assert merging(evaluate("v", SUMMED)) == MERGING
    built = rebuild("v", Maintainability(SUMMED))
    assert merging(built) == merging(unstored(built)) == COUNTING

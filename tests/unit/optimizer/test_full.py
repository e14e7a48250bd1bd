"""The programs that go by whole snapshots."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.common.tree import of_type
from slacktide.errors import InvariantError
from slacktide.optimizer.programs import full
from slacktide.optimizer.programs.full import (
    COUNTING,
    MERGING,
    anew,
    merging,
    unstored,
    without_states,
)
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import batch, evaluate, maintain, rebuild
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
    alone = without_states("v", view(rel), analysis)
    assert alone.signed == alone.text == anew("v", view(rel), analysis)
    assert isinstance(alone.text.steps[0].child, o.Batch)


@pytest.mark.parametrize(("rel", "is_signed"), [(SUMMED, True), (TOP, True), (RANKED, False)])
def test_rows_that_are_looked_up_anyway_are_looked_up_by_the_text(
    rel: r.Rel, *, is_signed: bool
) -> None:
    alone = without_states("v", view(rel), Maintainability(rel))
    assert (alone.signed != alone.text) == is_signed
    assert alone.taken(is_signed=True) == alone.signed
    assert alone.taken(is_signed=False) == alone.text


def test_what_would_be_computed_too_often_is_left_to_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(full, "MOST_OPERATORS", 1)
    alone = without_states("v", view(SUMMED), Maintainability(SUMMED))
    assert alone.signed == alone.text


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

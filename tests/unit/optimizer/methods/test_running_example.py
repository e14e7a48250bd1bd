"""Tempura's running example: costs, states and flips of tempura.md A.1 and A.2."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.optimizer.choice.choosing import Choice
from slacktide.optimizer.expand import METHODS
from slacktide.optimizer.memo.trait import SetDelta, SetSnap
from slacktide.program.reference.bags import Bag
from tests.harness.maintained import VIEW, Maintained
from tests.harness.memory import as_bag, same_bag
from tests.harness.planner.groups import Filled
from tests.harness.planner.summary import (
    BATCHES,
    JOIN,
    ONE_MORE_RETURN,
    RETURNS,
    SALES,
    SUMMARY,
    TABLES,
    planned,
)
from tests.harness.plans import Case

pytestmark = pytest.mark.unit
IM1 = frozenset({"derive"})
IM2 = frozenset({"hold"})
BOTH = IM1 | IM2 | {"recompute"}


def cost(choice: Choice) -> float:
    """The weighted cost; keys are in fifths, as the first weight is."""
    return choice.key[0] / 5


def test_im_1_alone() -> None:
    assert cost(planned(IM1)[0]) == 11.8


def test_im_2_alone() -> None:
    assert cost(planned(IM2)[0]) == 12.2


def test_one_more_return_makes_im_2_the_better_one() -> None:
    assert cost(planned(IM1, ONE_MORE_RETURN)[0]) == 14.8
    assert cost(planned(IM2, ONE_MORE_RETURN)[0]) == 13.2


def test_the_choice_between_the_two_flips() -> None:
    assert cost(planned(BOTH)[0]) == 11.8
    assert cost(planned(BOTH, ONE_MORE_RETURN)[0]) == 13.2


def test_full_recomputation_is_the_dearest() -> None:
    """Join and aggregate over all rows at the second instant."""
    assert cost(planned(frozenset())[0]) == (7 + 3) + 7


@pytest.mark.parametrize("batches", [BATCHES, ONE_MORE_RETURN], ids=["base", "one more return"])
def test_all_methods_are_at_most_as_dear_as_any(batches) -> None:
    every = cost(planned(METHODS, batches)[0])
    assert every <= cost(planned(IM1, batches)[0])
    assert every <= cost(planned(IM2, batches)[0])
    assert every <= (11.8 if batches is BATCHES else 13.2)


FIVE_ROWS = [
    ((2, "c2", 150, None, None), -1),
    ((2, "c2", 150, 2, 20), 1),
    ((5, "c2", 300, None, None), 1),
    ((6, "c1", 150, 6, 15), 1),
    ((7, "c2", 220, None, None), 1),
]
"""Figure 1(c): the change of the left join."""


def test_the_left_join_changes_by_five_rows() -> None:
    """G-8, and every alternative of its group."""
    assert same_bag(changed(JOIN), FIVE_ROWS)
    _, expanded = planned(METHODS)
    filled = Filled(expanded, TABLES, (SALES, RETURNS), BATCHES)
    assert filled.differing() == []
    delta = expanded.memo.links(expanded.memo.tvr(JOIN))[SetDelta((1, 1), (2, 2))]
    assert same_bag(filled.rows[delta], FIVE_ROWS)


def test_the_right_join_changes_by_the_same_rows() -> None:
    """G-9: columns of the returns first."""
    mirrored = r.Join(JOIN.right, JOIN.left, "right", JOIN.condition)
    assert same_bag(changed(mirrored), [((*row[3:], *row[:3]), n) for row, n in FIVE_ROWS])


def changed(relation: r.Rel) -> Bag:
    """What the second batch changes a relation by, as the engine's rules derive it."""
    maintained = Maintained(Case(relation, (SALES, RETURNS)))
    maintained.arrive(BATCHES[0])
    maintained.refresh()
    maintained.arrive(BATCHES[1])
    plan = maintained.plan()
    assert plan.method == "incremental"
    return maintained.run(plan).published[VIEW].changes


def test_answers_of_the_two_instants() -> None:
    """A.2, and the same rows by every alternative of both groups."""
    _, expanded = planned(METHODS)
    filled = Filled(expanded, TABLES, (SALES, RETURNS), BATCHES)
    expected = ([("c1", 280), ("c2", 150)], [("c1", 265), ("c2", 500)])
    for group, rows in zip(expanded.answers, expected, strict=True):
        assert same_bag(filled.rows[group], as_bag(rows))
        assert len(expanded.memo.groups.expressions(group)) > 1
        assert any(isinstance(trait, SetSnap) for _, trait in expanded.memo.linked(group))
    assert expanded.memo.relation(expanded.memo.tvr(SUMMARY)) == SUMMARY

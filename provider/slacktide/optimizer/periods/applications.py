"""Applications as problems: what is due, and what is cheap (tempura.md §5).

* Maintenance (IVM-PD): the answer is due at every instant, the last instant decides; what it loads is
  owed at its own version too, so that the round after it finds what this one found.
* Progressive days (PDW-PD): the answer is due at the last instant alone, and earlier ones are cheaper.
* What was planned may be planned again: what was stored already costs no more than loading.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from slacktide.optimizer.choice.choosing import Choice, choose
from slacktide.optimizer.choice.objective import LastFirst, Objective, weighted
from slacktide.optimizer.choice.plan import Load
from slacktide.optimizer.choice.space import Goal, PlanSpace
from slacktide.optimizer.expand import Expanded
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.trait import SetDelta, ValDelta
from slacktide.optimizer.memo.versions import moved, realised
from slacktide.optimizer.periods.plan_space import Carrying, Price, space_of


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, the space that it is from, and what it was chosen for."""

    space: PlanSpace
    objective: Objective
    choice: Choice


def maintenance(expanded: Expanded, price: Price, carrying: Carrying) -> Planned:
    """Plan rounds of maintenance that leave to the next what they took from the one before."""
    instants = len(expanded.answers)
    objective = LastFirst(instants)
    owed: tuple[Goal, ...] = ()
    while True:
        due = range(1, instants + 1)
        space = space_of(expanded, due, price, carrying, owed=owed)
        choice = choose(space, objective)
        more = _owed(expanded.memo, space, choice)
        if not more:
            return Planned(space, objective, choice)
        owed = (*owed, *more)


def _owed(memo: Memo, space: PlanSpace, choice: Choice) -> list[Goal]:
    """What the last run loads of the one before, one instant later, where that is not due yet."""
    last = space.instants
    found: dict[Goal, None] = {}
    for source, _ in choice.plan.uses():
        if isinstance(source, Load) and 0 < source.saved_at == last - 1 and source.instant == last:
            for tvr, trait in memo.linked(source.node):
                if isinstance(trait, SetDelta | ValDelta):
                    continue
                if {realised(version) for version in trait.versions()} != {last - 1}:
                    continue
                later = trait.mapped(lambda version: moved(version, 1))
                group = memo.links(tvr).get(later)
                if group is not None:
                    found[Goal(group, last, is_saved=True)] = None
    return [goal for goal in found if goal not in space.goals]


def progressive(
    expanded: Expanded, weights: Sequence[str | int], price: Price, carrying: Carrying
) -> Planned:
    """Plan runs of which the last one owes the answer, and earlier ones are cheaper by their weight."""
    objective = weighted(weights)
    space = space_of(expanded, [len(expanded.answers)], price, carrying)
    return Planned(space, objective, choose(space, objective))


def planned_again(planned: Planned, stored: Collection[int]) -> Planned:
    """Plan once more with what is stored: its production is sunk, only loading is charged.

    Args:
        planned: before.
        stored: groups that were saved by runs that committed.
    """
    space = replace(planned.space, kept=planned.space.kept | frozenset(stored))
    return Planned(space, planned.objective, choose(space, planned.objective))

"""State selection as multi-query optimisation, by the corrected greedy (tempura.md §4.4, §4.5).

    S = ∅;  repeat: take the candidate with the cheapest best plan; stop where that is no cheaper

A state is a pair of a node and the instant at which it is saved. Its production is charged once; every
reader at that instant or later may load it instead. What a candidate saves shrinks as states are
chosen, for the most part: only the one that promises most is priced again (lazy greedy), and all of
them once more before the search ends.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from slacktide.optimizer.budget import IsSpent, never
from slacktide.optimizer.choice.candidates import candidates, promising
from slacktide.optimizer.choice.objective import Key, Objective, plus
from slacktide.optimizer.choice.plan import ChosenPlan
from slacktide.optimizer.choice.search import State
from slacktide.optimizer.choice.sharing import Sharing
from slacktide.optimizer.choice.space import PlanSpace

MOST_CANDIDATES: Final = 48


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen.

    Attributes:
        plan: over all instants.
        key: its cost, as the objective compares it.
        is_whole: whether the search for states ended because no other one pays, not because its budget was spent.
    """

    plan: ChosenPlan
    key: Key
    is_whole: bool = True


def choose(
    space: PlanSpace,
    objective: Objective,
    *,
    owed: Sequence[State] = (),
    most_candidates: int = MOST_CANDIDATES,
    is_spent: IsSpent = never,
) -> Choice:
    """Choose a plan and its states.

    Args:
        space: the plan space.
        objective: what is cheap.
        owed: states that are saved in any case; all may load them.
        most_candidates: how many states are considered, those first that the plan without states
            has twice.
        is_spent: whether planning has taken all the time that it may: no state is priced any more then.

    Raises:
        UnreachableError: what is due cannot be computed.
    """
    sharing = Sharing(space, objective)
    found = candidates(space, objective, sharing.alone)
    states = promising(found, sharing.alone, sharing.plan(()), most_candidates)
    chosen = list(owed)
    while True:
        left = [state for state in states if state not in chosen]
        more = _greedy(sharing, chosen, left, is_spent)
        if not more:
            break
        chosen += more
    chosen = sharing.used(chosen, owed)
    is_whole = not (states and is_spent())
    return Choice(sharing.plan(chosen), sharing.cost(chosen), is_whole)


def choose_among(spaces: Sequence[PlanSpace], objective: Objective) -> tuple[int, Choice]:
    """Choose the best of several spaces: where it is, and the choice; the first of equals.

    Greedy selection is not monotone: a space that holds another may lead it to a dearer plan. Beside the
    space of all methods stand those of each alone, so that a mixture is never dearer than one of them.

    Raises:
        UnreachableError: what is due cannot be computed in one of them.
    """
    found = [choose(space, objective) for space in spaces]
    best = min(range(len(found)), key=lambda place: found[place].key)
    return best, found[best]


def _greedy(
    sharing: Sharing, chosen: Sequence[State], states: Sequence[State], is_spent: IsSpent
) -> list[State]:
    """The states that pay beside those chosen, in the order in which they are taken."""
    taken: list[State] = []
    cost = sharing.cost(chosen)
    queue: list[tuple[Key, int, State, int]] = []
    for place, state in enumerate(states):
        if is_spent():
            break
        queue.append((_less(sharing.cost([*chosen, state]), cost), place, state, 0))
    heapq.heapify(queue)
    nothing = _less(cost, cost)
    while queue:
        change, place, state, seen = heapq.heappop(queue)
        if change >= nothing or (seen < len(taken) and is_spent()):
            break
        if seen < len(taken):
            fresh = _less(sharing.cost([*chosen, *taken, state]), cost)
            heapq.heappush(queue, (fresh, place, state, len(taken)))
            continue
        taken.append(state)
        cost = plus(cost, change)
    return taken


def _less(one: Key, other: Key) -> Key:
    return tuple(a - b for a, b in zip(one, other, strict=True))

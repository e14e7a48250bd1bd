"""State selection as multi-query optimisation, by the corrected greedy (tempura.md §4.4, §4.5).

    S = ∅;  repeat: take the candidate with the cheapest best plan; stop where that is no cheaper

A state is a pair of a node and the instant at which it is saved. Its production is charged once; every
reader at that instant or later may load it instead. States are produced in the order of what they cost
without sharing, so that one may be made of those before it and never of itself. What a candidate
saves shrinks as states are chosen, for the most part: only the one that promises most is priced
again (lazy greedy), and all of them once more before the search ends.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from slacktide.errors import InvariantError
from slacktide.optimizer.choice.objective import Key, Objective, plus
from slacktide.optimizer.choice.plan import ChosenPlan, Load, SharedState, source_of
from slacktide.optimizer.choice.search import Search, State
from slacktide.optimizer.choice.space import PlanSpace

MOST_CANDIDATES: Final = 48


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen.

    Attributes:
        plan: over all instants.
        key: its cost, as the objective compares it.
        priced: how many sets of states were priced.
    """

    plan: ChosenPlan
    key: Key
    priced: int


def choose(
    space: PlanSpace, objective: Objective, *, most_candidates: int = MOST_CANDIDATES
) -> Choice:
    """Choose a plan and its states.

    Args:
        space: the plan space.
        objective: what is cheap.
        most_candidates: how many states are considered, those first that the plan without states
            has twice.

    Raises:
        InvariantError: what is due cannot be computed.
    """
    pricing = _Pricing(space, objective)
    candidates = pricing.candidates(most_candidates)
    chosen: list[State] = []
    while True:
        more = _greedy(pricing, chosen, [state for state in candidates if state not in chosen])
        if not more:
            break
        chosen += more
    chosen = pricing.used(chosen)
    return Choice(pricing.plan(chosen), pricing.cost(chosen), pricing.priced)


def _greedy(pricing: _Pricing, chosen: Sequence[State], candidates: Sequence[State]) -> list[State]:
    """The states that pay beside those chosen, in the order in which they are taken."""
    taken: list[State] = []
    cost = pricing.cost(chosen)
    queue: list[tuple[Key, int, State, int]] = []
    for place, state in enumerate(candidates):
        queue.append((_less(pricing.cost([*chosen, state]), cost), place, state, 0))
    heapq.heapify(queue)
    while queue:
        change, place, state, seen = heapq.heappop(queue)
        if change >= pricing.zero:
            break
        if seen < len(taken):
            fresh = _less(pricing.cost([*chosen, *taken, state]), cost)
            heapq.heappush(queue, (fresh, place, state, len(taken)))
            continue
        taken.append(state)
        cost = plus(cost, change)
    return taken


def _less(one: Key, other: Key) -> Key:
    return tuple(a - b for a, b in zip(one, other, strict=True))


def _is_steady(space: PlanSpace) -> bool:
    """Whether an alternative costs the same at every instant."""
    return all(
        len(set(alternative.costs)) <= 1
        for alternatives in space.alternatives.values()
        for alternative in alternatives
    )


class _Pricing:
    """Prices sets of states over one search."""

    def __init__(self, space: PlanSpace, objective: Objective) -> None:
        self._space = space
        self._objective = objective
        self._search = Search(space, objective)
        self._alone = {state: label[0] for state, label in self._search.labels.items()}
        self._is_steady = objective.prefers_early and _is_steady(space)
        self.zero = objective.zero
        self.priced = 0

    def cost(self, states: Sequence[State]) -> Key:
        """The cost of the best plan with some states."""
        self.priced += 1
        self._search.begin()
        sum_ = self.zero
        for node, instant in self._ordered(states):
            sum_ = plus(sum_, self._had(node, instant))
            save = self._space.storage[node].save[instant - 1]
            sum_ = plus(sum_, self._objective.at(instant, save))
            self._search.share((node, instant))
        for goal in self._space.goals:
            sum_ = plus(sum_, self._had(goal.node, goal.instant))
        self._search.rollback()
        return sum_

    def plan(self, states: Sequence[State]) -> ChosenPlan:
        """The best plan with some states."""
        self.cost(states)
        self._search.begin()
        saved = []
        for state in self._ordered(states):
            saved.append(SharedState(*state, source_of(self._space, self._search, state)))
            self._search.share(state)
        goals = tuple(
            source_of(self._space, self._search, (goal.node, goal.instant))
            for goal in self._space.goals
        )
        self._search.rollback()
        return ChosenPlan(goals, tuple(saved))

    def used(self, states: Sequence[State]) -> list[State]:
        """The states that a plan loads, without those that became useless beside others."""
        kept = list(states)
        while True:
            loaded = {
                (source.node, source.saved_at)
                for source, _ in self.plan(kept).uses()
                if isinstance(source, Load) and source.made is None
            }
            if all(state in loaded for state in kept):
                return kept
            kept = [state for state in kept if state in loaded]

    def candidates(self, most: int) -> list[State]:
        """The states that may pay, those first that promise most."""
        times: Counter[State] = Counter()
        for source, count in self.plan(()).uses():
            times[source.node, source.instant] += count
        found = []
        for node in self._space.storage:
            instants = [i for i in range(1, self._space.instants + 1) if (node, i) in self._alone]
            if self._is_early_best(node):
                instants = instants[:1]
            found += [(node, instant) for instant in instants]
        readers = Counter(
            child
            for alternatives in self._space.alternatives.values()
            for alternative in alternatives
            for child in alternative.inputs
        )
        goals = {goal.node for goal in self._space.goals}
        found = [state for state in found if readers[state[0]] > 0 or state[0] in goals]

        def promise(state: State) -> tuple[Key, Key]:
            again = max(0, sum(n for (node, _), n in times.items() if node == state[0]) - 1)
            key = self._alone[state]
            return tuple(-again * part for part in key), tuple(-part for part in key)

        return sorted(found, key=promise)[:most]

    def _is_early_best(self, node: int) -> bool:
        """Whether only the first instant of a state need be considered (Theorem 7)."""
        storage = self._space.storage[node]
        return self._is_steady and len(set(storage.save)) <= 1 and len(set(storage.load)) <= 1

    def _ordered(self, states: Sequence[State]) -> list[State]:
        return sorted(states, key=lambda state: (self._alone[state], state[1], state[0]))

    def _had(self, node: int, instant: int) -> Key:
        key = self._search.key(node, instant)
        if key is None:
            raise InvariantError(f"node {node} cannot be had at instant {instant}")
        return key

"""What a plan costs with some states at hand for all: bestPlan(S) (tempura.md §4.4).

The production of each state and its saving are charged once. States are produced in the order of
what they cost alone, so that one may be made of those before it and never of itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slacktide.optimizer.choice.objective import Key, Objective, plus
from slacktide.optimizer.choice.plan import ChosenPlan, Load, SharedState, source_of
from slacktide.optimizer.choice.search import Search, State
from slacktide.optimizer.choice.space import PlanSpace


class UnreachableError(Exception):
    """No plan of a space has what is due: for whoever plans, never for a user."""


class Sharing:
    """Prices sets of states over one search.

    Args:
        space: the plan space.
        objective: what is cheap.

    Attributes:
        alone: what each node costs at each instant without states.
    """

    def __init__(self, space: PlanSpace, objective: Objective) -> None:
        self._space = space
        self._objective = objective
        self._search = Search(space, objective)
        self.alone: Mapping[State, Key] = {s: label[0] for s, label in self._search.labels.items()}

    def cost(self, states: Sequence[State]) -> Key:
        """The cost of the best plan with some states.

        Raises:
            UnreachableError: what is due cannot be computed.
        """
        total = self._objective.zero
        self._search.begin()
        for node, instant in self._ordered(states):
            save = self._space.storage[node].save[instant - 1]
            total = plus(total, self._objective.at(instant, save))
            total = plus(total, self._had(node, instant))
            self._search.share((node, instant))
        for goal in self._space.goals:
            total = plus(total, self._had(goal.node, goal.instant))
            if goal.is_saved:
                save = self._space.storage[goal.node].save[goal.instant - 1]
                total = plus(total, self._objective.at(goal.instant, save))
        self._search.rollback()
        return total

    def plan(self, states: Sequence[State]) -> ChosenPlan:
        """The best plan with some states.

        Raises:
            UnreachableError: what is due cannot be computed.
        """
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

    def used(self, states: Sequence[State], owed: Sequence[State] = ()) -> list[State]:
        """The states that are owed or loaded, without those that became useless beside others."""
        kept = list(states)
        while True:
            loaded = set(owed) | {
                (source.node, source.saved_at)
                for source, _ in self.plan(kept).uses()
                if isinstance(source, Load) and source.made is None
            }
            if all(state in loaded for state in kept):
                return kept
            kept = [state for state in kept if state in loaded]

    def _ordered(self, states: Sequence[State]) -> list[State]:
        for state in states:
            if state not in self.alone:
                raise UnreachableError(f"node {state[0]} cannot be had at instant {state[1]}")
        return sorted(states, key=lambda state: (self.alone[state], state[1], state[0]))

    def _had(self, node: int, instant: int) -> Key:
        key = self._search.key(node, instant)
        if key is None:
            raise UnreachableError(f"node {node} cannot be had at instant {instant}")
        return key

"""The states that a choice considers (tempura.md §4.5).

Theorem 7 of Tempura: where the same work is cheaper at every earlier instant, a state is best saved at the
first instant at which it can be had. It holds where weights rise strictly or the last instant decides,
where saving and loading cost the same at every instant and so does every alternative, and where all
alternatives of a node can run from the same instant on. Elsewhere every instant is considered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from slacktide.optimizer.choice.objective import Key, Objective
from slacktide.optimizer.choice.plan import ChosenPlan
from slacktide.optimizer.choice.search import State
from slacktide.optimizer.choice.space import Alternative, PlanSpace


def candidates(
    space: PlanSpace, objective: Objective, alone: Mapping[State, Key], *, is_reduced: bool = True
) -> list[State]:
    """The nodes that can be stored and are read, each at the instants at which it may pay.

    Args:
        space: the plan space.
        objective: what is cheap.
        alone: what each node costs at each instant without states.
        is_reduced: leave out what Theorem 7 says never pays.
    """
    read = {
        child
        for alternatives in space.alternatives.values()
        for alternative in alternatives
        for child in alternative.inputs
    }
    read |= {goal.node for goal in space.goals}
    is_early_best = is_reduced and objective.prefers_early and _is_steady(space)
    found: list[State] = []
    for node in sorted(space.storage.keys() & read):
        instants = [i for i in range(1, space.instants + 1) if (node, i) in alone]
        found += [(node, instant) for instant in (instants[:1] if is_early_best else instants)]
    return found


def promising(
    found: list[State], alone: Mapping[State, Key], plan: ChosenPlan, most: int
) -> list[State]:
    """The states that promise most: what the plan without states has again and again, then the dear."""
    times: Counter[int] = Counter()
    for source, count in plan.uses():
        times[source.node] += count

    def promise(state: State) -> tuple[Key, Key]:
        again = max(0, times[state[0]] - 1)
        key = alone[state]
        return tuple(-again * part for part in key), tuple(-part for part in key)

    return sorted(found, key=promise)[:most]


def _is_steady(space: PlanSpace) -> bool:
    uniform = all(
        len(set(stored.save)) <= 1 and len(set(stored.load)) <= 1
        for stored in space.storage.values()
    )
    if not uniform or space.kept:
        return False
    first = _first_instants(space)
    return all(
        len(set(alternative.costs)) <= 1
        and alternative.latest is None
        and _first(alternative, first) in {None, first.get(node)}
        for node, alternatives in space.alternatives.items()
        for alternative in alternatives
    )


def _first_instants(space: PlanSpace) -> dict[int, int]:
    """The first instant at which each node can be had: t-dom, which is closed upwards."""
    found: dict[int, int] = {}
    is_new = True
    while is_new:
        is_new = False
        for node, alternatives in space.alternatives.items():
            instants = [i for i in (_first(a, found) for a in alternatives) if i is not None]
            if instants and min(instants) < found.get(node, space.instants + 1):
                found[node] = min(instants)
                is_new = True
    return found


def _first(alternative: Alternative, first: Mapping[int, int]) -> int | None:
    if any(child not in first for child in alternative.inputs):
        return None
    return max([alternative.earliest, *(first[child] for child in alternative.inputs)])

"""Random small plan spaces, and all plans of one by exhaustive enumeration."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

from slacktide.optimizer.choice.objective import Key, Objective, plus
from slacktide.optimizer.choice.space import Alternative, Goal, PlanSpace, Storage


def random_space(source: random.Random, *, is_cyclic: bool = False) -> PlanSpace:
    """Up to six nodes, each over those before it; in a cyclic space, some over later ones too."""
    instants = source.randint(1, 3)
    nodes = source.randint(2, 5)

    def costs(most: int) -> tuple[int, ...]:
        return tuple(source.randint(0, most) for _ in range(instants))

    alternatives: dict[int, tuple[Alternative, ...]] = {}
    for node in range(nodes):
        found = []
        for _ in range(source.randint(1, 2)):
            below = range(node) if not is_cyclic else [n for n in range(nodes) if n != node]
            count = source.randint(0, min(2, len(below))) if node else 0
            inputs = tuple(source.choice(list(below)) for _ in range(count))
            earliest = source.randint(1, instants)
            latest = source.choice((None, None, instants, earliest))
            found.append(Alternative(inputs, costs(9), earliest, latest))
        alternatives[node] = tuple(found)
    storage = {n: Storage(costs(4), costs(4)) for n in range(nodes) if source.random() < 0.8}
    goals = [Goal(nodes - 1, instants)]
    if source.random() < 0.4:
        goals.append(Goal(source.randrange(nodes), source.randint(1, instants)))
    return PlanSpace(instants, alternatives, storage, tuple(goals))


def every_cost(
    space: PlanSpace, objective: Objective, node: int, instant: int, path: tuple = ()
) -> Iterator[Key]:
    """The cost of every way to have a node at an instant, that does not pass one place twice.

    To carry a node over is a step of its own, so that it may not be carried twice in a row.
    """
    if (node, instant) in path:
        return
    here = (*path, (node, instant))
    yield from _computed(space, objective, node, instant, here)
    storage = space.storage.get(node)
    if storage is None:
        return
    for earlier in range(1, instant):
        carried = plus(
            objective.at(earlier, storage.save[earlier - 1]),
            objective.at(instant, storage.load[instant - 1]),
        )
        if (node, earlier) in path:
            continue
        for key in _computed(space, objective, node, earlier, (*here, (node, earlier))):
            yield plus(key, carried)


def _computed(
    space: PlanSpace, objective: Objective, node: int, instant: int, path: tuple
) -> Iterator[Key]:
    for alternative in space.alternatives[node]:
        if not alternative.runs_at(instant):
            continue
        own = objective.at(instant, alternative.costs[instant - 1])
        ways = [list(every_cost(space, objective, i, instant, path)) for i in alternative.inputs]
        for keys in product(*ways):
            total = own
            for key in keys:
                total = plus(total, key)
            yield total


def cheapest(space: PlanSpace, objective: Objective) -> Key | None:
    """The cost of the cheapest plan without shared states; None where a goal cannot be had."""
    total = objective.zero
    for goal in space.goals:
        ways = list(every_cost(space, objective, goal.node, goal.instant))
        if not ways:
            return None
        total = plus(total, min(ways))
    return total

"""Which states are considered: only the first instant of each, where Theorem 7 holds."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import chain, combinations

import pytest

from slacktide.optimizer.choice.candidates import candidates, promising
from slacktide.optimizer.choice.objective import Key, LastFirst, Objective, total, weighted
from slacktide.optimizer.choice.search import State
from slacktide.optimizer.choice.sharing import Sharing
from slacktide.optimizer.choice.space import Alternative, Goal, PlanSpace, Storage

pytestmark = pytest.mark.unit
Make = Callable[[random.Random, int], PlanSpace]


def steady_space(source: random.Random, instants: int) -> PlanSpace:
    """Leaves that come at an instant of their own, and operators with one way to each."""
    alternatives: dict[int, tuple[Alternative, ...]] = {}
    storage: dict[int, Storage] = {}
    for node in range(source.randint(2, 4)):
        count = source.randint(0, min(2, node))
        inputs = tuple(source.randrange(node) for _ in range(count))
        earliest = source.randint(1, instants) if not inputs else 1
        costs = (source.randint(1, 20),) * instants
        alternatives[node] = (Alternative(inputs, costs, earliest),)
        save, load = source.randint(0, 4), source.randint(0, 4)
        storage[node] = Storage((save,) * instants, (load,) * instants)
    last = len(alternatives) - 1
    goals = [Goal(last, instants), Goal(source.randrange(last + 1), instants)]
    return PlanSpace(instants, alternatives, storage, tuple(goals))


def steady_space_of_ways(source: random.Random, instants: int) -> PlanSpace:
    """Several ways to each node, all of which can run from the same instant on."""
    alternatives: dict[int, tuple[Alternative, ...]] = {}
    first: dict[int, int] = {}
    for node in range(source.randint(3, 5)):
        inputs = source.choices(range(node), k=source.randint(1, 2) if node else 0)
        start = source.randint(1, instants)
        first[node] = max((first[child] for child in inputs), default=start)
        found = [inputs]
        for _ in range(source.randint(0, 2)):
            below = [other for other in range(node) if first[other] <= first[node]]
            found.append(source.choices(below, k=source.randint(0, 2)) if below else [])
        alternatives[node] = tuple(
            Alternative(tuple(read), (source.randint(1, 20),) * instants, first[node])
            for read in found
        )
    storage = {}
    for node in source.sample(range(len(first)), k=3):
        save, load = source.randint(0, 4), source.randint(0, 4)
        storage[node] = Storage((save,) * instants, (load,) * instants)
    due = [max(first), *source.choices(range(len(first)), k=2)]
    goals = tuple(Goal(node, source.randint(first[node], instants)) for node in due)
    return PlanSpace(instants, alternatives, storage, goals)


def cheapest(sharing: Sharing, states: list[State], most: int) -> Key:
    """The cost with the best of all sets of up to so many states."""
    sets = chain.from_iterable(combinations(states, size) for size in range(most + 1))
    return min(sharing.cost(chosen) for chosen in sets)


@pytest.mark.parametrize("make", [steady_space, steady_space_of_ways])
@pytest.mark.parametrize("last_first", [False, True], ids=["rising weights", "last first"])
def test_no_later_instant_is_ever_better(make: Make, last_first: bool) -> None:
    shared = reduced = several = 0
    for seed in range(200):
        source = random.Random(seed)  # noqa: S311
        space = make(source, 3)
        weights = sorted(source.sample(range(1, 20), 3))
        objective: Objective = LastFirst(3) if last_first else weighted(weights)
        sharing = Sharing(space, objective)
        every = candidates(space, objective, sharing.alone, is_reduced=False)
        early = candidates(space, objective, sharing.alone)
        assert set(early) <= set(every)
        assert len(early) == len({node for node, _ in every}), "one for each node"
        reduced += len(early) < len(every)
        several += any(len(ways) > 1 for ways in space.alternatives.values())
        best = cheapest(sharing, early, len(early))
        assert best <= cheapest(sharing, every, 3), seed
        shared += best < sharing.cost([])
    assert reduced > 60
    assert shared > 30
    assert several > 150 or make is steady_space


def one_node(costs: tuple[int, int], save: tuple[int, int], *more: Alternative) -> PlanSpace:
    alternatives = (Alternative((), costs), *more)
    return PlanSpace(2, {0: alternatives}, {0: Storage(save, (1, 1))}, (Goal(0, 2),))


RISING = weighted([1, 2])
UNSTEADY = {
    "weights that do not rise": (one_node((5, 5), (1, 1)), total(2)),
    "costs that differ": (one_node((5, 4), (1, 1)), RISING),
    "saving that differs": (one_node((5, 5), (2, 1)), RISING),
    "another way that comes later": (
        one_node((5, 5), (1, 1), Alternative((), (3, 3), earliest=2)),
        RISING,
    ),
    "a way that ends": (one_node((5, 5), (1, 1), Alternative((), (3, 3), latest=1)), RISING),
}


@pytest.mark.parametrize("name", UNSTEADY)
def test_every_instant_is_considered_where_the_theorem_does_not_hold(name: str) -> None:
    space, objective = UNSTEADY[name]
    sharing = Sharing(space, objective)
    assert candidates(space, objective, sharing.alone) == [(0, 1), (0, 2)]


def test_the_theorem_holds_for_the_last_instant_first() -> None:
    space = one_node((5, 5), (1, 1))
    for objective in (RISING, LastFirst(2)):
        assert candidates(space, objective, Sharing(space, objective).alone) == [(0, 1)]


def test_what_a_plan_has_again_and_again_promises_most() -> None:
    space = PlanSpace(
        1,
        {
            0: (Alternative((), (9,)),),
            1: (Alternative((), (5,)),),
            2: (Alternative((0, 1, 1), (1,)),),
        },
        {node: Storage((1,), (1,)) for node in (0, 1)},
        (Goal(2, 1),),
    )
    sharing = Sharing(space, total(1))
    found = candidates(space, total(1), sharing.alone)
    assert promising(found, sharing.alone, sharing.plan(()), 1) == [(1, 1)]
    assert promising(found, sharing.alone, sharing.plan(()), 2) == [(1, 1), (0, 1)]

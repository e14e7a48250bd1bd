"""The choice against exhaustive enumeration, on random small plan spaces."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from itertools import combinations, product
from typing import TypeVar

import pytest

from slacktide.errors import InvalidSettingError
from slacktide.optimizer.choice.choosing import choose
from slacktide.optimizer.choice.objective import (
    Key,
    LastFirst,
    Objective,
    plus,
    total,
    weighted,
)
from slacktide.optimizer.choice.search import State
from slacktide.optimizer.choice.sharing import UnreachableError
from slacktide.optimizer.choice.space import Alternative, Goal, PlanSpace, Storage
from tests.harness.planner.spaces import cheapest, random_space

SEEDS = range(700)
Best = TypeVar("Best")
Had = dict[State, Key]
Ways = Iterator[tuple[State, Key]]
pytestmark = pytest.mark.unit


def objectives(source: random.Random, space: PlanSpace) -> tuple[Objective, Objective]:
    weights = [source.randint(0, 5) for _ in range(space.instants)]
    return weighted(weights), LastFirst(space.instants)


def reachable(
    seeds: Iterable[int],
    make: Callable[[random.Random], PlanSpace],
    cost: int,
    best: Callable[[PlanSpace, Objective], Best | None],
) -> Iterator[tuple[int, PlanSpace, Objective, Best]]:
    """Drawn spaces with what is best in them; where something that is due cannot be had, choosing says so."""
    for seed in seeds:
        source = random.Random(seed)  # noqa: S311
        space = make(source)
        objective = objectives(source, space)[cost]
        found = best(space, objective)
        if found is None:
            with pytest.raises(UnreachableError):
                choose(space, objective)
            continue
        yield seed, space, objective, found


@pytest.mark.parametrize("cost", [0, 1], ids=["weighted", "last first"])
@pytest.mark.parametrize("is_cyclic", [False, True], ids=["acyclic", "cyclic"])
def test_equals_exhaustive_enumeration(cost: int, is_cyclic: bool) -> None:
    compared = 0
    make = partial(random_space, is_cyclic=is_cyclic)
    for seed, space, objective, expected in reachable(SEEDS, make, cost, cheapest):
        assert choose(space, objective, most_candidates=0).key == expected, seed
        compared += 1
    assert compared >= 500


def test_what_is_charged_is_what_the_plan_does() -> None:
    shared = 0
    for seed in SEEDS:
        source = random.Random(seed)  # noqa: S311
        space = random_space(source, is_cyclic=seed % 2 == 1)
        for objective in objectives(source, space):
            expected = cheapest(space, objective)
            if expected is None:
                continue
            choice = choose(space, objective)
            choice.plan.check(space)
            key = objective.zero
            for instant, cost in enumerate(choice.plan.costs(space), 1):
                key = plus(key, objective.at(instant, cost))
            assert key == choice.key, seed
            assert choice.key <= expected, "sharing made a plan dearer"
            shared += choice.key < expected
    assert shared > 50


def space_of_many_uses(source: random.Random) -> PlanSpace:
    """Nodes with several readers and few that may be stored; in some, nodes read what reads them."""
    nodes = source.randint(4, 6)
    is_cyclic = source.random() < 0.5
    alternatives = {}
    for node in range(nodes):
        found = []
        for place in range(source.randint(1, 2)):
            below = [n for n in range(nodes) if n < node or (is_cyclic and place and n != node)]
            inputs = source.sample(below, k=min(len(below), source.randint(1, 2))) if node else ()
            costs = (source.randint(1, 20), source.randint(1, 20))
            earliest = 1 if inputs else source.choice((1, 1, 2))
            found.append(Alternative(tuple(inputs), costs, earliest))
        alternatives[node] = tuple(found)
    storage = {}
    for node in source.sample(range(nodes), k=source.randint(2, 3)):
        save, load = ((source.randint(0, 6), source.randint(0, 6)) for _ in range(2))
        storage[node] = Storage(save, load)
    due = source.choices(range(nodes // 2, nodes), k=3)
    goals = tuple(Goal(node, source.choice((1, 2, 2))) for node in due)
    return PlanSpace(2, alternatives, storage, goals)


def ways(space: PlanSpace, objective: Objective, had: Had, states: Iterable[State]) -> Ways:
    """Every way to have something, by what is had already."""

    def loaded(node: int, first: int, key: Key) -> Ways:
        for instant in range(first, space.instants + 1):
            load = space.storage[node].load[instant - 1]
            yield (node, instant), plus(key, objective.at(instant, load))

    for node, saved_at in states:
        yield from loaded(node, saved_at, objective.zero)
    for node, instant in product(space.alternatives, range(1, space.instants + 1)):
        for one in space.alternatives[node]:
            read = [(child, instant) for child in one.inputs]
            if not one.runs_at(instant) or not had.keys() >= set(read):
                continue
            own = objective.at(instant, one.costs[instant - 1])
            key = reduce(plus, (had[state] for state in read), own)
            yield (node, instant), key
            if node in space.storage:
                save = space.storage[node].save[instant - 1]
                yield from loaded(node, instant + 1, plus(key, objective.at(instant, save)))


def with_states(space: PlanSpace, objective: Objective, states: Iterable[State], had: Had) -> Had:
    """What everything costs with some states at hand: all ways are tried until none is cheaper."""
    found = dict(had)
    is_new = True
    while is_new:
        is_new = False
        for state, key in ways(space, objective, found, states):
            if state not in found or key < found[state]:
                found[state] = key
                is_new = True
    return found


def cheapest_of_all_sets(space: PlanSpace, objective: Objective) -> tuple[Key, Key] | None:
    """What the best plan costs without states, and with the best set of them made in the best order."""
    due = [(goal.node, goal.instant) for goal in space.goals]
    alone = with_states(space, objective, (), {})
    if not alone.keys() >= set(due):
        return None
    candidates = [state for state in alone if state[0] in space.storage]
    found = {frozenset[State](): (objective.zero, alone)}
    for size in range(1, len(candidates) + 1):
        for chosen in map(frozenset, combinations(candidates, size)):
            had = alone
            made = []
            for last in chosen:
                before, had = found[chosen - {last}]
                save = space.storage[last[0]].save[last[1] - 1]
                made.append(reduce(plus, (before, had[last], objective.at(last[1], save))))
            found[chosen] = min(made), with_states(space, objective, chosen, had)
    keys = [reduce(plus, (had[state] for state in due), made) for made, had in found.values()]
    return keys[0], min(keys)


@pytest.mark.parametrize("cost", [0, 1], ids=["weighted", "last first"])
def test_greedy_states_are_never_dearer_than_none_and_seldom_than_the_best_set(cost: int) -> None:
    compared = shared = equal = 0
    drawn = reachable(range(300), space_of_many_uses, cost, cheapest_of_all_sets)
    for seed, space, objective, (alone, best) in drawn:
        key = choose(space, objective).key
        assert best <= key <= alone, seed
        compared += 1
        shared += best < alone
        equal += key == best < alone
    assert compared >= 200
    assert shared >= 150
    assert equal >= 0.95 * shared


def one_join(save: int, load: int) -> PlanSpace:
    """A join of cost 10 that may be computed at the first instant and is due at the second."""
    join = (Alternative((), (10, 10)),)
    return PlanSpace(2, {0: join}, {0: Storage((save, save), (load, load))}, (Goal(0, 2),))


@pytest.mark.parametrize(
    ("weight", "costs"), [("0.6", (0, 10)), ("0.41", (0, 10)), ("0.39", (15, 4)), ("0.2", (15, 4))]
)
def test_computes_early_where_that_is_cheap_enough(weight: str, costs: tuple[int, int]) -> None:
    """The paper's example (tempura.md §4.3): break-even at a first weight of 0.4."""
    space = one_join(save=5, load=4)
    assert choose(space, weighted([weight, 1])).plan.costs(space) == costs


def test_the_last_instant_decides() -> None:
    space = one_join(save=5, load=4)
    assert choose(space, LastFirst(2)).plan.costs(space) == (15, 4)
    assert choose(space, total(2)).plan.costs(space) == (0, 10)


def two_uses(save: int, load: int) -> PlanSpace:
    """Two goals over one costly node."""
    return PlanSpace(
        2,
        {
            0: (Alternative((), (20, 20)),),
            1: (Alternative((0,), (1, 1)),),
            2: (Alternative((0,), (1, 1)),),
        },
        {0: Storage((save, save), (load, load))},
        (Goal(1, 1), Goal(2, 2)),
    )


def test_a_state_is_saved_once_for_all_that_load_it() -> None:
    space = two_uses(save=3, load=2)
    choice = choose(space, total(2))
    assert choice.plan.costs(space) == (20 + 3 + 2 + 1, 2 + 1)
    assert [(state.node, state.instant) for state in choice.plan.states] == [(0, 1)]
    (life,) = choice.plan.lifespans()
    assert (life.node, life.saved_at, life.last_loaded) == (0, 1, 2)


def test_a_state_that_does_not_pay_is_not_saved() -> None:
    space = two_uses(save=18, load=2)
    choice = choose(space, total(2))
    assert choice.plan.states == ()
    assert choice.plan.costs(space) == (21, 21)


def test_two_states_of_one_join_at_two_instants() -> None:
    """The paper's candidates (tempura.md §4.4): two shuffled inputs, each read by two joins."""
    space = PlanSpace(
        2,
        {
            0: (Alternative((), (8, 8)),),
            1: (Alternative((), (6, 6)),),
            2: (Alternative((0, 1), (2, 2)),),
            3: (Alternative((0, 1), (2, 2), earliest=2),),
        },
        {node: Storage((1, 1), (1, 1)) for node in (0, 1)},
        (Goal(2, 1), Goal(3, 2)),
    )
    choice = choose(space, total(2))
    assert {(state.node, state.instant) for state in choice.plan.states} == {(0, 1), (1, 1)}
    assert choice.plan.costs(space) == (8 + 1 + 6 + 1 + 2 + 2, 2 + 2)


def test_what_was_stored_before_costs_no_more_than_loading() -> None:
    space = one_join(save=5, load=4)
    kept = PlanSpace(2, space.alternatives, space.storage, space.goals, frozenset({0}))
    choice = choose(kept, total(2))
    assert choice.plan.costs(kept) == (0, 4)
    choice.plan.check(kept)


def test_refuses_weights_below_nothing() -> None:
    with pytest.raises(InvalidSettingError):
        weighted([1, -1])


def test_what_is_read_many_times_does_not_follow_from_itself() -> None:
    """A union of many copies of one relation waits for few things, each many times."""
    copies = 20
    ways = {
        0: (Alternative((), (1,)),),
        1: (Alternative((0,), (1,)),),
        2: (Alternative((1,) * copies, (1,)),),
    }
    space = PlanSpace(1, ways, {}, (Goal(2, 1),))
    found = choose(space, total(1))
    assert found.key == (1 + 2 * copies,)
    found.plan.check(space)


@pytest.mark.parametrize("cost", [0, 1], ids=["weighted", "last first"])
def test_a_choice_without_time_has_no_states_and_says_so(cost: int) -> None:
    fewer = 0
    drawn = reachable(range(40), space_of_many_uses, cost, cheapest_of_all_sets)
    for _, space, objective, (alone, _) in drawn:
        hurried = choose(space, objective, is_spent=lambda: True)
        assert not hurried.plan.states
        assert hurried.key == alone
        hurried.plan.check(space)
        fewer += not hurried.is_whole
        assert choose(space, objective).is_whole
    assert fewer > 10

"""The choice against exhaustive enumeration, on random small plan spaces."""

from __future__ import annotations

import random

import pytest

from slacktide.errors import InvalidSettingError
from slacktide.optimizer.choice.choosing import choose
from slacktide.optimizer.choice.objective import (
    LastFirst,
    Objective,
    plus,
    total,
    weighted,
)
from slacktide.optimizer.choice.sharing import UnreachableError
from slacktide.optimizer.choice.space import Alternative, Goal, PlanSpace, Storage
from tests.harness.planner.spaces import cheapest, random_space

SEEDS = range(700)
pytestmark = pytest.mark.unit


def objectives(source: random.Random, space: PlanSpace) -> tuple[Objective, Objective]:
    weights = [source.randint(0, 5) for _ in range(space.instants)]
    return weighted(weights), LastFirst(space.instants)


@pytest.mark.parametrize("cost", [0, 1], ids=["weighted", "last first"])
@pytest.mark.parametrize("is_cyclic", [False, True], ids=["acyclic", "cyclic"])
def test_equals_exhaustive_enumeration(cost: int, is_cyclic: bool) -> None:
    compared = 0
    for seed in SEEDS:
        source = random.Random(seed)  # noqa: S311
        space = random_space(source, is_cyclic=is_cyclic)
        objective = objectives(source, space)[cost]
        expected = cheapest(space, objective)
        if expected is None:
            with pytest.raises(UnreachableError):
                choose(space, objective)
            continue
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

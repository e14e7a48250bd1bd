"""Maintenance in rounds, progressive days, and planning again with what is stored."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import replace

import pytest

from slacktide.optimizer.choice.plan import Load, Run
from slacktide.optimizer.expand import METHODS, Expanded, Problem, expand
from slacktide.optimizer.memo.trait import SetSnap, ValSnap
from slacktide.optimizer.memo.versions import moved, realised
from slacktide.optimizer.methods.holding import Held
from slacktide.optimizer.periods.applications import (
    Planned,
    maintenance,
    planned_again,
    progressive,
)
from slacktide.optimizer.periods.emission import chain_of, emit
from slacktide.program.chains import chains_read
from slacktide.program.operator import Program
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.relations import evaluate
from tests.harness.histories import shapes_of
from tests.harness.memory import MemorySource, MemoryWorld, as_bag, same_bag
from tests.harness.planner.days import Days
from tests.harness.planner.groups import Batch, Filled
from tests.harness.planner.summary import (
    BATCHES,
    JOIN,
    RETURNS,
    SALES,
    SUMMARY,
    TABLES,
    TupleCosts,
)
from tests.unit.optimizer.methods.test_higher_order import CHAIN
from tests.unit.optimizer.test_rounds import batches

pytestmark = pytest.mark.unit
ROUNDS = 6
STATES = SAVE, LOAD = (1, 1)


def rounds(count: int) -> list[Batch]:
    """Sales that come and go, and returns of some."""
    found: list[Batch] = [*BATCHES]
    for number in range(3, count + 1):
        new = [(10 * number + place, f"c{place % 3}", 100 + place) for place in range(6)]
        gone = [(10 * (number - 1), "c0", 100)] if number > 3 else []
        found.append(
            {
                "sales": [*as_bag(new), *((row, -1) for row in gone)],
                "returns": as_bag([(10 * number + 2, 7)]),
            }
        )
    return found


def space(
    count: int, *, append_only: bool = False, coming: list[Batch] | None = None
) -> tuple[Expanded, TupleCosts]:
    kept = frozenset(TABLES) if append_only else frozenset()
    problem = Problem(SUMMARY, TABLES, count, append_only=kept)
    expanded = expand(problem, methods=METHODS)
    return expanded, TupleCosts(Filled(expanded, TABLES, (SALES, RETURNS), coming or rounds(count)))


def empty_world() -> MemoryWorld:
    return MemoryWorld({shape.name: MemorySource(shape.names) for shape in (SALES, RETURNS)})


def arrive(world: MemoryWorld, batch: Batch) -> None:
    world.start = world.versions()
    for name, source in world.sources.items():
        source.arrivals.append(list(batch.get(name, [])))
    world.end = world.versions()


def is_right(world: MemoryWorld) -> bool:
    return same_bag(world.answers["v"], as_bag(evaluate(SUMMARY, world.tables())))


def run(
    programs: dict[int, Program],
    batches: list[Batch],
    due: set[int],
    world: MemoryWorld | None = None,
) -> None:
    """All that is still to come, or all of it."""
    world = empty_world() if world is None else world
    past = world.versions()["sales"]
    for instant, batch in enumerate(batches[past:], past + 1):
        arrive(world, batch)
        if instant in programs:
            world.accept(run_program(programs[instant], world))
        if instant in due:
            assert is_right(world)


def test_rounds_of_maintenance_give_what_batch_gives() -> None:
    expanded, costs = space(ROUNDS)
    planned = maintenance(expanded, costs.price, lambda _: STATES)
    planned.choice.plan.check(planned.space)
    programs = emit("v", expanded, planned.space, planned.choice.plan)
    assert sorted(programs) == list(range(1, ROUNDS + 1))
    run(programs, rounds(ROUNDS), set(programs))


def test_the_last_round_leaves_what_it_was_left() -> None:
    """Each trait that the last run loads as of the round before is owed as of its own."""
    expanded, costs = space(3)
    planned = maintenance(expanded, costs.price, lambda _: STATES)
    owed = [goal for goal in planned.space.goals if goal.is_saved]
    loaded = {
        source.node
        for source, _ in planned.choice.plan.uses()
        if isinstance(source, Load) and (source.saved_at, source.instant) == (2, 3)
    }
    assert owed
    assert all(goal.instant == 3 for goal in owed)
    due = {goal.node for goal in planned.space.goals if goal.instant == 3}
    assert loaded
    for node in loaded:
        left = [
            (tvr, trait)
            for tvr, trait in expanded.memo.linked(node)
            if isinstance(trait, SetSnap | ValSnap) and realised(trait.version) == 2
        ]
        assert left
        for tvr, trait in left:
            later = trait.mapped(lambda version: moved(version, 1))
            assert expanded.memo.links(tvr)[later] in due


def test_an_answer_that_is_due_at_the_end_alone_computes_nothing_that_may_be_retracted_early() -> (
    None
):
    """F8: QN is computed once, at completion."""
    expanded, costs = space(2, append_only=True)
    planned = progressive(expanded, ["0.3", 1], costs.price, lambda _: STATES)
    assert {goal.instant for goal in planned.space.goals} == {2}
    held = expanded.memo.ties(expanded.memo.tvr(JOIN))[Held()]
    groups = set(expanded.memo.links(held).values())
    early = [
        source
        for source, _ in planned.choice.plan.uses()
        if isinstance(source, Run) and source.instant == 1 and source.node in groups
    ]
    assert early == []
    run(emit("v", expanded, planned.space, planned.choice.plan), [*BATCHES], {2})


def costs_of(planned: Planned) -> tuple[int, ...]:
    return planned.choice.plan.costs(planned.space)


def test_what_is_stored_costs_no_more_than_loading() -> None:
    """The join and the aggregate of the first instant consume nine tuples (tempura.md A.1)."""
    expanded, costs = space(3)
    planned = maintenance(expanded, costs.price, lambda _: STATES)
    assert costs_of(planned) == (9 + SAVE + LOAD, 13, 18)
    stored = [life.node for life in planned.choice.plan.lifespans() if life.saved_at == 1]
    again = planned_again(planned, stored)
    assert costs_of(again) == (LOAD, 13, 18)
    again.choice.plan.check(again.space)
    assert planned_again(planned, []).choice.key == planned.choice.key


def test_an_answer_that_is_stored_costs_its_loading_alone() -> None:
    expanded, costs = space(3)
    planned = progressive(expanded, ["0.1", "0.1", 1], costs.price, lambda _: STATES)
    assert costs_of(planned_again(planned, [expanded.answers[-1]])) == (0, 0, LOAD)


def from_instant(planned: Planned, now: int) -> Planned:
    """What is still to be planned: nothing runs any more before an instant, and nothing is due."""
    alternatives = {
        node: tuple(replace(one, earliest=max(one.earliest, now)) for one in found)
        for node, found in planned.space.alternatives.items()
    }
    goals = tuple(goal for goal in planned.space.goals if goal.instant >= now)
    return replace(planned, space=replace(planned.space, alternatives=alternatives, goals=goals))


def known_as(expanded: Expanded, chains: Collection[str]) -> list[int]:
    """The groups of a memo that chains hold, whoever planned these."""
    memo = expanded.memo
    return [g for g in memo.groups if memo.linked(g) and chain_of(memo, g) in chains]


MORE = {"sales": as_bag([(50 + place, "c1", 7) for place in range(9)]), "returns": as_bag([(3, 1)])}


@pytest.mark.parametrize(
    "coming", [rounds(4), [BATCHES[0], MORE, BATCHES[1]]], ids=["added", "changed"]
)
def test_an_instant_that_was_added_or_changed_goes_on_from_what_is_stored(
    coming: list[Batch],
) -> None:
    first, costs = space(3)
    planned = maintenance(first, costs.price, lambda _: STATES)
    programs = emit("v", first, planned.space, planned.choice.plan)
    world = empty_world()
    run(programs, coming[:1], {1}, world)
    expanded, costs = space(len(coming), coming=coming)
    planned = from_instant(maintenance(expanded, costs.price, lambda _: STATES), 2)
    again = planned_again(planned, known_as(expanded, {*world.states, *world.bags}))
    assert costs_of(again) == (0, *costs_of(planned)[1:]), "it was to be loaded then, too"
    assert costs_of(again)[1] < costs_of(planned_again(planned, []))[1]
    again.choice.plan.check(again.space)
    programs = emit("v", expanded, again.space, again.choice.plan)
    assert sorted(programs) == list(range(2, len(coming) + 1))
    assert chains_read(programs[2]) == {*world.states, *world.bags}
    run(programs, coming, set(programs), world)


def weights(count: int) -> list[str]:
    return ["0.001"] * (count - 1) + ["1"]


@pytest.mark.parametrize(("was", "now"), [(2, 3), (3, 2)], ids=["longer", "shorter"])
def test_a_period_that_becomes_longer_or_shorter_goes_on_from_what_is_stored(
    was: int, now: int
) -> None:
    """The engine's way: what the first refresh has stored is read by the due one, whenever that is, or by one before it."""
    shapes = shapes_of(CHAIN)
    coming = batches(shapes, random.Random(2))  # noqa: S311
    days = Days(CHAIN, shapes, weights(was))
    days.refresh(coming[0])
    days.refresh(coming[1])
    stored = {*days.stored}
    assert stored
    days.weights = weights(now)
    plans = [days.refresh(batch) for batch in coming[2 : now + 1]]
    assert days.used == 1
    programs = [plan.program for plan in plans if plan.program is not None]
    assert plans[-1].program in programs
    assert stored <= {chain for program in programs for chain in chains_read(program)}


@pytest.mark.parametrize(("failed", "cost"), [(1, 19), (2, 13)])
def test_a_state_of_a_failed_run_is_done_without(failed: int, cost: int) -> None:
    """It has written its states, half of their rows, and has not committed."""
    expanded, costs = space(3)
    planned = maintenance(expanded, costs.price, lambda _: STATES)
    programs = emit("v", expanded, planned.space, planned.choice.plan)
    world = empty_world()
    run(programs, [*BATCHES[: failed - 1]], set(), world)
    committed = {*world.states, *world.bags}
    arrive(world, BATCHES[failed - 1])
    written = run_program(programs[failed], world).saved
    world.states |= {chain: saved.data[::2] for chain, saved in written.items()}
    planned = from_instant(planned, 2)
    again = planned_again(planned, known_as(expanded, committed))
    tempting = planned_again(planned, known_as(expanded, world.states))
    assert costs_of(again) == (0, cost, 18)
    assert costs_of(tempting)[1] < cost
    programs = emit("v", expanded, again.space, again.choice.plan)
    assert chains_read(programs[2]) == committed
    if failed == 1:
        arrive(world, BATCHES[1])
    world.accept(run_program(programs[2], world))
    assert is_right(world)
    run(programs, rounds(3), {3}, world)

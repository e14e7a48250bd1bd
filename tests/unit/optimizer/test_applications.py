"""Maintenance in rounds, progressive days, and planning again with what is stored."""

from __future__ import annotations

import pytest

from slacktide.optimizer.applications import maintenance, planned_again, progressive
from slacktide.optimizer.choice.plan import Load, Run
from slacktide.optimizer.emission import emit
from slacktide.optimizer.expand import METHODS, Expanded, Problem, expand
from slacktide.optimizer.memo.trait import SetSnap, ValSnap
from slacktide.optimizer.memo.versions import moved, realised
from slacktide.optimizer.methods.holding import Held
from slacktide.program.operator import Program
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.relations import evaluate
from tests.harness.memory import MemorySource, MemoryWorld, as_bag, same_bag
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

pytestmark = pytest.mark.unit
ROUNDS = 6
STATES = (1, 1)


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


def space(count: int, *, append_only: bool = False) -> tuple[Expanded, TupleCosts]:
    kept = frozenset(TABLES) if append_only else frozenset()
    problem = Problem(SUMMARY, TABLES, count, append_only=kept)
    expanded = expand(problem, methods=METHODS)
    return expanded, TupleCosts(Filled(expanded, TABLES, (SALES, RETURNS), rounds(count)))


def run(programs: dict[int, Program], batches: list[Batch], due: set[int]) -> None:
    world = MemoryWorld({shape.name: MemorySource(shape.names) for shape in (SALES, RETURNS)})
    for instant, batch in enumerate(batches, 1):
        world.start = world.versions()
        for name, source in world.sources.items():
            source.arrivals.append(list(batch.get(name, [])))
        world.end = world.versions()
        if instant in programs:
            world.accept(run_program(programs[instant], world))
        if instant in due:
            assert same_bag(world.answers["v"], as_bag(evaluate(SUMMARY, world.tables())))


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
    for node in loaded:
        for tvr, trait in expanded.memo.linked(node):
            if isinstance(trait, SetSnap | ValSnap) and realised(trait.version) == 2:
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


def test_what_is_stored_costs_no_more_than_loading() -> None:
    expanded, costs = space(3)
    planned = maintenance(expanded, costs.price, lambda _: STATES)
    lives = planned.choice.plan.lifespans()
    assert lives
    again = planned_again(planned, [life.node for life in lives if life.saved_at == 1])
    assert again.choice.key < planned.choice.key
    again.choice.plan.check(again.space)
    assert planned_again(planned, []).choice.key == planned.choice.key

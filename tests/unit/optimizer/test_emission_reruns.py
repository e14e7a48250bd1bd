"""A run of a plan that is killed and tried again leaves what the undisturbed one leaves."""

from __future__ import annotations

import copy

import pytest

from slacktide.optimizer.periods.applications import maintenance, progressive
from slacktide.optimizer.periods.emission import emit
from slacktide.program import operator as o
from slacktide.program.chains import chains_read
from slacktide.program.operator import Program
from slacktide.program.reference.programs import run_program
from tests.harness.memory import MemorySource, MemoryWorld
from tests.harness.planner.summary import RETURNS, SALES
from tests.unit.optimizer.test_applications import STATES, rounds, space

pytestmark = pytest.mark.unit
INSTANTS = 4


def programs_of(kind: str) -> dict[int, Program]:
    expanded, costs = space(INSTANTS, append_only=kind == "progressive")
    if kind == "maintenance":
        planned = maintenance(expanded, costs.price, lambda _: STATES)
    else:
        planned = progressive(expanded, ["0.1", "0.2", "0.3", 1], costs.price, lambda _: (0, 0))
    return emit("v", expanded, planned.space, planned.choice.plan)


def arrive(world: MemoryWorld, instant: int) -> None:
    world.start = world.versions()
    batch = rounds(INSTANTS)[instant - 1]
    for name, source in world.sources.items():
        source.arrivals.append(list(batch.get(name, [])))
    world.end = world.versions()


def left(world: MemoryWorld) -> tuple[object, ...]:
    return tuple(copy.deepcopy(part) for part in (world.bags, world.states, world.answers))


@pytest.mark.parametrize("kind", ["maintenance", "progressive"])
def test_each_instant_is_one_program_that_may_be_run_again(kind: str) -> None:
    """Killed after any of its steps, and once more after it has committed: state and answer are the same."""
    programs = programs_of(kind)
    assert len(programs) > 1
    world = MemoryWorld({shape.name: MemorySource(shape.names) for shape in (SALES, RETURNS)})
    for instant in range(1, INSTANTS + 1):
        arrive(world, instant)
        if instant not in programs:
            continue
        program = programs[instant]
        undisturbed = run_program(program, world)
        for steps in range(1, len(program.steps)):
            before = left(world)
            run_program(Program(program.steps[:steps]), world)
            assert left(world) == before, "nothing is there before the commit"
            assert run_program(program, world) == undisturbed
        world.accept(undisturbed)
        once = left(world)
        world.accept(run_program(program, world))
        assert left(world) == once


@pytest.mark.parametrize("kind", ["maintenance", "progressive"])
def test_no_run_reads_what_it_writes(kind: str) -> None:
    """Why it may be run again: a state has its version in its name, and is written whole."""
    for program in programs_of(kind).values():
        saved = {step.chain for step in program.steps if isinstance(step, o.Save)}
        stored = chains_read(program)
        assert saved.isdisjoint(stored)
        assert all(step.is_base for step in program.steps if isinstance(step, o.Save | o.Publish))

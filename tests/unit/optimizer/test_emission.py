"""Chosen plans run: instant after instant, through what they save, to the answers of batch."""

from __future__ import annotations

import random

import hypothesis
import pytest
from hypothesis import strategies as st

from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import to_text
from slacktide.algebra.tree import sources
from slacktide.common.tree import of_type
from slacktide.optimizer.choice.choosing import choose
from slacktide.optimizer.choice.objective import LastFirst, Objective, total, weighted
from slacktide.optimizer.expand import METHODS, Problem, expand
from slacktide.optimizer.periods.emission import emit
from slacktide.optimizer.periods.plan_space import space_of
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.rule_parts.bag_aggregate import aggregate_by_multiplicity
from slacktide.program.operator import Evaluate, Save
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.relations import evaluate
from tests.harness.histories import next_changes, shapes_of
from tests.harness.memory import MemorySource, MemoryWorld, as_bag, same_bag
from tests.harness.planner.keyed import history, random_tree
from tests.harness.planner.summary import BATCHES, RETURNS, SALES, SUMMARY
from tests.harness.plans import Case, SourceShape, cases
from tests.unit.optimizer.methods.test_higher_order import CHAIN, STAR

pytestmark = pytest.mark.unit
VIEW = "v"


def played(
    relation: Rel,
    shapes: tuple[SourceShape, ...],
    batches: list,
    objective: Objective,
    source: random.Random,
    **declared: object,
) -> int:
    """Plan with random prices, run every program, compare each answer; how many states were saved."""
    instants = len(batches)
    problem = Problem(relation, sources(relation), instants, **declared)  # type: ignore[arg-type]
    expanded = expand(problem, methods=METHODS)
    due = sorted({instants, source.randint(1, instants)})
    prices: dict[bytes, int] = {}
    space = space_of(
        expanded,
        due,
        lambda flat: prices.setdefault(flat.digest, source.randint(0, 50)),
        lambda _: (source.randint(0, 10), source.randint(0, 5)),
    )
    plan = choose(space, objective).plan
    plan.check(space)
    programs = emit(VIEW, expanded, space, plan)
    assert set(programs) <= set(range(1, instants + 1)), "between two instants nothing runs"
    assert {len(one.costs) for found in space.alternatives.values() for one in found} == {instants}
    evaluated = [one for program in programs.values() for one in of_type(program, Evaluate)]
    assert not any(map(aggregate_by_multiplicity, evaluated)), "rows are counted out for a sum"
    world = MemoryWorld({shape.name: MemorySource(shape.names) for shape in shapes})
    saved = 0
    for instant, batch in enumerate(batches, 1):
        world.start = world.versions()
        for name, found in world.sources.items():
            found.arrivals.append(list(batch.get(name, [])))
        world.end = world.versions()
        if instant not in programs:
            continue
        saved += sum(isinstance(step, Save) for step in programs[instant].steps)
        world.accept(run_program(programs[instant], world))
        if instant in due:
            expected = as_bag(evaluate(relation, world.tables()))
            assert same_bag(world.answers[VIEW], expected), to_text(relation)
    return saved


def objectives(instants: int) -> tuple[Objective, ...]:
    return total(instants), weighted(["0.3"] * (instants - 1) + [1]), LastFirst(instants)


@hypothesis.settings(
    max_examples=30, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
@hypothesis.given(case=cases(batches=4, is_exact=True), seed=st.integers(0, 1000))
def test_random_views(case: Case, seed: int) -> None:
    analysis = Maintainability(case.relation)
    hypothesis.assume(not analysis.verdict())
    source = random.Random(seed)  # noqa: S311
    objective = source.choice(objectives(len(case.batches)))
    tables = frozenset(sources(analysis.root))
    played(analysis.root, case.sources, case.batches, objective, source, append_only=tables)


@pytest.mark.parametrize("seed", range(20))
def test_trees_of_outer_joins(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311
    relation, shapes = random_tree(source, source.randint(2, 3))
    keys = {shape.name: ("k",) for shape in shapes}
    batches = history(source, shapes, 3)
    played(relation, shapes, batches, source.choice(objectives(3)), source, keys=keys)


@pytest.mark.parametrize("relation", [CHAIN, STAR], ids=["chain", "star"])
@pytest.mark.parametrize("seed", range(8))
def test_virtual_versions_belong_to_no_run(relation: Rel, seed: int) -> None:
    """Views of higher order are asked for between two instants, and are computed at the later one."""
    source = random.Random(seed)  # noqa: S311
    shapes = shapes_of(relation)
    present: dict[str, list] = {shape.name: [] for shape in shapes}
    batches = [
        {shape.name: next_changes(source, shape, present[shape.name]) for shape in shapes}
        for _ in range(3)
    ]
    played(relation, shapes, batches, source.choice(objectives(3)), source)


def test_the_running_example_is_carried_by_states() -> None:
    saved = 0
    for seed in range(12):
        saved += played(
            SUMMARY,
            (SALES, RETURNS),
            list(BATCHES),
            LastFirst(2),
            random.Random(seed),  # noqa: S311
            append_only=frozenset({"sales", "returns"}),
        )
    assert saved > 0

"""Rounds of maintenance: ten in a row from states that grow, each equal to batch."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from slacktide.algebra.relation import Rel
from slacktide.algebra.tree import sources
from slacktide.common.node import Node
from slacktide.common.tree import of_type
from slacktide.optimizer.costs.memo import MemoCosts
from slacktide.optimizer.expand import METHODS, Problem, expand
from slacktide.optimizer.periods.applications import maintenance
from slacktide.optimizer.periods.rounds import Rounds, worth_keeping
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import maintain
from slacktide.optimizer.statistics import ChangeFacts, Figure, SourceFacts, Statistics
from slacktide.program import operator as o
from slacktide.program.chains import chains_read
from slacktide.program.operator import Operator, Program, operator_inputs
from slacktide.program.reference.bags import Bag
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.relations import evaluate
from tests.harness.histories import next_changes, shapes_of
from tests.harness.memory import MemorySource, MemoryWorld, as_bag, same_bag
from tests.harness.planner.keyed import history, random_tree
from tests.harness.planner.summary import SUMMARY
from tests.harness.plans import SourceShape
from tests.unit.optimizer.methods.test_higher_order import CHAIN, STAR
from tests.unit.optimizer.views import SUMMED

pytestmark = pytest.mark.unit
VIEW, ROUNDS = "v", 10


def statistics(names: tuple[str, ...], share: float, rows: float = 10_000_000) -> Statistics:
    """Large tables of which a share changes in each round."""
    change = ChangeFacts(Figure(2 * rows * share), deleted=Figure(rows * share))
    return Statistics(dict.fromkeys(names, SourceFacts(Figure(rows), changes=(change,))))


def rounds(
    relation: Rel, share: float, methods: frozenset[str] = METHODS, **declared: object
) -> Rounds:
    names = sources(relation)
    problem = Problem(relation, names, 2, **declared)  # type: ignore[arg-type]
    expanded = expand(problem, methods=methods)
    costs = MemoCosts(expanded.memo, statistics(names, share))
    planned = maintenance(expanded, costs.price, costs.carrying)
    return Rounds(
        VIEW,
        expanded,
        worth_keeping(expanded, planned, {}),
        price=costs.price,
        carrying=costs.carrying,
    )


def played(
    relation: Rel, shapes: tuple[SourceShape, ...], batches: list[dict[str, Bag]], planned: Rounds
) -> list[tuple[Program, Bag]]:
    """The first round makes all anew, the others go on; each answer is compared."""
    world = MemoryWorld({shape.name: MemorySource(shape.names) for shape in shapes})
    found = []
    for number, batch in enumerate(batches):
        world.start = world.versions()
        for name, source in world.sources.items():
            source.arrivals.append(list(batch.get(name, [])))
        world.end = world.versions()
        program = (planned.onward() if number else planned.anew()).program
        world.accept(run_program(program, world))
        expected = as_bag(evaluate(relation, world.tables()))
        assert same_bag(world.answers[VIEW], expected), f"round {number}"
        found.append((program, expected))
    return found


def changed(found: list[tuple[Program, Bag]]) -> int:
    """How many rounds gave another answer than the one before."""
    return sum(not same_bag(one, other) for (_, one), (_, other) in pairwise(found))


def batches(shapes: tuple[SourceShape, ...], source: random.Random) -> list[dict[str, Bag]]:
    """Some rows to begin with, then few that come and go."""
    present = {
        shape.name: [shape.row(source.randrange(4**6)) for _ in range(12)] for shape in shapes
    }
    start = {name: as_bag(rows) for name, rows in present.items()}
    later = (
        {shape.name: next_changes(source, shape, present[shape.name]) for shape in shapes}
        for _ in range(ROUNDS - 1)
    )
    return [start, *later]


TABLE = (o.ReadSnapshot, o.Select, o.Map)


def is_bounded(operator: Operator) -> bool:
    """Whether an operator has no rows where no source has changed."""
    match operator:
        case o.ReadChanges() | o.ReadSaved():
            return True
        case o.JoinBags():
            return is_bounded(operator.left) or is_bounded(operator.right)
        case o.SemiBags():
            return is_bounded(operator.left)
        case o.Flips():
            return is_bounded(operator.child)
        case o.Touched():
            return is_bounded(operator.child) or is_bounded(operator.by)
        case _:
            below = list(operator_inputs(operator))
            return bool(below) and all(map(is_bounded, below))


def made_of_whole_sources(program: Program) -> set[str]:
    """What is joined, summed up, saved or published of sources as they are, and not of what meets a change."""
    found = {
        made.tag
        for made in of_type(program, Operator)
        if reads_sources(made) and not is_bounded(made) and not is_table(made)
    }
    stored = (step for step in program.steps if reads_sources(step))
    return found | {step.tag for step in stored if not is_bounded(step.child)}


def reads_sources(node: Node) -> bool:
    return any(True for _ in of_type(node, o.ReadSnapshot))


def is_table(operator: Operator) -> bool:
    return all(isinstance(part, TABLE) for part in of_type(operator, Operator))


def saved(program: Program) -> set[str]:
    return {step.chain for step in of_type(program, o.Save)}


VIEWS = {"summary": SUMMARY, "chain": CHAIN, "star": STAR}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("share", [0.0001, 0.01])
def test_ten_rounds_without_recomputation(name: str, share: float) -> None:
    relation = VIEWS[name]
    shapes = shapes_of(relation)
    planned = rounds(relation, share)
    found = played(relation, shapes, batches(shapes, random.Random(7)), planned)  # noqa: S311
    (first, _), *later = found
    assert len(later) == ROUNDS - 1
    assert {"save", "publish"} < made_of_whole_sources(first)
    for program, _ in later:
        assert made_of_whole_sources(program) == set()
        assert saved(program) == saved(first)
        assert saved(program) <= chains_read(program), "each goes on from what it was"
        assert not any(save.is_base for save in of_type(program, o.Save))
    assert changed(found) >= ROUNDS - 2


@pytest.mark.parametrize("seed", range(12))
def test_ten_rounds_of_trees_of_outer_joins(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311
    relation, shapes = random_tree(source, source.randint(2, 3))
    keys = {shape.name: ("k",) for shape in shapes}
    planned = rounds(relation, source.choice((0.0001, 0.01)), keys=keys)
    found = played(relation, shapes, history(source, shapes, ROUNDS), planned)
    assert len(found) == ROUNDS
    assert changed(found) >= ROUNDS // 2
    for program, _ in found[1:]:
        assert not any(
            step.is_base for step in program.steps if isinstance(step, o.Save | o.Publish)
        )


def test_a_state_grows_by_segments() -> None:
    program = rounds(SUMMED, 0.0001).onward().program
    saves = [step for step in program.steps if isinstance(step, o.Save)]
    assert saves
    assert not any(save.is_base for save in saves)
    (publish,) = [step for step in program.steps if isinstance(step, o.Publish)]
    assert not publish.is_base


def test_a_large_change_makes_all_anew_and_a_small_one_goes_on() -> None:
    small, large = rounds(SUMMED, 0.0001), rounds(SUMMED, 3.0)
    assert 7 * small.onward().key[0] < small.anew().key[0]
    assert large.anew().key < large.onward().key
    assert not any(True for _ in of_type(large.anew().program, o.ReadChanges))


def test_states_have_the_ids_of_the_engine() -> None:
    """What the planner of today keeps for an aggregate is what a round extends, where it is not aggregated early."""
    analysis = Maintainability(SUMMED)
    today = maintain(VIEW, analysis, frozenset(sources(SUMMED))).program
    known = {step.chain for step in today.steps if isinstance(step, o.Save)}
    methods = METHODS - {"aggregate early"}
    program = rounds(analysis.root, 0.0001, methods).onward().program
    assert known & {step.chain for step in program.steps if isinstance(step, o.Save)}

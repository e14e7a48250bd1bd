"""What is left of a program without its empty parts gives the same rows."""

from __future__ import annotations

import random

from slacktide.algebra.tree import sources
from slacktide.common.tree import of_type
from slacktide.program import operator as o
from slacktide.program.origin import is_row_by_row
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.world import Outcome
from slacktide.spark.tasks.emptiness import Asked, without_empty
from tests.harness.maintained import VIEW, Maintained
from tests.harness.memory import same_bag
from tests.harness.plans import Case
from tests.harness.referring import FOREIGN_KEYS, SHAPES, Joins, Rows, next_batch

SEEDS = range(120)


def left(program: o.Program, maintained: Maintained) -> o.Program:
    """The program without those parts that give no rows."""

    def is_empty(operator: Asked) -> bool:
        if isinstance(operator, o.Consolidate) and not is_row_by_row(operator):
            return False
        step = o.Save("states/asked", operator, is_base=True)
        saved = run_program(o.Program((step,)), maintained.world).saved
        return not saved["states/asked"].data

    steps: list[o.Step] = []
    for step in program.steps:
        child = without_empty(step.child, is_empty)
        assert child.columns == step.child.columns
        if isinstance(step, o.Save):
            steps.append(o.Save(step.chain, child, step.is_base, step.order))
        elif isinstance(step, o.Publish):
            steps.append(o.Publish(step.view, child, step.is_base))
    return o.Program(tuple(steps))


def same(one: Outcome, other: Outcome) -> bool:
    assert one.saved.keys() == other.saved.keys()
    return all(
        saved.is_state or same_bag(saved.data, other.saved[chain].data)
        for chain, saved in one.saved.items()
    ) and same_bag(one.published[VIEW].changes, other.published[VIEW].changes)


def test_the_same_without_what_is_empty() -> None:
    shorter = 0
    for seed in SEEDS:
        source = random.Random(seed)  # noqa: S311
        relation = Joins(source).relation()
        shapes = tuple(SHAPES[name] for name in sources(relation))
        maintained = Maintained(Case(relation, shapes), foreign_keys=frozenset(FOREIGN_KEYS))
        present: Rows = {}
        for _ in range(3):
            batch = next_batch(source, present)
            maintained.arrive({shape.name: batch[shape.name] for shape in shapes})
            plan = maintained.plan()
            if plan.program is not None and plan.method == "incremental":
                maintained.world.start, maintained.world.end = plan.start, plan.end
                less = left(plan.program, maintained)
                whole = run_program(plan.program, maintained.world)
                assert same(run_program(less, maintained.world), whole), seed
                shorter += less != plan.program
            maintained.compare(plan)
    assert shorter > len(SEEDS) // 4


def test_nothing_is_looked_at_where_no_change_is_split() -> None:
    read = o.ReadChanges("l", ())
    assert without_empty(read, lambda _: True) is read
    split = o.ByBalance(read, (), "kept")
    assert without_empty(split, lambda _: False) is split
    assert without_empty(split, lambda _: True) == o.nothing(())
    assert not any(of_type(without_empty(o.Negate(split), lambda _: True), o.ReadChanges))

"""Rows of facts that are kept whatever they meet: a change of them is no larger for the tables that they are joined to."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.relation import JoinKind
from slacktide.algebra.view import ReadView
from slacktide.optimizer.programs.maintenance import maintain, rebuild
from slacktide.optimizer.programs.upkeep import analysis_of
from slacktide.program import operator as o
from slacktide.program.reference.operators import OPERATORS
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.relations import evaluate
from slacktide.program.reference.steps import StepRun
from slacktide.program.reference.world import Outcome, Saved
from tests.harness.memory import MemorySource, MemoryWorld, as_bag, same_bag

pytestmark = pytest.mark.unit
TABLES, COME, KEYS = 4, 8, 20


def column(number: int) -> s.Column:
    return s.Column(number, f"x{number % 10}", "INT", nullable=True)


def scan(source: str, first: int, count: int) -> r.Scan:
    return r.Scan(source, tuple(column(first + place) for place in range(count)))


def star(kind: JoinKind) -> r.Rel:
    """Facts with their number and a key of each of some tables, joined to these one after another."""
    rel: r.Rel = scan("facts", 10, TABLES + 1)
    for number in range(1, TABLES + 1):
        table = scan(f"t{number}", 10 * (number + 1), 2)
        own, other = s.reference(column(10 + number)), s.reference(table.columns[0])
        marker = s.Column(100 + number, "m", "BOOLEAN", nullable=False)
        same = s.Call("=", (own, other), "BOOLEAN", nullable=True)
        rel = r.Join(rel, table, kind, same, marker if kind == "existence" else None)
    return rel


@pytest.mark.parametrize("changed", [["facts"], ["facts", "t1"], ["facts", "t1", f"t{TABLES}"]])
@pytest.mark.parametrize("kind", ["left", "existence", "anti"])
def test_a_row_that_comes_is_one_row_before_changes_are_added_up(
    kind: JoinKind, changed: list[str]
) -> None:
    rel = star(kind)
    view = ReadView(
        relation=rel, outputs=rel.columns, sources=tuple(sorted(world_of(kind).sources))
    )
    analysis, world = analysis_of(view), world_of(kind)
    assert analysis is not None
    world.views, world.end = {"v": rel}, dict.fromkeys(world.sources, 1)
    world.accept(run_program(rebuild("v", analysis), world))
    world.start, world.end = world.end, dict.fromkeys(world.sources, 2)
    program = maintain("v", analysis, frozenset(changed)).program
    publish, outcome = program.steps[-1].child, Outcome()
    assert isinstance(publish, o.Consolidate)
    for save in program.steps[:-1]:
        assert isinstance(save, o.Save)
        made, run = save.child, StepRun(world, outcome, OPERATORS)
        run.compute(made)
        outcome.saved[save.chain] = Saved(made.columns, run.any(made), made.is_state, save.is_base)
    run = StepRun(world, outcome, OPERATORS)
    run.compute(publish)
    assert len(run.any(publish.child)) == COME
    world.accept(run_program(program, world))
    assert same_bag(world.answers["v"], as_bag(evaluate(rel, world.tables())))


def world_of(kind: JoinKind) -> MemoryWorld:
    """Facts, of which some come; of the tables an anti join meets no row, the other joins one of each but the last."""
    away = KEYS if kind == "anti" else 0
    last = {f"t{TABLES}": KEYS}
    tables = {
        f"t{number}": MemorySource(
            ("x0", "x1"),
            [
                [((key + last.get(f"t{number}", away), key), 1) for key in range(KEYS)],
                [((-1, 0), 1)],
            ],
        )
        for number in range(1, TABLES + 1)
    }
    rows = [((number, *[number % KEYS] * TABLES), 1) for number in range(KEYS + COME)]
    names = tuple(f"x{place}" for place in range(TABLES + 1))
    return MemoryWorld({"facts": MemorySource(names, [rows[:KEYS], rows[KEYS:]]), **tables})

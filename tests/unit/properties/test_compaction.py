"""What is compacted in every run means what it would mean if it never were."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from slacktide.algebra.textual import from_text
from slacktide.common.tree import graft, of_type
from slacktide.errors import DataError
from slacktide.optimizer.compaction import extended, merge_program
from slacktide.optimizer.plan import ViewPlan
from slacktide.program import operator as o
from slacktide.program.reference.programs import run_program
from tests.harness.histories import next_changes, shapes_of
from tests.harness.maintained import Maintained
from tests.harness.plans import Case
from tests.harness.rule_cases import JOINS, RELATIONS

TEXTS = RELATIONS | JOINS
BATCHES = 8
Broken = Callable[[o.Program], o.Program]


def from_the_next(program: o.Program) -> o.Program:
    """The oldest piece is forgotten."""
    read = next(of_type(program, o.ReadSegments))
    later = o.ReadSegments(read.chain, read.fields, read.first + 1, is_bag=read.is_bag)
    return graft(program, {read.digest: later})


def turned(program: o.Program) -> o.Program:
    """Deletes as inserts."""
    rows = next(of_type(program, o.Consolidate))
    return graft(program, {rows.child.digest: o.Negate(rows.child)})


class Badly(Maintained):
    """Compacts by programs that are not right."""

    break_it: Broken

    def _merges(self, plan: ViewPlan) -> Iterator[o.Program]:
        return map(self.break_it, super()._merges(plan))


def whole(maintained: Maintained, plan: ViewPlan) -> dict[str, list[str]]:
    """The rows of all chains to which a run appends, each once."""
    merged = {
        chain: run_program(merge_program(chain, 0, written), maintained.world).merged[chain].data
        for chain, written in extended(plan).items()
        if chain in maintained.world.starts
    }
    return {chain: sorted(map(repr, rows)) for chain, rows in merged.items()}


def play(text: str, seed: int, *others: Maintained) -> None:
    """Let the same changes come to all, and compare all that they keep."""
    source = random.Random(seed)  # noqa: S311
    shapes = shapes_of(from_text(text))
    present: dict[str, list] = {shape.name: [] for shape in shapes}
    for _ in range(BATCHES):
        batch = {shape.name: next_changes(source, shape, present[shape.name]) for shape in shapes}
        found = []
        for maintained in others:
            maintained.arrive(batch)
            found.append(whole(maintained, maintained.refresh()))
        assert found[1:] == found[:-1]


def case_of(text: str) -> Case:
    return Case(from_text(text), shapes_of(from_text(text)))


@pytest.mark.parametrize("name", TEXTS)
def test_states_and_answers_are_those_that_grew(name: str) -> None:
    for seed in range(5):
        cases = [Maintained(case_of(TEXTS[name]), keep=keep) for keep in (None, 0, 1)]
        play(TEXTS[name], seed, *cases)


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("maintain_aggregate", from_the_next),
        ("recompute_touched_partitions", from_the_next),
        ("recompute_touched_partitions", turned),
    ],
    ids=["a piece of a state", "a piece of a bag", "turned"],
)
def test_a_compaction_that_is_not_right_is_caught(name: str, broken: Broken) -> None:
    kind = type("Broken", (Badly,), {"break_it": staticmethod(broken)})
    case = case_of(TEXTS[name])
    assert any(_differs(TEXTS[name], s, Maintained(case), kind(case, keep=0)) for s in range(20))


def _differs(text: str, seed: int, *others: Maintained) -> bool:
    try:
        play(text, seed, *others)
    except (AssertionError, DataError):
        return True
    return False

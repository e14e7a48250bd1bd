"""Every sign in every rule matters: turned on purpose, it is caught by comparison with batch."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.textual import from_text
from slacktide.common.node import Node
from slacktide.common.tree import graft, of_type
from slacktide.errors import DataError
from slacktide.optimizer import first
from slacktide.optimizer.rules import RULES
from slacktide.program import operator as o
from slacktide.program.reference.bags import Bag
from tests.harness.histories import next_changes, shapes_of
from tests.harness.maintained import Maintained
from tests.harness.plans import Case

LEFT = "scan l [k#1:INT, g#2:STRING, v#3:INT]"
RIGHT = "scan r [k#4:INT, w#5:INT]"
SEEDS = range(40)
BATCHES = 4

RELATIONS = {
    "read_changes_of_scan": LEFT,
    "filter_changes": f"filter (#3 > 0)\n  {LEFT}",
    "project_changes": f"project [#1]\n  {LEFT}",
    "add_changes_of_union": f"union 2 [k#9:INT]\n  project [#1]\n    {LEFT}\n  project [#4]\n    {RIGHT}",
    "expand_changes": f"expand [k#8:INT, id#10:INT!] [#1, 0] [#1, 1]\n  {LEFT}",
    "generate_from_changes": (
        'generate outer explode(#2):"ARRAY<STRUCT<col: INT>>" keep=[#1] [c8#8:INT]\n'
        '  scan a [k#1:INT, list#2:"ARRAY<INT>"]'
    ),
    "forget_order": f"sort [#1 asc nulls first]\n  {LEFT}",
    "maintain_aggregate": f"aggregate key=[#2] [n#8 := count(), s#9 := sum(#3)]\n  {LEFT}",
    "recompute_touched_groups": f"aggregate key=[#2] [m#8 := max(#3)]\n  {LEFT}",
    "recompute_touched_partitions": (
        "window key=[#2:STRING] order=[#3 desc nulls last, #1 asc nulls last]"
        f' [n#9:INT! := rank():INT! over ""]\n  {LEFT}'
    ),
    "recompute_limit": (
        "limit 2 offset 0\n  sort [#3 desc nulls last, #1 asc nulls first, #2 asc nulls first]\n"
        f"    {LEFT}"
    ),
}
JOINS = {
    f"{rule}, {kind} on {condition}": f"join {kind}{marker} on {condition}\n  {LEFT}\n  {RIGHT}"
    for rule, kind, marker in (
        ("split_delta_of_join", "inner", ""),
        ("pad_lonely_rows", "left", ""),
        ("pad_lonely_rows", "right", ""),
        ("pad_lonely_rows", "full", ""),
        ("retest_touched_rows", "semi", ""),
        ("retest_touched_rows", "anti", ""),
        ("mark_met_rows", "existence", " e#9:BOOLEAN!"),
    )
    for condition in ("(#1 = #4)", "((#1 = #4) and not((#3 = #5)))", "(#1 < #4)")
}
CASES = {**RELATIONS, **JOINS}
# Where foreign keys hold, in histories that keep them.
ELSEWHERE = {"go_along_foreign_key": "test_foreign_key_mutations"}


def test_every_rule_is_here() -> None:
    assert {name.partition(",")[0] for name in CASES} == {
        rule.name for rule in RULES if rule.name not in ELSEWHERE
    }


def mutants(program: o.Program) -> list[o.Program]:
    """The program with one sign turned, for every sign that a rule has set or left.

    Where rules set none, the changes themselves are turned. What only says which keys are touched
    has no sign that matters.
    """
    operators = list(dict.fromkeys(op for step in program.steps for op in _signed(step.child)))
    found = [
        graft(program, {negated.digest: negated.child})
        for negated in operators
        if isinstance(negated, o.Negate)
    ]
    for added in (operator for operator in operators if isinstance(operator, o.Add)):
        for place, child in enumerate(added.children):
            if not child.is_state:
                found.append(graft(program, {added.digest: _turned(added, place)}))
    reads = of_type(program, o.ReadChanges)
    return found or [graft(program, {read.digest: o.Negate(read)}) for read in reads]


def _signed(operator: o.Operator) -> Iterator[o.Operator]:
    """An operator and what it stands on, without what gives keys alone."""
    yield operator
    below = (operator.child,) if isinstance(operator, o.Touched) else o.operator_inputs(operator)
    for child in below:
        yield from _signed(child)


def _turned(operator: o.Add, place: int) -> Node:
    children = list(operator.children)
    children[place] = o.Negate(children[place])
    return o.Add(tuple(children), operator.fields)


def number_of_mutants(relation: r.Rel) -> int:
    maintained = Maintained(Case(relation, shapes_of(relation)))
    nothing: dict[str, Bag] = {shape.name: [] for shape in shapes_of(relation)}
    maintained.arrive(nothing)
    maintained.refresh()
    maintained.arrive(nothing)
    program = maintained.plan().program
    assert program is not None
    return len(mutants(program))


def is_caught(relation: r.Rel, number: int) -> bool:
    """Whether some history tells the mutant from the true program."""
    return any(_fails(relation, number, seed) for seed in SEEDS)


def _fails(relation: r.Rel, number: int, seed: int) -> bool:
    shapes = shapes_of(relation)
    source = random.Random(seed)  # noqa: S311
    maintained = Maintained(Case(relation, shapes))
    present: dict[str, list] = {shape.name: [] for shape in shapes}
    for batch in range(BATCHES):
        maintained.arrive({s.name: next_changes(source, s, present[s.name]) for s in shapes})
        plan = maintained.plan()
        if batch and plan.program is not None:
            plan = replace(plan, program=mutants(plan.program)[number])
        try:
            maintained.compare(plan)
        except (AssertionError, DataError):
            return True
    return False


@pytest.mark.parametrize("name", CASES)
def test_a_turned_sign_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first, "FEWEST_KEPT", 1)  # so that few rows have a fence
    relation = from_text(CASES[name] + "\n")
    count = number_of_mutants(relation)
    assert count
    survived = [number for number in range(count) if not is_caught(relation, number)]
    assert not survived

"""Every sign in every rule matters: turned on purpose, it is caught by comparison with batch.

That the true programs pass the same histories, and longer ones, is what `test_delta_rules` shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from slacktide.common.node import Node
from slacktide.common.tree import graft, of_type
from slacktide.errors import DataError
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.rule_parts import first
from slacktide.program import operator as o
from tests.harness.rule_cases import CASES, SEEDS, RuleCase, as_of

Turned = Callable[[o.Program], list[o.Program]]
BATCHES = 6


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


def survivors(case: RuleCase, turned: Turned = mutants) -> list[int]:
    """The mutants that no history tells from the true program, which passes them all."""
    build, extend = case.plans()
    assert extend.program is not None
    wrong = turned(extend.program)
    assert wrong
    return [
        number
        for number, program in enumerate(wrong)
        if not any(_fails(case, seed, build, replace(extend, program=program)) for seed in SEEDS)
    ]


def _fails(case: RuleCase, seed: int, build: ViewPlan, extend: ViewPlan) -> bool:
    for batch, (maintained, _) in enumerate(case.played(seed, BATCHES)):
        try:
            maintained.compare(as_of(extend if batch else build, maintained))
        except (AssertionError, DataError):
            return True
    return False


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.foreign_keys])
def test_a_turned_sign_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first, "FEWEST_KEPT", 1)  # so that few rows have a fence
    assert not survivors(CASES[name])

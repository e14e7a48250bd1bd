"""Each delta rule by itself: what it gives is what two batch evaluations differ by.

Every instance is a run of a program that the rule took part in, over random rows, NULLs and rows that
are there twice among them, and a random change of these; answer and change are compared with batch.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs import derivation
from slacktide.optimizer.rule_parts import first
from slacktide.optimizer.rule_parts.rule import DeltaRule
from slacktide.optimizer.rules import RULES
from slacktide.program.reference.bags import consolidate
from tests.harness.maintained import VIEW
from tests.harness.memory import same_bag
from tests.harness.rule_cases import CASES, SEEDS, Rows, RuleCase, as_of
from tests.unit.properties.test_mutations import BATCHES

INSTANCES = 1000
MOST_HISTORIES = 1000


def test_every_rule_is_here() -> None:
    assert {case.rule for case in CASES.values()} == {rule.name for rule in RULES}


def noted(rule: DeltaRule[Any], fired: set[str]) -> DeltaRule[Any]:
    """The rule; it says its name when it gives a change."""

    def delta(rel: Any, context: Any) -> Any:
        change = rule.delta(rel, context)
        if change is not None:
            fired.add(rule.name)
        return change

    return replace(rule, delta=delta)


def planned(case: RuleCase, monkeypatch: pytest.MonkeyPatch) -> tuple[ViewPlan, ViewPlan]:
    """The plans of a case, to whose later runs its rule gives the change."""
    fired: set[str] = set()
    by_node = {
        node: [noted(rule, fired) for rule in rules] for node, rules in derivation._BY_NODE.items()
    }
    with monkeypatch.context() as patch:
        patch.setattr(derivation, "_BY_NODE", by_node)
        plans = case.plans()
    assert case.rule in fired
    assert plans[1].method == "incremental"
    return plans


def has_nulls_and_twins(rows: Rows) -> bool:
    twins = any(max(Counter(map(repr, found)).values(), default=0) > 1 for found in rows.values())
    return twins and any(None in row for found in rows.values() for row in found)


def proven(case: RuleCase, seed: int, plans: tuple[ViewPlan, ViewPlan]) -> Counter[str]:
    """Compare with batch after every change of a history; count the instances, and those that move the answer."""
    build, extend = plans
    counted: Counter[str] = Counter()
    for batch, (maintained, rows) in enumerate(case.played(seed, BATCHES)):
        before = consolidate(maintained.world.answers.get(VIEW, []))
        maintained.compare(as_of(extend if batch else build, maintained))
        if batch and has_nulls_and_twins(rows):
            counted["instances"] += 1
            counted["moved"] += not same_bag(before, maintained.world.answers[VIEW])
    return counted


@pytest.mark.parametrize("rule", [rule.name for rule in RULES])
def test_a_rule_gives_what_batch_gives(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All histories that tell a wrong program from a right one, and as many more as it takes."""
    monkeypatch.setattr(first, "FEWEST_KEPT", 1)  # so that few rows have a fence
    cases = [case for case in CASES.values() if case.rule == rule]
    plans = [planned(case, monkeypatch) for case in cases]
    counted: Counter[str] = Counter()
    for seed in range(MOST_HISTORIES):
        for case, both in zip(cases, plans, strict=True):
            counted += proven(case, seed, both)
        if counted["instances"] >= INSTANCES and seed + 1 >= len(SEEDS):
            break
    assert counted["instances"] >= INSTANCES
    assert counted["moved"] >= INSTANCES / 2


@pytest.mark.parametrize("name", CASES)
def test_every_later_run_has_the_same_program(name: str) -> None:
    """So that programs need not be derived anew for each instance."""
    _, extend = CASES[name].plans()
    for batch, (maintained, _) in enumerate(CASES[name].played(0, 3)):
        plan = maintained.refresh()
        assert not batch or plan.program == extend.program

"""Rules of users: where they come from, and that plans go by them."""

from __future__ import annotations

import random
from importlib.metadata import EntryPoint

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.textual import from_text
from slacktide.common.tree import of_type
from slacktide.engine.planning import user_rules as module
from slacktide.errors import SetupError
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding, Form
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.periods import planning
from slacktide.program import operator as o
from tests.harness.histories import next_changes, shapes_of
from tests.harness.planner.days import Days

HERE = "tests.unit.engine.test_user_rules"
VIEW = from_text(
    """
aggregate key=[k#6:INT := #1] [n#7:BIGINT! := count(), m#8:INT := max(#3)]
  filter (1000 >= #3)
    join inner on (#1 = #4)
      scan l [k#1:INT, g#2:INT, v#3:INT!]
      scan r [k#4:INT, w#5:INT]
"""
)


def is_known(predicate: s.Scalar) -> bool:
    """Whether a predicate is one that the user knows to hold of all rows."""
    return isinstance(predicate, s.Call) and predicate.function == ">="


def believe(found: Binding, memo: Memo) -> None:
    memo.equate(found["q"], found["rel"].child)


RULE = MemoRule(
    "believe_small",
    "σ(1000 >= v)(X) = X where v is never greater",
    "the user, who knows the data",
    (Form("q", "rel", r.Filter, lambda rel: is_known(rel.predicate)),),
    believe,
)
RULES = (RULE,)
TAKEN = (MemoRule("derive_change", "X = X", "a user", RULE.pattern, believe),)
NO_RULES = [RULE]


def install(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    points = [EntryPoint(name, f"{HERE}:{name}", module.GROUP) for name in names]
    monkeypatch.setattr(module, "entry_points", lambda *, group: points * (group == module.GROUP))


def test_rules_come_from_installed_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module.user_rules() == ()
    install(monkeypatch, "RULES")
    assert [rule.name for rule in module.user_rules()] == [RULE.name]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("NO_RULES", "no tuple of MemoRule"),
        ("NOWHERE", "cannot be loaded from .*NOWHERE"),
        ("TAKEN", "two rules have the name derive_change"),
    ],
)
def test_what_is_no_rule_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, says: str) -> None:
    install(monkeypatch, name)
    with pytest.raises(SetupError, match=says) as refused:
        module.user_rules()
    assert refused.value.hint


def count_tests(days: Days) -> int:
    """How often programs of some days test what the rule knows to hold; each answer is compared with batch."""
    shapes, source, count = shapes_of(VIEW), random.Random(3), 0  # noqa: S311
    present: dict[str, list] = {shape.name: [] for shape in shapes}
    for _ in range(7):
        plan = days.refresh({s.name: next_changes(source, s, present[s.name]) for s in shapes})
        if plan.program is not None and plan.start:
            count += sum(is_known(one.predicate) for one in of_type(plan.program, o.Select))
    assert days.stored_early
    assert days.used
    return count


def test_plans_of_a_period_go_by_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "is_worth", lambda *_: True)
    weights = ["0.001", "0.001", "1"]
    assert count_tests(Days(VIEW, shapes_of(VIEW), weights)) > 0
    assert count_tests(Days(VIEW, shapes_of(VIEW), weights, rules=RULES)) == 0

"""Every rule says what it is, under one name, and is tested by that name."""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import fields

import pytest

from slacktide.optimizer.expand import all_rules
from slacktide.optimizer.rule_parts.rule import DeltaRule
from slacktide.optimizer.rules import RULES
from tests.meta.tree import PROVIDER, ROOT, sources

SPECS = ROOT / "tests" / "specs"
FOLDER = PROVIDER / "optimizer" / "rules"


def constants() -> dict[str, DeltaRule]:
    """Every rule that a module of rules defines, by the name of its constant."""
    found: dict[str, DeltaRule] = {}
    for path in sources(FOLDER):
        if path.name != "__init__.py":
            module = importlib.import_module(f"slacktide.optimizer.rules.{path.stem}")
            found |= {
                key: value for key, value in vars(module).items() if isinstance(value, DeltaRule)
            }
    return found


def test_every_rule_is_in_the_list_once() -> None:
    assert Counter(rule.name for rule in RULES) == Counter(
        rule.name for rule in constants().values()
    )


@pytest.mark.parametrize(("constant", "rule"), sorted(constants().items()))
def test_is_called_like_its_constant(constant: str, rule: DeltaRule) -> None:
    assert rule.name == constant.lower()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_says_its_identity_and_where_it_comes_from(rule: DeltaRule) -> None:
    assert "=" in rule.identity
    assert rule.source


def test_rules_that_share_a_class_say_where_they_apply() -> None:
    (always,) = (field.default for field in fields(DeltaRule) if field.name == "where")
    shared = {kind for kind, n in Counter(rule.node for rule in RULES).items() if n > 1}
    assert [rule.name for rule in RULES if rule.node in shared and rule.where is always] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_is_tested_by_name(rule: DeltaRule) -> None:
    words = (rule.name, rule.name.upper())
    files = [path for name in ("unit", "specs") for path in (ROOT / "tests" / name).rglob("*.*")]
    texts = [f"{p.stem} {p.read_text(encoding='utf-8')}" for p in files if p.suffix != ".pyc"]
    assert any(word in text for text in texts for word in words), f"no test names {rule.name}"


def test_every_rule_has_a_spec() -> None:
    """Texts with what the rule gives, which `tests/specs` executes."""
    assert {path.stem for path in SPECS.glob("rules/*.spec")} == {rule.name for rule in RULES}
    assert {path.stem for path in SPECS.glob("memo/*.spec")} == {rule.name for rule in all_rules()}

"""Every rule of the memo says what it is, under a name of its own, and is tested by that name."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from slacktide.optimizer.expand import all_rules
from slacktide.optimizer.memo.rule import MemoRule

pytestmark = pytest.mark.unit
RULES = all_rules()
TESTS = Path(__file__).parents[1]


def test_names_are_told_apart() -> None:
    assert [name for name, count in Counter(rule.name for rule in RULES).items() if count > 1] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_says_its_identity_and_where_it_comes_from(rule: MemoRule) -> None:
    assert "=" in rule.identity
    assert rule.source


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_is_tested_by_name(rule: MemoRule) -> None:
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")]
    assert any(rule.name in text for text in texts), f"no test names {rule.name}"

"""The page of evidence names tests that are there."""

from __future__ import annotations

import re

import pytest

from tests.meta.tree import ROOT

PAGE = (ROOT / "provider" / "docs" / "evidence.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))


@pytest.mark.parametrize(("path", "test"), NAMED)
def test_named_tests_are_there(path: str, test: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    assert f"def {test}(" in text if test else "def test_" in text


def test_the_rows_are_all_there() -> None:
    rows = re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)
    planner = [*range(11, 36)]
    assert rows == [*map(str, range(1, 11)), *map(str, planner), *map(str, range(5, 11))]

"""Nothing grows past what a reader can hold: modules, classes and functions have hard limits."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.meta.tree import PLUGINS, PROVIDER, ROOT, sources

MODULE, CLASS, FUNCTION = 600, 300, 60
FILES = sources(PROVIDER, PLUGINS, ROOT / "tools", ROOT / "dags")


def too_long(source: str) -> list[str]:
    """Name everything in a module that is longer than its limit."""
    found = [f"module: {n} lines"] if (n := len(source.splitlines())) > MODULE else []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ClassDef():
                limit = CLASS
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                limit = FUNCTION
            case _:
                continue
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        if length > limit:
            found.append(f"{node.name} (line {node.lineno}): {length} lines, at most {limit}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_stays_within_its_limits(path: Path) -> None:
    assert too_long(path.read_text(encoding="utf-8")) == []


def test_sees_what_is_too_long() -> None:
    long = "def f():\n" + "    x = 1\n" * FUNCTION
    assert too_long(long) == [f"f (line 1): {FUNCTION + 1} lines, at most {FUNCTION}"]
    assert too_long("x = 1\n" * (MODULE + 1)) == [f"module: {MODULE + 1} lines"]

"""The table of reasons holds what the product says, and nothing else."""

from __future__ import annotations

import re

import pytest

from slacktide.common.reasons import SENTENCES, Reason
from tests.meta.tree import PLUGINS, PROVIDER, sources

TEXTS = [
    path.read_text(encoding="utf-8")
    for path in sources(PROVIDER, PLUGINS)
    if path.name != "reasons.py"
]


@pytest.mark.parametrize("code", sorted(SENTENCES))
def test_is_given_by_something(code: str) -> None:
    assert any(f'"{code}"' in text for text in TEXTS)


@pytest.mark.parametrize("code", sorted(SENTENCES))
@pytest.mark.parametrize("detail", ["", "a(b)"])
def test_reads_back(code: str, detail: str) -> None:
    reason = Reason(code, detail)
    assert Reason.parse(str(reason)) == reason


@pytest.mark.parametrize("code", sorted(SENTENCES))
def test_is_a_clause_without_a_full_stop(code: str) -> None:
    assert re.fullmatch(r"[^{}]+[^.{}]", Reason(code, "a(b)").sentence)

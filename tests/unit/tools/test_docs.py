"""The pages that are drawn from code are current."""

from __future__ import annotations

from pathlib import Path

import pytest

from slacktide.common.reasons import SENTENCES
from tools.docs import errors_page, pages, reasons_page

PAGES = pages()


@pytest.mark.parametrize("path", sorted(PAGES), ids=lambda path: path.name)
def test_page_is_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == PAGES[path], "run: python -m tools.docs"


def test_every_error_that_is_raised_has_its_line() -> None:
    lines = [line for line in errors_page().splitlines() if line.startswith("| `")]
    codes = [line.split("`")[1] for line in lines]
    assert codes == sorted(codes)
    assert {"SOURCE", "STORAGE", "WORKSPACE", "INVARIANT"} < set(codes)
    assert not {"USER", "RETRYABLE", "SLACKTIDE"} & set(codes)


def test_every_reason_has_its_line() -> None:
    lines = [line for line in reasons_page().splitlines() if line.startswith("| `")]
    assert [line.split("`")[1] for line in lines] == sorted(SENTENCES)
    assert not [line for line in lines if "{" in line]

"""The page of capabilities has a line for every construct that is tried."""

from __future__ import annotations

from tests.harness.capabilities import COLUMNS, HEAD, HEADS, PAGE
from tests.harness.constructs import CONSTRUCTS


def test_the_page_lists_every_construct() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(HEAD)
    lines = text.removeprefix(HEAD).splitlines()
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines] == [*CONSTRUCTS]


def test_every_line_tells_of_every_change() -> None:
    """A view that is kept by changes is so after each of them, and a full one never is."""
    lines = PAGE.read_text(encoding="utf-8").removeprefix(HEAD).splitlines()
    for line in lines:
        cells = dict(
            zip(HEADS, line.removeprefix("| ").removesuffix(" |").split(" | "), strict=True)
        )
        is_full = cells["method"] == "full"
        assert {cells[change] for change in COLUMNS} <= {"=", "full" if is_full else "+"}, line
        assert is_full == bool(cells["why"].strip()), line

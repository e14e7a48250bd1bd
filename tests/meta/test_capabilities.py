"""The page of capabilities has a line for every construct that is tried."""

from __future__ import annotations

from tests.harness.capabilities import HEAD, PAGE
from tests.harness.constructs import CONSTRUCTS


def test_the_page_lists_every_construct() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(HEAD)
    lines = text.removeprefix(HEAD).splitlines()
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines] == [*CONSTRUCTS]

"""Stored plans: each node once, read back as they were, refused when they are newer."""

from __future__ import annotations

import pytest

from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import CLASSES
from slacktide.common.serde import dump, load
from slacktide.errors import InvariantError, NewerFormatError

PLAN = from_text("""union 2 [k#9:INT]
  %1 = filter (#1 > 0)
    scan l [k#1:INT]
  %1
""")


def test_a_shared_part_is_written_once() -> None:
    document = dump(PLAN)
    assert isinstance(document["nodes"], list)
    tags = [row[0] for row in document["nodes"]]
    assert tags.count("filter") == 1
    assert load(document, CLASSES) == (PLAN,)


def test_several_roots_keep_their_order() -> None:
    scan = from_text("scan l [k#1:INT]")
    assert load(dump(PLAN, scan, PLAN), CLASSES) == (PLAN, scan, PLAN)


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"format": 2}, "format 2"),
        ({"format": None}, "format None"),
        ({"nodes": [["warp", 1]]}, "'warp'"),
        ({"nodes": ["scan"]}, "'scan'"),
    ],
)
def test_what_a_newer_version_wrote_is_refused(change: dict, fact: str) -> None:
    with pytest.raises(NewerFormatError, match=fact) as raised:
        load({**dump(PLAN), **change}, CLASSES)
    assert "upgrade" in raised.value.hint


@pytest.mark.parametrize("change", [{"nodes": 1}, {"roots": None}, {"roots": ["a"]}])
def test_what_is_no_document_is_refused(change: dict) -> None:
    with pytest.raises(InvariantError):
        load({**dump(PLAN), **change}, CLASSES)

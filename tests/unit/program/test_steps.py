"""What a step says of the chain to which it writes."""

from __future__ import annotations

import pytest

from slacktide.common.chain_ids import answer_id, mirror_id
from slacktide.optimizer.mirror import leading_column, mirror_program, segment_step
from slacktide.program import operator as o

SCHEMA = [
    {"name": "at", "type": "TIMESTAMP", "nullable": False},
    {"name": "id", "type": "INT", "nullable": False},
]


def test_segments_of_a_mirror_lie_as_its_base_does() -> None:
    (base,) = mirror_program("t", SCHEMA, ["id"]).steps
    assert isinstance(base, o.Save)
    assert o.layout(base) == o.layout(segment_step("t", SCHEMA, ["id"])) == (1,)


@pytest.mark.parametrize(
    ("key", "column"), [(["id"], "id"), (["id", "day"], "id"), (["text"], ""), ([], "")]
)
def test_a_mirror_is_sorted_by_the_first_column_of_its_key(key: list[str], column: str) -> None:
    """By what ranges are read of; without a key by its first column, which is none such here."""
    more = [
        {"name": n, "type": t, "nullable": True} for n, t in (("day", "DATE"), ("text", "STRING"))
    ]
    assert leading_column([*SCHEMA, *more], key) == column
    assert leading_column([*more, *SCHEMA], []) == "day"


def test_segments_that_say_nothing_lie_by_their_first_column_and_bases_do_not() -> None:
    rows = segment_step("t", SCHEMA).child
    assert o.layout(o.Save("states/s", rows, is_base=False)) == o.leading(rows) == (0,)
    assert o.layout(o.Save("states/s", rows, is_base=True)) == ()
    assert o.layout(o.Merge("states/s", rows, 0)) == ()


def test_what_a_step_appends_to() -> None:
    rows = segment_step("t", SCHEMA).child
    assert o.appended_to(segment_step("t", SCHEMA)) == mirror_id("t")
    assert o.appended_to(o.Publish("v", rows, is_base=False)) == answer_id("v")
    for step in (
        o.Save("states/s", rows, is_base=True),
        o.Publish("v", rows, is_base=True),
        o.Merge("states/s", rows, 0),
    ):
        assert o.appended_to(step) is None

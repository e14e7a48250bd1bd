"""Ids of chains are what stands in logs and names folders: each form, and what it tells."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from slacktide.common.chain_ids import (
    KINDS,
    PATTERN,
    answer_id,
    changes_id,
    is_answer,
    is_changes,
    is_mirror,
    is_of_view,
    is_state,
    mirror_id,
    mirrored_source,
    state_id,
)

TELLS = (is_state, is_mirror, is_answer, is_changes, is_of_view)


@pytest.mark.parametrize(
    ("chain", "text", "told"),
    [
        (state_id("5f0c"), "states/5f0c", {is_state}),
        (mirror_id("orders"), "sources/orders", {is_mirror}),
        (answer_id("sums"), "views/sums", {is_answer, is_of_view}),
        (changes_id("sums"), "changes/sums", {is_changes, is_of_view}),
        (answer_id("sums", 12), "views/sums@12", {is_answer, is_of_view}),
        (changes_id("sums", 0), "changes/sums@0", {is_changes, is_of_view}),
    ],
)
def test_an_id_tells_what_it_is_of(chain: str, text: str, told: set[Callable[[str], bool]]) -> None:
    assert chain == text
    assert {tells for tells in TELLS if tells(chain)} == told
    assert re.fullmatch(PATTERN, chain)
    assert chain.partition("/")[0] in KINDS


@pytest.mark.parametrize(
    "text", ["", "states", "sources", "plans/5f0c", "w/views/sums", "viewssums"]
)
def test_what_is_no_id_is_of_nothing(text: str) -> None:
    assert not any(tells(text) for tells in TELLS)
    assert re.fullmatch(PATTERN, text) is None
    assert mirrored_source(text) is None


def test_a_mirror_tells_its_source() -> None:
    assert mirrored_source(mirror_id("orders")) == "orders"
    assert mirrored_source(answer_id("orders")) is None

"""When pieces of a chain are merged: by what reading them has cost, and never a large base for little."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from slacktide.algebra import scalar as s
from slacktide.errors import InvariantError
from slacktide.optimizer.compaction import (
    BASE_SHARE,
    Compaction,
    Piece,
    Prices,
    balances,
    best,
    compaction,
    is_earned,
    merge_program,
)
from slacktide.program import operator as o
from slacktide.program.textual import program_text

COLUMNS = (s.Column(1, "k", "INT", nullable=True), s.Column(2, "v", "STRING", nullable=True))
CHANGES = o.ReadChanges("sales", COLUMNS)
BAG = o.Consolidate(CHANGES)
COUNT = s.Column(4, "__n", "BIGINT", nullable=False)
STATE = o.Summarise(
    CHANGES,
    (s.Assignment(s.Column(3, "k", "INT", nullable=True), s.reference(COLUMNS[0])),),
    (o.Partial(COUNT, "count", None, None),),
)
SIZE = 2_000
LARGE = Piece(files=8, rows=10_000_000, bytes=1_000_000_000)
SMALL = Piece(files=1, rows=50, bytes=SIZE)


def grown(base: Piece, segment: Piece, runs: int) -> tuple[list[Piece], int, int]:
    """Append a segment in every run and compact as planned.

    Returns:
        The chain, how many bytes were rewritten, and the most pieces that there were.
    """
    pieces, rewritten, most = [base], 0, 0
    for _ in range(runs):
        way = best(pieces) if len(pieces) > 1 else None
        if way is not None:
            merged = pieces[way.first :]
            size = sum(piece.bytes for piece in merged)
            rewritten += size
            told = sum(piece.runs for piece in merged)
            files = base.files if way.first == 0 else 1
            pieces[way.first :] = [Piece(files, sum(p.rows for p in merged), size, told)]
        pieces.append(segment)
        most = max(most, len(pieces))
    return pieces, rewritten, most


def test_a_short_chain_is_left_alone() -> None:
    assert best([SMALL, SMALL]) is None
    assert best([LARGE, *[SMALL] * 5]) is None


def test_small_segments_are_merged_and_the_large_base_is_not() -> None:
    for count in range(2, 40):
        way = best([LARGE, *[SMALL] * count])
        if way is not None:
            assert way.first == 1
            assert way.rent >= way.price
            assert 8 <= count <= 20
            return
    pytest.fail("never merged")


def test_a_small_base_is_merged_too() -> None:
    way = best([SMALL] * 15)
    assert way is not None
    assert way.first == 0


def test_a_base_waits_for_its_share() -> None:
    base = Piece(1, int(20 * SMALL.rows / BASE_SHARE) + 1, SIZE)
    below = best([base, *[SMALL] * 20])
    assert below is not None
    assert below.first == 1
    at = best([replace(base, rows=base.rows - 1), *[SMALL] * 20])
    assert at is not None
    assert at.first == 0


def test_large_segments_must_earn_more_than_small_ones() -> None:
    """A merged segment joins the next merge only once its neighbours have been read often."""
    merged = Piece(1, 1_000_000, 50_000_000, runs=100)
    way = best([LARGE, merged, *[SMALL] * 15])
    assert way is not None
    assert way.first == 2


def test_what_was_read_for_long_has_earned_more() -> None:
    young = [LARGE, SMALL, SMALL, SMALL]
    old = [LARGE, SMALL, SMALL, replace(SMALL, runs=100)]
    assert best(young) is None
    assert best(old) is not None
    rents = [way.rent for way in balances(old)], [way.rent for way in balances(young)]
    assert all(then >= now for then, now in zip(*rents, strict=True))


def test_rent_and_price_by_hand() -> None:
    prices = Prices(file=1, read=0.5, job=100, write=0.1, write_byte=1)
    base, first, second = Piece(4, 1000, 9), Piece(2, 10, 9, runs=3), Piece(1, 20, 1)
    found = {way.first: (way.rent, way.price) for way in balances([base, first, second], prices)}
    assert found == {
        2: (0, 100 + 1 + 2),
        1: (1, 100 + 3 + 10),
        0: (1 + 2 * 2 + 0.5 * (20 + 2 * 10), 100 + 7 + 103),
    }


def test_segments_without_files_cost_nothing_to_read() -> None:
    assert best([LARGE, *[Piece(0, 0, 0)] * 1000]) is None


@pytest.mark.parametrize("runs", [200, 2_000])
def test_the_chain_stays_short_and_the_base_unread_however_many_runs(runs: int) -> None:
    pieces, rewritten, most = grown(LARGE, SMALL, runs)
    assert most <= 30
    assert pieces[0] == LARGE
    assert rewritten <= 200 * runs * SIZE
    assert rewritten < LARGE.bytes


def test_rewriting_the_base_follows_the_change() -> None:
    base, segment = Piece(4, 100_000, 1_000_000), Piece(1, 1_000, 100_000)
    pieces, rewritten, most = grown(base, segment, 1_000)
    assert pieces[0].bytes > base.bytes
    assert most <= 60
    assert rewritten <= (1 + 2 / BASE_SHARE) * 1_000 * segment.bytes


def test_prices_decide() -> None:
    pieces = [LARGE, *[SMALL] * 10]
    assert best(pieces, prices=Prices(file=0)) is None
    assert best(pieces, prices=Prices(job=0, write=0, write_byte=0)) is not None


def test_a_base_of_another_form_is_never_merged() -> None:
    way = best([SMALL] * 15, with_base=False)
    assert way is not None
    assert way.first == 1


def test_landed_files_become_a_segment_when_they_have_cost_as_much() -> None:
    assert not is_earned([])
    assert not is_earned([SMALL])
    assert not is_earned([SMALL] * 5)
    assert is_earned([SMALL] * 15)


def test_a_compaction_survives_its_stored_form() -> None:
    found = compaction("states/s", 7, [LARGE, *[SMALL] * 15], STATE)
    assert found is not None
    assert Compaction.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert (found.token, found.first, found.pieces, found.files) == (7, 1, 15, 15)
    assert found.rent >= found.price
    assert str(found.reason).startswith("COMPACTION(15 pieces, segments: 15 files, 750 rows")


def test_nothing_is_planned_for_what_has_not_earned_it() -> None:
    assert compaction("states/s", 7, [LARGE], STATE) is None
    assert compaction("states/s", 7, [LARGE, SMALL], STATE) is None


def test_a_bag_is_consolidated_and_a_state_combined() -> None:
    assert program_text(merge_program("views/v", 0, BAG)) == (
        "merge from=0 views/v by=[#1]\n"
        "  consolidate\n"
        "    read_segments views/v from=0 [k#1:INT, v#2:STRING]\n"
    )
    assert program_text(merge_program("states/s", 2, STATE)) == (
        "merge from=2 states/s by=[#3]\n"
        "  nonzero key=[#3]\n"
        "    combine key=[#3]\n"
        "      read_segments states/s from=2 [k#3:INT, __n#4:BIGINT!]\n"
    )


def test_a_state_must_say_what_its_keys_are() -> None:
    with pytest.raises(InvariantError, match="read_state"):
        merge_program("states/s", 1, o.ReadState("states/s", COLUMNS))

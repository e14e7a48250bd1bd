"""What a run is expected to write and to read, by what the run before did."""

from __future__ import annotations

from typing import Any

import pytest

from slacktide import store as s
from slacktide.algebra.scalar import Column
from slacktide.program import operator as o
from slacktide.spark.tables.pinned_tables import Tables
from slacktide.store.update import CreateWorkspace

X = Column(1, "x", "INT", True)
CHAIN = "states/s"
READ = o.Add((o.ReadBag(CHAIN, (X,)), o.ReadChanges("t", (X,))), (X,))
BASE_ROWS = 10_000
CHANGES = 10  # of each arrival


def test_pieces_from_one_on_are_counted_without_those_before() -> None:
    newest = s.Segment(1, (s.StoredFile("f", 500, 5),), 5, 500, {"t": 2})
    of = tables(newest, since=2, arrivals=2)
    for first, rows, size in ((0, BASE_ROWS + 5, 1_000_500), (1, 5, 500)):
        merged = o.ReadSegments(CHAIN, (X,), first, is_bag=True)
        assert of.most_read(merged) == (rows, size)
        assert of.fewest_read(merged) == rows
    some = o.ReadSegments(CHAIN, (X,), 1, is_bag=True)
    assert of.files_read(some) == 1
    both = o.Add((some, o.ReadBag(CHAIN, (X,))), (X,))
    assert of.most_read(both)[0] == 5 + BASE_ROWS + 5


def tables(newest: s.Segment, *, since: int, arrivals: int) -> Tables:
    """Those of a run that takes in what came after the newest segment of a chain."""
    pins = [s.PinnedFile(f"/in/{n}", 10, f"m{n}", None, CHANGES) for n in range(arrivals)]
    taken = [s.Arrival((pin,), CHANGES, 10, "2026-01-01T00:00:00.000000Z") for pin in pins]
    source = s.AddSource("t", "change-feed", {"path": "/in"}, ())
    base = s.Segment(0, (), BASE_ROWS, 1_000_000, {"t": 1})
    updates: list[s.Update] = [
        source,
        s.AcceptArrivals("t", taken),
        s.SetChain(s.Chain(CHAIN, (), base, (newest,))),
    ]
    world = s.fold(s.World(), [(0, [CreateWorkspace({})]), (1, updates)])
    nothing: Any = None
    return Tables(nothing, nothing, world, start={"t": since}, end={"t": arrivals}, saved={})


@pytest.mark.parametrize(
    ("planned", "expected"), [(500, 500), (10**9, BASE_ROWS + 15), (None, BASE_ROWS + 15)]
)
def test_no_more_is_read_than_there_is(planned: int | None, expected: int) -> None:
    newest = s.Segment(1, (), 5, 500, {"t": 2})
    of = tables(newest, since=2, arrivals=3)
    rows, size = of.read_expected(READ, planned)
    assert rows == expected
    assert size == of.most_read(READ)[1] * expected // (BASE_ROWS + 15)


def test_what_was_written_grows_with_the_changes_too() -> None:
    newest = s.Segment(1, (), 5, 500, {"t": 2})
    assert tables(newest, since=2, arrivals=3).rows_expected(CHAIN) == 5
    assert tables(newest, since=2, arrivals=5).rows_expected(CHAIN) == 15
    assert tables(newest, since=2, arrivals=3).rows_expected("states/new") == CHANGES

"""Arrivals in columns read like the tuple of records they stand for."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

from slacktide.errors import WorkspaceError
from slacktide.store import Arrival, Arrivals, PinnedFile
from slacktide.store.arrivals import Chunk, Totals, from_json
from slacktide.store.record import Source
from tests.harness.objects import arrival

PINS = st.builds(
    PinnedFile,
    st.text(max_size=5),
    st.integers(0, 9),
    st.text(max_size=3),
    st.none() | st.text(max_size=3),
    st.none() | st.integers(0, 9),
)
RECORDS = st.builds(
    Arrival,
    st.lists(PINS, max_size=3).map(tuple),
    st.none() | st.integers(0, 9),
    st.integers(0, 9),
    st.text(max_size=3),
)
BATCHES = st.lists(st.lists(RECORDS, max_size=4), max_size=12)


@given(BATCHES)
def test_reads_like_a_tuple(batches: list[list[Arrival]]) -> None:
    known: tuple[Arrival, ...] = ()
    columns = Arrivals()
    for batch in batches:
        before, columns = columns, columns.appended(batch)
        assert tuple(before) == known, "the older sequence changed"
        known += tuple(batch)
    assert len(columns) == len(known)
    assert tuple(columns) == known == columns[:]
    assert columns == known == tuple(columns[i] for i in range(len(known)))
    assert columns[-3:] == known[-3:]
    assert columns.file_count == sum(len(record.files) for record in known)
    pins = [(v, file) for v, record in enumerate(known, 1) for file in record.files]
    assert list(columns.pins()) == pins
    assert from_json(columns.to_json(), "here") == known


def test_few_chunks_hold_many_arrivals() -> None:
    columns = Arrivals()
    for i in range(1000):
        columns = columns.appended([arrival(str(i))])
    assert len(columns.chunks) <= 10
    assert columns[617].files[0].path == "/in/617 0"


def test_two_futures_of_one_past() -> None:
    past = Arrivals.of([arrival("a")])
    left, right = past.appended([arrival("b")]), past.appended([arrival("c")])
    assert (left[1], right[1], len(past)) == (arrival("b"), arrival("c"), 1)
    assert left != right
    assert left != "text"


@pytest.mark.parametrize("index", [1, -2])
def test_an_arrival_that_is_not_there(index: int) -> None:
    with pytest.raises(IndexError):
        Arrivals.of([arrival("a")])[index]


@pytest.mark.parametrize(
    "change",
    [
        {"path": None},
        {"path": ["x"]},
        {"files": ["2"]},
        {"files": [-1]},
        {"accepted": []},
    ],
)
def test_columns_that_do_not_fit(change: dict[str, object]) -> None:
    columns = Arrivals.of([arrival("a", files=2)]).to_json()
    with pytest.raises(WorkspaceError, match="entry 7"):
        from_json({**columns, **change}, "entry 7")


@pytest.mark.parametrize("text", [b"{", b"[]", b"{}"])
def test_a_chunk_that_cannot_be_read(text: bytes) -> None:
    with pytest.raises(WorkspaceError, match="checkpoint 9"):
        Arrivals([Chunk(1, 1, None, text, "checkpoint 9")])[0]


def test_a_chunk_with_other_counts() -> None:
    text = Arrivals.of([arrival("a", files=2)]).chunks[0].text
    with pytest.raises(WorkspaceError, match="checkpoint 9"):
        Arrivals([Chunk(1, 3, None, text, "checkpoint 9")])[0]
    with pytest.raises(WorkspaceError, match="not columns"):
        from_json([], "entry 7")


def test_sums_are_those_of_the_records() -> None:
    """Over chunks that are whole and chunks that are cut, and with arrivals left out."""
    records = [
        Arrival((), i if i != 40 else None, 10 * i, "2026", 0 if i % 3 else 1) for i in range(60)
    ]
    arrivals = Arrivals()
    for record in records:
        arrivals = arrivals.appended([record])
    assert len(arrivals.chunks) > 2
    for start, end in [(0, 60), (0, 33), (7, 59), (5, 5), (31, 33), (41, 60), (50, 70)]:
        some = records[start:end]
        rows = None if any(r.rows is None for r in some) else sum(r.rows or 0 for r in some)
        deletes = sum(r.deletes or 0 for r in some)
        assert arrivals.totals(start, end) == Totals(rows, deletes, sum(r.bytes for r in some))
    source = Source("t", "change-feed", {}, (), arrivals, frozenset({1, 2, 41, 60}))
    for version in (0, 1, 2, 3, 41, 60):
        left = [r for v, r in enumerate(records, 1) if v <= version and v not in source.skipped]
        expected = sum((r.rows or 0) - 2 * (r.deletes or 0) for r in left)
        assert source.rows_at(version) == max(expected, 0)
    assert replace(source, skipped=frozenset()).rows_at(41) is None


def test_every_file_is_found_with_the_version_that_brought_it() -> None:
    arrivals = Arrivals()
    for number in range(40):
        arrivals = arrivals.appended(
            [arrival(f"{number}-{n}", files=(number + n) % 4) for n in range(number % 3)]
        )
    assert len(arrivals.chunks) > 2
    told = list(arrivals.pins())
    assert len(told) == arrivals.file_count > 20
    assert all(arrivals.find(pin.path) == (version, pin) for version, pin in told)
    assert arrivals.find("/in/of/none") is None


def test_marks_of_files_are_replaced_and_nothing_else() -> None:
    arrivals = Arrivals.of([arrival("a", files=2)]).appended([arrival("b", files=3)])
    old = arrivals.find("/in/b 1")
    assert old is not None
    new = replace(old[1], modified="later", etag="e")
    again = arrivals.repinned([new, PinnedFile("/in/of/none", 1, "m")])
    assert again.find("/in/b 1") == (2, new)
    assert arrivals.find("/in/b 1") == old, "the older sequence changed"
    others = [(v, pin) for v, pin in again.pins() if pin != new]
    assert others == [(v, pin) for v, pin in arrivals.pins() if pin != old[1]]

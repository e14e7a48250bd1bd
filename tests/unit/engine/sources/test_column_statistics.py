"""What is known of columns before any page of data is read."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slacktide.engine.sources.column_statistics import (
    FEWEST_ROWS,
    MOST_COLUMNS,
    dictionary_page,
    merged,
    narrowed,
    noted,
    statistics_of,
)
from slacktide.engine.workspace import Workspace
from slacktide.store.record import ColumnStatistics
from slacktide.store.store import Store
from tests.harness.objects import TickingClock

ROWS = 3 * FEWEST_ROWS


def told(columns: dict[str, list | pa.Array], **options: object) -> dict[str, ColumnStatistics]:
    source = BytesIO()
    pq.write_table(pa.table(columns), source, **options)
    return statistics_of(pq.ParquetFile(source), source, [*columns])


def test_dictionaries_ranges_and_nulls_are_told() -> None:
    first = date(2020, 1, 1)
    found = told(
        {
            "brand": [f"Brand#{i % 25}" for i in range(ROWS)],
            "day": [first + timedelta(i % 90) for i in range(ROWS)],
            "price": [Decimal(i % 40) / 4 for i in range(ROWS)],
            "maybe": [None if i % 10 == 0 else i % 7 for i in range(ROWS)],
        }
    )
    assert found["brand"] == ColumnStatistics(ROWS, 0, None, None, 25.0)
    days = (float(first.toordinal()), float(first.toordinal() + 89))
    assert found["day"] == ColumnStatistics(ROWS, 0, *days, 90.0)
    assert found["price"] == ColumnStatistics(ROWS, 0, 0.0, 9.75, 40.0)
    assert found["maybe"] == ColumnStatistics(ROWS, ROWS // 10, 0.0, 6.0, 7.0)


@pytest.mark.parametrize("compression", ["snappy", "zstd", "none"])
@pytest.mark.parametrize("checksum", [True, False])
def test_headers_are_read_however_pages_are_written(compression: str, *, checksum: bool) -> None:
    columns = {"text": [str(i % 1000) for i in range(ROWS)]}
    found = told(columns, compression=compression, write_page_checksum=checksum)
    assert found["text"].distinct == 1000.0


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_instants_are_days_and_their_parts(unit: str, zone: str | None) -> None:
    moments = [datetime(2026, 3, 1, tzinfo=UTC), None, datetime(2026, 3, 4, 18, tzinfo=UTC)]
    found = told({"at": pa.array(moments, pa.timestamp(unit, zone))})["at"]
    first = float(date(2026, 3, 1).toordinal())
    assert found == ColumnStatistics(3, 1, first, first + 3.75, None)


def test_files_of_which_no_row_is_like_another_have_values_of_their_own() -> None:
    one = ColumnStatistics(20_000, 0, 1.0, 1e6, 20_000.0)
    few = ColumnStatistics(20_000, 0, 1.0, 25.0, 25.0)
    for files, known, expected in ((10, one, 2e5), (400, one, 1e6), (400, few, 25.0)):
        told = noted({}, [{"k": known}] * files)["k"].distinct
        assert told == pytest.approx(expected, rel=0.01), files


def test_of_what_is_left_a_range_and_as_many_values_are_known() -> None:
    half = ColumnStatistics(4000, 40, 0.0, 100.0, 90.0)
    assert narrowed(half, ColumnStatistics(1000, 10, 75.0, 100.0, 26.0)) == ColumnStatistics(
        1000, 10, 75.0, 100.0, 22.5
    )
    texts = ColumnStatistics(4000, 0, None, None, 2000.0)
    assert narrowed(texts, ColumnStatistics(1000, 0)).distinct == 1000.0
    assert narrowed(ColumnStatistics(9), ColumnStatistics(5, 0)).distinct is None


def test_a_range_that_our_own_files_do_not_tell_stays_what_it_was() -> None:
    known = ColumnStatistics(4000, 0, 1.0, 100.5, None)
    assert narrowed(known, ColumnStatistics(10, 0)) == ColumnStatistics(10, 0, 1.0, 100.5, None)


def test_a_whole_number_has_no_more_values_than_its_range() -> None:
    keys = pa.array(range(200_000), pa.int64())
    found = told({"key": keys, "part": pa.array([i % 150_000 for i in range(200_000)], pa.int64())})
    assert found["key"].distinct == 200_000.0
    assert found["part"].distinct == 150_000.0


def test_nobody_knows_how_many_texts_are_without_a_dictionary() -> None:
    texts = [f"{i:040}" for i in range(ROWS)]
    assert told({"text": texts})["text"].distinct is None  # the dictionary was given up
    assert told({"text": texts}, use_dictionary=False)["text"].distinct is None
    assert told({"text": ["a"] * 5})["text"].distinct is None  # too few rows to look


@pytest.mark.parametrize(
    ("known", "rows", "values"),
    [
        (ColumnStatistics(200_000, 0, None, None, 25.0), FEWEST_ROWS - 1, 25.0),
        (ColumnStatistics(200_000, 0, None, None, 25.0), FEWEST_ROWS, None),
        (ColumnStatistics(200_000, 0, None, None, 60_000.0), FEWEST_ROWS - 1, None),
        (ColumnStatistics(60_000, 0, None, None, 59_000.0), 400_000, 459_000.0),
    ],
    ids=["each comes many times", "a large file", "each comes a few times", "none comes twice"],
)
def test_rows_of_which_nobody_knows(
    known: ColumnStatistics, rows: int, values: float | None
) -> None:
    """Updates of a small table come in files of few rows: what is known of its brands stays."""
    unknown = ColumnStatistics(rows, 0)
    assert merged(known, unknown).distinct == merged(unknown, known).distinct == values


def test_a_dictionary_that_was_given_up_early_says_nothing() -> None:
    texts = [f"{i % 9000:06}" for i in range(ROWS)]
    few = told({"text": texts}, dictionary_pagesize_limit=10_000, write_batch_size=500)
    assert few["text"].distinct is None
    assert told({"text": texts})["text"].distinct == 9000.0


def test_days_that_no_calendar_has_are_days() -> None:
    days = pa.array([-1_000_000, 2_932_897], pa.int32()).view(pa.date32())
    first = date(1970, 1, 1).toordinal()
    far = 2**62
    found = told({"day": days, "at": pa.array([far, -far], pa.timestamp("us"))})
    assert (found["day"].low, found["day"].high) == (first - 1_000_000.0, first + 2_932_897.0)
    assert found["at"].high == first + far / 86_400e6
    assert found["at"].distinct is None


def test_a_text_that_is_none_costs_its_column_at_most() -> None:
    offsets = pa.py_buffer(np.array([0, 2, 4], dtype=np.int32).tobytes())
    bad = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"\xff\xfeab")])
    found = told({"bad": bad, "good": pa.array([1, 2])})
    assert found["good"].high == 2.0
    assert found.get("bad", ColumnStatistics(2, 0)).low is None


def test_a_bound_that_one_part_does_not_tell_is_not_known_of_all() -> None:
    values = [1.0, 2.0] + [float("inf"), 1e6] * 9
    assert told({"x": values}, row_group_size=2)["x"].high is None
    known, unknown = ColumnStatistics(10, 0, 1.0, 2.0, 2.0), ColumnStatistics(10, 0)
    assert merged(known, unknown) == ColumnStatistics(20, 0)
    empty = ColumnStatistics(10, 10)
    assert merged(known, empty) == merged(empty, known) == ColumnStatistics(20, 10, 1.0, 2.0, 2.0)
    assert merged(known, ColumnStatistics(1, 0)).distinct == 2.0, "a row more changes nothing"


def test_large_numbers_are_told_apart() -> None:
    found = told({"id": pa.array([2**63 - 1 - i for i in range(500)], pa.int64())})
    assert found["id"].distinct == 500.0


def test_row_groups_with_ranges_of_their_own_add_up() -> None:
    clustered = [i // 100 for i in range(ROWS)]
    spread = [i % 300 for i in range(ROWS)]
    found = told({"clustered": clustered, "spread": spread}, row_group_size=ROWS // 3)
    assert found["clustered"].distinct == pytest.approx(ROWS / 100)
    assert found["spread"].distinct == 300.0


def test_what_is_no_number_has_no_range() -> None:
    found = told(
        {"x": pa.array([float("nan"), float("inf"), 1.0]), "empty": pa.array([], pa.int64())[:0]}
        | {"empty": pa.nulls(3, pa.int64())}
    )
    assert (found["x"].low, found["x"].high) == (1.0, None)
    assert found["empty"] == ColumnStatistics(3, 3)


def test_nested_columns_and_a_file_without_rows_tell_nothing() -> None:
    assert told({"items": [[1, 2], [3]]}) == {}
    assert told({"x": pa.array([], pa.int64())}) == {}


def test_a_file_without_row_groups_tells_nothing() -> None:
    """Spark writes one where a batch has no rows."""
    source = BytesIO()
    with pq.ParquetWriter(source, pa.schema({"x": pa.int64()})):
        pass
    file = pq.ParquetFile(source)
    assert file.num_row_groups == 0
    assert statistics_of(file, source, ["x"]) == {}


def test_what_has_no_values_says_nothing_of_the_range() -> None:
    none, some = ColumnStatistics(2, 2, 5.0, 9.0, 0.0), ColumnStatistics(3, 1, 1.0, 2.0, 2.0)
    for both in (merged(none, some), merged(some, none)):
        assert (both.low, both.high) == (1.0, 2.0)
    assert merged(none, none).low is None


def test_the_first_columns_alone_are_looked_at() -> None:
    found = told({f"c{number:03}": [1] for number in range(MOST_COLUMNS + 5)})
    assert len(found) == MOST_COLUMNS


def test_arrivals_lead_from_what_was_known() -> None:
    before = {"key": ColumnStatistics(100, 0, 1.0, 100.0, 100.0), "old": ColumnStatistics(1)}
    new = {"key": ColumnStatistics(10, 0, 101.0, 110.0, 10.0)}
    again = {"key": ColumnStatistics(10, 1, 51.0, 60.0, 10.0)}
    assert noted(before, [new, again]) == {"key": ColumnStatistics(120, 1, 1.0, 110.0, 110.0)}


SOME = st.builds(
    lambda rows, nulls, low, size, distinct: ColumnStatistics(
        rows, min(rows, nulls), low, low + size, min(float(max(rows - nulls, 0)), distinct)
    ),
    st.integers(1, 1000),
    st.integers(0, 10),
    st.floats(-1e6, 1e6),
    st.floats(0, 1e6),
    st.floats(1, 1000),
)


@given(SOME, SOME)
def test_merging_stays_within_what_both_say(one: ColumnStatistics, other: ColumnStatistics) -> None:
    both = merged(one, other)
    assert both.distinct is not None
    assert one.distinct is not None
    assert other.distinct is not None
    assert both.distinct >= max(one.distinct, other.distinct) * 0.999
    assert both.distinct <= (one.distinct + other.distinct) * 1.001
    assert both.distinct <= both.rows
    assert merged(other, one).low == both.low
    assert merged(other, one).high == both.high


@given(st.binary(max_size=40))
def test_bytes_that_are_no_header_are_refused(header: bytes) -> None:
    try:
        size, entries = dictionary_page(header)
    except (IndexError, ValueError):
        return
    assert isinstance(size, int)
    assert isinstance(entries, int)


def test_a_workspace_notes_what_arrives(tmp_path: Path) -> None:
    """A CSV tells nothing; Parquet does, file after file."""
    ws = Workspace.create(str(tmp_path / "workspace"))
    for name, form in (("t", "parquet"), ("u", "csv")):
        (tmp_path / name).mkdir()
        ws.add_source(name, kind="files", format=form, path=str(tmp_path / name), schema="a INT")
    (tmp_path / "u" / "1.csv").write_text("1\n", encoding="utf-8")
    for number, first in ((1, 0), (2, 500), (3, 250)):
        values = pa.array(range(first, first + 500), pa.int32())
        pq.write_table(pa.table({"a": values}), tmp_path / "t" / f"{number}.parquet")
        ws.discover()
    sources = Store.open(str(tmp_path / "workspace"), clock=TickingClock()).world().sources
    assert sources["t"].statistics == {"a": ColumnStatistics(1500, 0, 0.0, 999.0, 1000.0)}
    assert sources["u"].statistics == {}

"""Files that are accepted: each an arrival, pinned and counted, and none of them twice."""

from __future__ import annotations

import os
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet as pq

from slacktide.engine.sources import Look, accept, check_pins, peek
from slacktide.errors import SourceError
from slacktide.store import Arrivals
from tests.harness.landing import (
    NOW,
    accepted,
    arrivals_of,
    feed,
    great_noise,
    source,
    table,
    write,
)


def test_every_file_is_an_arrival(landing, orders):
    for rows in range(3):
        os.utime(write(landing / f"{rows}.parquet", table(rows)), (rows, rows))
    files = peek(orders, now=NOW).fresh
    arrivals = arrivals_of(orders, files, now=NOW)
    assert [arrival.rows for arrival in arrivals] == [0, 1, 2]
    assert [arrival.deletes for arrival in arrivals] == [0, 0, 0]
    assert [arrival.bytes for arrival in arrivals] == [file.size for file in files]
    assert {arrival.accepted for arrival in arrivals} == {"2030-01-01T00:00:00.000000Z"}
    for arrival, file in zip(arrivals, files, strict=True):
        (pin,) = arrival.files
        assert pin.digest
        assert replace(pin, rows=None, digest=None) == file
    assert peek(accepted(orders, arrivals), now=NOW) == Look([], [])
    assert arrivals_of(orders, [], now=NOW) == []


def test_a_file_on_its_way_is_no_arrival(landing, orders):
    """Hadoop's clients write under this name, which Spark never reads."""
    write(landing / "0.parquet._COPYING_")
    assert peek(orders, now=NOW).fresh == []


def test_a_file_that_went_away_before_acceptance_never_came(landing, orders):
    write(landing / "0.parquet")
    gone = write(landing / "1.parquet")
    files = peek(orders, now=NOW).fresh
    gone.unlink()
    assert len(arrivals_of(orders, files, now=NOW)) == 1


def test_a_file_that_grew_before_acceptance_is_pinned_as_it_is_read(landing, orders):
    path = write(landing / "0.parquet", table(1))
    files = peek(orders, now=NOW).fresh
    write(path, table(1000))
    (arrival,) = arrivals_of(orders, files, now=NOW)
    assert arrival.rows == 1000
    check_pins(arrival.files)


@pytest.mark.parametrize("suffix", ["parquet", "orc"])
def test_changes_are_counted(landing, suffix):
    write(
        landing / f"0.{suffix}",
        feed("insert", "delete", "update_preimage", "update_postimage", "delete"),
    )
    orders = source(landing, "change-feed", format=suffix)
    (arrival,) = arrivals_of(orders, peek(orders, now=NOW).fresh, now=NOW)
    assert (arrival.rows, arrival.deletes) == (5, 3)
    assert list(Arrivals.of([arrival])) == [arrival]


@pytest.mark.parametrize("kind", ["files", "change-feed"])
@pytest.mark.parametrize("text_format", ["csv", "json", "avro"])
def test_formats_without_a_footer_have_no_counts(landing, kind, text_format):
    (landing / "0").write_text("whatever")
    orders = source(landing, kind, format=text_format)
    (arrival,) = arrivals_of(orders, peek(orders, now=NOW).fresh, now=NOW)
    assert (arrival.rows, arrival.bytes) == (None, 8)
    assert arrival.deletes == (0 if kind == "files" else None)


def test_other_columns_are_reported(landing, orders, caplog):
    write(landing / "0.parquet", table(1, extra=["x"], k=pa.array([None], pa.time64("us"))))
    found = accept(orders, peek(orders, now=NOW).fresh, now=NOW)
    assert "columns that are not declared, and are ignored: extra, k" in caplog.text
    assert [(column["name"], column["version"]) for column in found.extra] == [
        ("extra", 1),
        ("k", 1),
    ]
    caplog.clear()
    known = replace(orders, extra=found.extra)
    write(landing / "1.parquet", table(1, more=[1], extra=["x"]))
    found = accept(known, peek(known, now=NOW).fresh, now=NOW)
    assert [tuple(column.values()) for column in found.extra] == [("more", "BIGINT", 2)]
    assert "extra" not in caplog.text, "it is told once"


def test_a_column_that_was_added_may_be_missing(landing, declare):
    orders = declare(schema="id BIGINT, name STRING")
    added = {"name": "more", "type": "BIGINT", "nullable": True, "added": True}
    wide = replace(orders, schema=(*orders.schema, added))
    write(landing / "0.parquet", table(1))
    write(landing / "1.parquet", table(1, more=[1]))
    assert len(arrivals_of(wide, peek(wide, now=NOW).fresh, now=NOW)) == 2
    write(landing / "2.parquet", table(1, more=["x"]))
    with pytest.raises(SourceError, match="the column more of type STRING, expected BIGINT"):
        arrivals_of(wide, peek(wide, now=NOW).fresh, now=NOW)
    (landing / "2.parquet").unlink()
    write(landing / "2.parquet", table(1, More=[1]))
    with pytest.raises(SourceError, match=r"no column more .* only More, which differs in case"):
        arrivals_of(wide, peek(wide, now=NOW).fresh, now=NOW)


def test_the_commit_version_of_a_feed_is_not_reported(landing, caplog):
    write(landing / "0.parquet", feed("insert", _commit_version=pa.array([1], pa.int64())))
    orders = source(landing, "change-feed")
    assert len(arrivals_of(orders, peek(orders, now=NOW).fresh, now=NOW)) == 1
    assert caplog.text == ""


def test_great_files_are_read_in_parts(landing, orders):
    path = landing / "0.parquet"
    pq.write_table(
        table(10_000).set_column(1, "name", pa.array(great_noise())),
        path,
        compression="none",
        use_dictionary=False,
    )
    assert path.stat().st_size > 16 * 1024 * 1024
    (arrival,) = arrivals_of(orders, peek(orders, now=NOW).fresh, now=NOW)
    assert arrival.rows == 10_000
    os.utime(path, (7, 7))
    check_pins(arrival.files)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12), st.randoms())
def test_looks_and_acceptances_find_every_file_once(tmp_path_factory, steps, random):
    """Files land in any order, some between the look and the acceptance; none comes twice."""
    landing = tmp_path_factory.mktemp("landing")
    orders = source(landing)
    landed: list[str] = []
    for count, late in steps:
        for _ in range(count):
            landed.append(f"{random.randrange(10)}/{len(landed)}.parquet")
            seconds = random.randrange(5)
            os.utime(write(landing / landed[-1], table(1)), (seconds, seconds))
        files = peek(orders, now=NOW).fresh
        for _ in range(late):
            landed.append(f"late/{len(landed)}.parquet")
            write(landing / landed[-1], table(1))
        arrivals = arrivals_of(orders, files, now=NOW)
        assert arrivals == arrivals_of(orders, files, now=NOW)
        assert [(a.files[0].modified, a.files[0].path) for a in arrivals] == sorted(
            (file.modified, file.path) for file in files
        )
        orders = accepted(orders, arrivals)
    orders = accepted(orders, arrivals_of(orders, peek(orders, now=NOW).fresh, now=NOW))
    found = [pin.path.removeprefix(f"{landing}/") for _, pin in orders.arrivals.pins()]
    assert sorted(found) == sorted(landed)
    check_pins([pin for _, pin in orders.arrivals.pins()], source="orders")

"""A look at a directory: which files are data, and in which order they came."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest

from slacktide.engine.sources import peek, resolve_file
from slacktide.engine.sources.directory import is_data
from slacktide.errors import SourceError
from tests.harness.landing import NOW, source, write


def names(landing, files):
    return [file.path.removeprefix(f"{landing}/") for file in files]


def test_files_are_listed_by_time_then_name(landing, orders):
    for name, seconds in {"d": 5, "b": 5, "x/y=1/a": 5, "c": 1}.items():
        os.utime(write(landing / f"{name}.parquet"), (seconds, seconds))
    found = peek(orders, now=NOW)
    assert names(landing, found) == ["c.parquet", "b.parquet", "d.parquet", "x/y=1/a.parquet"]
    assert all(file.rows is None and file.digest is None for file in found)
    assert found == peek(orders, now=NOW)


def test_hidden_files_are_no_data(landing, orders):
    for name in ["_SUCCESS", ".0.parquet.crc", "_temporary/0/a", "x/.tmp/a", "x/_COMPLETE_2030"]:
        write(landing / name)
    assert peek(orders, now=NOW) == []


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("a", True),
        ("a/b_c.d", True),
        ("_a", False),
        (".a", False),
        ("_a/b", False),
        ("a/.b/c", False),
    ],
)
def test_what_is_data(key, expected):
    assert is_data(key) is expected


def test_files_that_are_not_settled_wait(landing):
    orders = source(landing, settle="30s")
    os.utime(write(landing / "0.parquet"), (1000, 1000))
    written = datetime.fromtimestamp(1000, UTC)
    assert peek(orders, now=written + timedelta(seconds=29)) == []
    assert len(peek(orders, now=written + timedelta(seconds=30))) == 1


def test_ignored_files_are_left_out(landing, orders):
    path = write(landing / "x" / "0.parquet")
    for name in ["x/0.parquet", "/x/0.parquet", str(path)]:
        assert peek(orders, now=NOW, ignored=frozenset({resolve_file(orders, name)})) == []


def test_a_directory_that_went_away(landing, orders):
    landing.rmdir()
    with pytest.raises(SourceError, match="there is no directory"):
        peek(orders, now=NOW)


def test_a_name_that_no_store_can_spell(landing, orders):
    (landing / "a\nb").write_bytes(b"")
    with pytest.raises(SourceError) as caught:
        peek(orders, now=NOW)
    assert caught.value.hint

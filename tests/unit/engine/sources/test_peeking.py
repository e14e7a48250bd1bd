"""A look at a directory: which files are data, and in which order they came."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from slacktide.engine.sources import Look, look_again, peek, resolve_file
from slacktide.engine.sources.directory import is_data
from slacktide.errors import SourceError
from tests.harness.landing import NOW, accepted, arrivals_of, as_nobody, source, table, write


def names(landing, files):
    return [file.path.removeprefix(f"{landing}/") for file in files]


def test_files_are_listed_by_time_then_name(landing, orders):
    for name, seconds in {"d": 5, "b": 5, "x/y=1/a": 5, "c": 1}.items():
        os.utime(write(landing / f"{name}.parquet"), (seconds, seconds))
    found = peek(orders, now=NOW).fresh
    assert names(landing, found) == ["c.parquet", "b.parquet", "d.parquet", "x/y=1/a.parquet"]
    assert all(file.rows is None and file.digest is None for file in found)
    assert found == peek(orders, now=NOW).fresh


def test_hidden_files_are_no_data(landing, orders):
    for name in ["_SUCCESS", ".0.parquet.crc", "_temporary/0/a", "x/.tmp/a", "x/_COMPLETE_2030"]:
        write(landing / name)
    assert peek(orders, now=NOW).fresh == []


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
    assert peek(orders, now=written + timedelta(seconds=29)).fresh == []
    assert len(peek(orders, now=written + timedelta(seconds=30)).fresh) == 1


def test_a_file_is_named_by_its_path_or_by_its_name_below_the_source(landing, orders):
    path = write(landing / "x" / "0.parquet")
    for name in ["x/0.parquet", "/x/0.parquet", str(path)]:
        assert resolve_file(orders, name) == str(path)


def test_files_written_anew_are_told(landing, orders):
    for name in ["kept", "touched", "other", "left out", "gone"]:
        os.utime(write(landing / f"{name}.parquet"), (1000, 1000))
    arrivals = arrivals_of(orders, peek(orders, now=NOW).fresh, now=NOW)
    skipped = [n for n, a in enumerate(arrivals, 1) if "left out" in a.files[0].path]
    known = replace(accepted(orders, arrivals), skipped=frozenset(skipped))
    assert peek(known, now=NOW) == Look([], [])
    os.utime(landing / "touched.parquet", (2000, 2000))
    write(landing / "other.parquet", table(7))
    write(landing / "left out.parquet", table(7))
    (landing / "gone.parquet").unlink()
    found = peek(known, now=NOW)
    assert found.fresh == []
    touched = [one for one in found.rewritten if "touched" in one.pinned.path]
    assert look_again(known, touched, deeply=False) == ([], None), "as large, and not read"
    again, wrong = look_again(known, found.rewritten, deeply=True)
    assert re.search(r"other\.parquet changed: it had \d+ bytes", str(wrong))
    pinned = replace(known, arrivals=known.arrivals.repinned(again))
    assert [one.pinned.path for one in peek(pinned, now=NOW).rewritten] == [
        str(landing / "other.parquet")
    ]
    rewritten = [one.pinned for one in found.rewritten]
    assert sorted(names(landing, rewritten)) == ["other.parquet", "touched.parquet"]
    assert str(look_again(known, found.rewritten, deeply=False)[1]) == str(wrong)
    (landing / "touched.parquet").unlink()
    assert look_again(known, touched, deeply=True) == ([], None), "gone since, and not missed here"


def test_what_is_written_anew_settles_first(landing):
    orders = source(landing, settle="30s")
    path = write(landing / "0.parquet")
    os.utime(path, (1000, 1000))
    known = accepted(orders, arrivals_of(orders, peek(orders, now=NOW).fresh, now=NOW))
    write(path, table(7))
    os.utime(path, (2000, 2000))
    written = datetime.fromtimestamp(2000, UTC)
    assert peek(known, now=written + timedelta(seconds=29)).rewritten == []
    assert len(peek(known, now=written + timedelta(seconds=30)).rewritten) == 1


def test_a_directory_below_that_may_not_be_read():
    with TemporaryDirectory() as folder:
        landing = Path(folder)
        landing.chmod(0o755)
        write(landing / "x" / "0.parquet")
        (landing / "x").chmod(0)
        with as_nobody(), pytest.raises(SourceError, match=f"{landing}/x may not be read"):
            peek(source(landing), now=NOW)


def test_a_directory_that_went_away(landing, orders):
    landing.rmdir()
    with pytest.raises(SourceError, match="there is no directory"):
        peek(orders, now=NOW)


def test_a_name_that_no_store_can_spell(landing, orders):
    (landing / "a\nb").write_bytes(b"")
    with pytest.raises(SourceError) as caught:
        peek(orders, now=NOW)
    assert caught.value.hint

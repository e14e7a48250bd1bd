from __future__ import annotations

import os
import shutil
from dataclasses import replace

import pytest

from slacktide.engine.sources import accept, check_pins, peek
from slacktide.engine.sources.pins import check_unmoved
from slacktide.errors import ArrivalChangedError, CommitConflictError
from tests.harness.landing import NOW, table, write


@pytest.fixture
def pinned(landing, declare):
    """A file of an accepted arrival, and its pin."""
    path = write(landing / "x y" / "0.parquet", table(3))
    source = declare()
    (arrival,) = accept(source, peek(source, now=NOW).fresh, now=NOW).arrivals
    return path, arrival.files[0]


def test_a_file_that_stays(pinned):
    check_pins([pinned[1]], source="orders")
    check_pins([], source="orders")


def test_a_file_that_was_touched(pinned):
    path, pin = pinned
    os.utime(path, (1, 1))
    check_pins([pin], source="orders")


def test_a_file_that_was_delivered_again(pinned):
    path, pin = pinned
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)
    os.utime(path, (1, 1))
    check_pins([pin], source="orders")


@pytest.mark.parametrize("again", [True, False], ids=["again", "gone"])
def test_a_file_that_is_written_after_it_was_looked_at(pinned, again):
    path, pin = pinned
    marks = check_pins([pin], source="orders")
    check_unmoved(marks)
    content = path.read_bytes()
    path.unlink()
    if again:
        path.write_bytes(content)
        os.utime(path, (1, 1))
    with pytest.raises(CommitConflictError, match=r"0\.parquet was written while"):
        check_unmoved(marks)


def error_of(pin, source="orders"):
    with pytest.raises(ArrivalChangedError) as caught:
        check_pins([pin], source=source)
    return caught.value


def test_a_file_of_another_size(pinned):
    path, pin = pinned
    write(path, table(4000))
    error = error_of(pin)
    assert error.message.startswith(f"source orders: {path} changed: it had {pin.size} bytes and ")
    assert f"slacktide source skip orders '{path}'" in error.hint
    assert "slacktide source reset orders" in error.hint


def test_a_file_of_the_same_size_with_other_content(pinned):
    path, pin = pinned
    content = bytearray(path.read_bytes())
    content[4] ^= 1
    path.write_bytes(content)
    os.utime(path, (1, 1))
    assert "changed: it was written at" in error_of(pin).message


def test_another_file_with_the_time_of_the_first(pinned):
    path, pin = pinned
    content = bytearray(path.read_bytes())
    content[4] ^= 1
    other = path.with_name("_other")
    other.write_bytes(content)
    shutil.copystat(path, other)
    other.replace(path)
    assert "changed" in error_of(pin).message


def test_a_file_that_is_gone(pinned):
    path, pin = pinned
    path.unlink()
    error = error_of(pin, source="")
    assert error.message == f"{path} is gone, after it was accepted"
    assert "slacktide source skip NAME" in error.hint


def test_a_pin_without_a_digest_goes_by_its_mark(pinned):
    path, pin = pinned
    bare = replace(pin, digest=None)
    check_pins([bare, replace(bare, etag=None)])
    os.utime(path, (1, 1))
    assert "changed" in error_of(bare).message
    assert "changed" in error_of(replace(bare, etag=None)).message


def test_the_first_file_in_order_is_named(landing, declare):
    for name in "abc":
        write(landing / f"{name}.parquet")
    source = declare()
    arrivals = accept(source, peek(source, now=NOW).fresh, now=NOW).arrivals
    pins = sorted((file for arrival in arrivals for file in arrival.files), key=lambda f: f.path)
    for name in "bc":
        (landing / f"{name}.parquet").unlink()
    with pytest.raises(ArrivalChangedError, match=r"b\.parquet is gone"):
        check_pins(pins)

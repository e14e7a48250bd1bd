from __future__ import annotations

from datetime import timedelta

import pytest

from slacktide.common.quantities import parse_bytes, parse_duration
from slacktide.errors import InvalidSettingError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0s", timedelta(0)),
        ("30s", timedelta(seconds=30)),
        ("250ms", timedelta(milliseconds=250)),
        ("10min", timedelta(minutes=10)),
        ("1.5h", timedelta(minutes=90)),
        (" 2 d ", timedelta(days=2)),
    ],
)
def test_durations(text, expected):
    assert parse_duration(text, setting="settle") == expected


@pytest.mark.parametrize(
    "value",
    ["", "30", "s", "-1s", "30 sec", "1h30min", "1e3s", "30S", "٣s", 30, None, "9" * 30 + "d"],
)
def test_what_is_no_duration(value):
    with pytest.raises(InvalidSettingError, match="settle is ") as caught:
        parse_duration(value, setting="settle")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0),
        (12, 12),
        ("0B", 0),
        ("512B", 512),
        ("500MB", 500_000_000),
        ("2GB", 2_000_000_000),
        ("1.5 KB", 1500),
        ("1GiB", 2**30),
        ("3TiB", 3 * 2**40),
        ("1PB", 10**15),
    ],
)
def test_bytes(value, expected):
    assert parse_bytes(value, setting="state_budget") == expected


@pytest.mark.parametrize("value", ["", "2", "GB", "-2GB", "2gb", "2G", "1e3B", -1, 1.5, True, None])
def test_what_is_no_number_of_bytes(value):
    with pytest.raises(InvalidSettingError, match="state_budget is ") as caught:
        parse_bytes(value, setting="state_budget")
    assert caught.value.hint


@pytest.mark.parametrize("value", ["99999999d", "36526d", "1e9d", "9" * 40 + "ms"])
def test_a_duration_is_a_century_at_most(value):
    with pytest.raises(InvalidSettingError, match="settle is "):
        parse_duration(value, setting="settle")
    assert parse_duration("36525d", setting="settle").days == 36_525

"""Texts of frames: what they say, and what is refused by name."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest

from slacktide.errors import InvariantError
from slacktide.program.reference.frames import Frame, Months, read_frame, shifted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING", Frame(True, -1, 2)),
        ("ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", Frame(True, 0, None)),
        ("RANGE BETWEEN -1.5D FOLLOWING AND 1L FOLLOWING", Frame(False, -1.5, 1)),
        (
            "RANGE BETWEEN INTERVAL '1-2' YEAR TO MONTH PRECEDING AND INTERVAL '2' YEAR FOLLOWING",
            Frame(False, Months(-14), Months(24)),
        ),
        (
            "RANGE BETWEEN INTERVAL '-1 02:03:04.5' DAY TO SECOND PRECEDING AND CURRENT ROW",
            Frame(False, timedelta(days=1, hours=2, minutes=3, seconds=4.5), 0),
        ),
    ],
)
def test_frames(text: str, expected: Frame) -> None:
    assert read_frame(text, is_ordered=True) == expected


def test_the_default_follows_the_order() -> None:
    assert read_frame("", is_ordered=True) == Frame(False, None, 0)
    assert read_frame("", is_ordered=False).is_whole


@pytest.mark.parametrize(
    "text",
    [
        "GROUPS BETWEEN CURRENT ROW AND CURRENT ROW",
        "ROWS BETWEEN NOW AND CURRENT ROW",
        "RANGE BETWEEN INTERVAL 'soon' DAY PRECEDING AND CURRENT ROW",
        "RANGE BETWEEN #4 PRECEDING AND CURRENT ROW",
    ],
)
def test_what_is_no_frame_is_refused(text: str) -> None:
    with pytest.raises(InvariantError, match="the reference cannot read"):
        read_frame(text, is_ordered=True)


def test_distances_of_dates_and_timestamps() -> None:
    assert shifted(date(1999, 1, 31), 1) == date(1999, 2, 1)
    assert shifted(date(1999, 1, 31), Months(1)) == date(1999, 2, 28)
    noon = datetime.fromisoformat("1999-01-31T12:00")
    assert shifted(noon, Months(-2)) == datetime.fromisoformat("1998-11-30T12:00")
    assert shifted(noon, timedelta(hours=13)) == datetime.fromisoformat("1999-02-01T01:00")

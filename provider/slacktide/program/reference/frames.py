"""Frames of windows: which rows of an ordered partition a window function sees from each row."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from slacktide.algebra.scalar import SortKey
from slacktide.algebra.textual.vocabulary import literal_type
from slacktide.errors import InvariantError
from slacktide.program.reference.dates import add_months
from slacktide.program.reference.literals import literal_value
from slacktide.program.reference.ordering import Row
from slacktide.program.reference.sorting import in_order, in_order_of

_FRAME = re.compile(r"(ROWS|RANGE) BETWEEN (.+) AND (.+)")
_BOUND = re.compile(r"(.+) (PRECEDING|FOLLOWING)")
_MONTHS = re.compile(r"INTERVAL '(-?)(?:(\d+)-)?(\d+)' (YEAR TO MONTH|YEAR|MONTH)")
_CAST = re.compile(r"CAST\((.+) AS (.+)\)")
WHOLE = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
SO_FAR = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"


@dataclass(frozen=True, slots=True)
class Months:
    """A span of time that is counted in months."""

    count: int


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame; a bound is None where it is unbounded, 0 for the current row, else signed.

    Attributes:
        by_rows: whether bounds count rows, or are distances of values.
    """

    by_rows: bool
    lower: Any
    upper: Any

    @property
    def is_whole(self) -> bool:
        """Whether every row sees the whole partition."""
        return self.lower is None and self.upper is None


def read_frame(text: str, *, is_ordered: bool) -> Frame:
    """Read a frame; an empty text is Spark's default.

    Raises:
        InvariantError: the text is no frame that the reference reads.
    """
    match = _FRAME.fullmatch(text or (SO_FAR if is_ordered else WHOLE))
    if match is None:
        raise InvariantError(f"the reference cannot read the frame {text}")
    return Frame(match[1] == "ROWS", _bound(match[2]), _bound(match[3]))


def _bound(text: str) -> Any:
    if text.startswith("UNBOUNDED "):
        return None
    if text == "CURRENT ROW":
        return 0
    match = _BOUND.fullmatch(text)
    if match is None:
        raise InvariantError(f"the reference cannot read the bound {text}")
    distance = _distance(match[1])
    return _negative(distance) if match[2] == "PRECEDING" else distance


def _distance(text: str) -> Any:
    if months := _MONTHS.fullmatch(text):
        sign, years, count, unit = months.groups()
        whole = int(years or 0) * 12 + int(count) * (12 if unit == "YEAR" else 1)
        return Months(-whole if sign else whole)
    if text.startswith("INTERVAL"):
        return _span(text)
    cast = _CAST.fullmatch(text)
    typed = (cast[2], False) if cast else literal_type(text)
    if typed is None:
        raise InvariantError(f"the reference cannot read the distance {text}")
    return literal_value(text, typed[0])


def _span(text: str) -> timedelta:
    """Read days, hours, minutes and seconds, which are written up to the last unit."""
    match = re.fullmatch(r"INTERVAL '(-?)([\d .:]+)' (\w+)(?: TO (\w+))?", text)
    if match is None:
        raise InvariantError(f"the reference cannot read the distance {text}")
    sign, body, first, _ = match.groups()
    units = ("days", "hours", "minutes", "seconds")
    start = units.index(f"{first.lower()}s")
    numbers = re.split(r"[ :]", body)
    span = timedelta(**dict(zip(units[start:], map(float, numbers), strict=False)))
    return -span if sign else span


def _negative(distance: Any) -> Any:
    return Months(-distance.count) if isinstance(distance, Months) else -distance


def spans(frame: Frame, order: Sequence[SortKey], keys: Sequence[Row]) -> list[range]:
    """Give, for each row of an ordered partition, the places of the rows that it sees.

    Args:
        frame: the frame.
        order: the order of the partition.
        keys: for each row the values of the sort keys, in this order.
    """
    size = len(keys)
    if frame.is_whole:
        return [range(size)] * size
    if frame.by_rows:
        return [
            range(
                0 if frame.lower is None else max(place + frame.lower, 0),
                size if frame.upper is None else max(min(place + frame.upper + 1, size), 0),
            )
            for place in range(size)
        ]
    return [_by_values(frame, order, keys, place) for place in range(size)]


def _by_values(frame: Frame, order: Sequence[SortKey], keys: Sequence[Row], place: int) -> range:
    start = _edge(frame.lower, order, keys, place)
    end = _edge(frame.upper, order, keys, place)
    first, last = 0, len(keys)
    while start is not None and first < last and start(keys[first]) < 0:
        first += 1
    while end is not None and last > first and end(keys[last - 1]) > 0:
        last -= 1
    return range(first, last)


def _edge(
    bound: Any, order: Sequence[SortKey], keys: Sequence[Row], place: int
) -> Callable[[Row], int] | None:
    """Compare the keys of a row with the edge that a bound gives the frame of another row."""
    here = keys[place]
    if bound is None:
        return None
    if bound == 0:
        return lambda other: in_order(order, other, here)
    key = order[0]
    value = here[0]
    if value is not None:
        value = shifted(value, bound if key.ascending else _negative(bound))
    return lambda other: in_order_of(key, other[0], value)


def shifted(value: Any, distance: Any) -> Any:
    """Give the value at a distance from another."""
    if isinstance(distance, Months):
        return add_months(value, distance.count)
    if isinstance(value, date) and not isinstance(value, datetime) and isinstance(distance, int):
        return value + timedelta(days=distance)
    return value + distance

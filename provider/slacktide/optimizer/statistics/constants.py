"""Constants as numbers: what a predicate says of the range of a column.

A day counts from the first one of the year 1, as `date.toordinal` does, and an instant as the day and the part of it
that has passed, in UTC. So days and instants compare as they do in SQL, but for the session's time zone.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import Final

from slacktide.algebra import scalar as s

SECONDS_PER_DAY: Final = 86_400.0
FIRST_DAY: Final = 719_163
"""The number of 1970-01-01."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_DATE = re.compile(r"DATE '(\d{4}-\d\d-\d\d)'")
_INSTANT = re.compile(r"TIMESTAMP_(?:LTZ|NTZ) '([^']+?)Z?'")
_MICROS = re.compile(r"timestamp_micros\((-?\d+)L\)")


def number_of(value: s.Scalar) -> float | None:
    """A constant as a number; None where it is none, nor a day or an instant."""
    if not isinstance(value, s.Literal):
        return None
    sql = value.sql
    if found := _DATE.search(sql):
        return _ordinal(found[1])
    if found := _INSTANT.search(sql):
        return _instant(found[1])
    if found := _MICROS.search(sql):
        return FIRST_DAY + int(found[1]) / (1e6 * SECONDS_PER_DAY)
    number = _NUMBER.search(sql)
    return float(number[0]) if number and "'" not in sql else None


def _ordinal(day: str) -> float | None:
    try:
        return float(date.fromisoformat(day).toordinal())
    except ValueError:  # the year 0, which Spark has
        return None


def _instant(text: str) -> float | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    passed = found - datetime.combine(found.date(), time())
    return found.toordinal() + passed.total_seconds() / SECONDS_PER_DAY

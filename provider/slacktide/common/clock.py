"""The clock as a value that is passed in, so that plans and tests are reproducible."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
_LONG_PERIOD = re.compile(r"[0-9]{4}(-(0[1-9]|1[0-2]))?", re.ASCII)


def system_clock() -> datetime:
    """Give the present instant in UTC; the only reading of the machine's clock."""
    return datetime.now(UTC)  # noqa: TID251 - the one place that reads the clock


def isoformat(instant: datetime) -> str:
    """Spell an instant in UTC with microseconds, so that texts sort as instants do."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_instant(text: str) -> datetime:
    """Read what `isoformat` wrote; an offset other than Z is accepted too."""
    return datetime.fromisoformat(text)


def is_point(text: str) -> bool:
    """Whether a text is an instant of ISO 8601, or a day, month or year that ends at one."""
    if _LONG_PERIOD.fullmatch(text):
        return True
    try:
        parse_instant(text)
    except ValueError:
        return False
    return True

"""The clock as a value that is passed in, so that plans and tests are reproducible."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Give the present instant in UTC; the only reading of the machine's clock."""
    return datetime.now(UTC)  # noqa: TID251 - the one place that reads the clock


def isoformat(instant: datetime) -> str:
    """Spell an instant in UTC with microseconds, so that texts sort as instants do."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_instant(text: str) -> datetime:
    """Read what `isoformat` wrote; an offset other than Z is accepted too."""
    return datetime.fromisoformat(text)

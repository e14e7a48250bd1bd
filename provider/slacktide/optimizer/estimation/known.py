"""What is known of sources: rows, columns, and what arrives (issue 5, part 1; tempura.md §5).

What is not known stands for a wide default, and all that follows from it says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

DEFAULT_ROWS: Final = 1_000_000.0
DEFAULT_SHARE: Final = 0.1
DEFAULT_WIDTH: Final = 16.0


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """What is known of a column.

    Attributes:
        distinct: how many values it has; None if not known.
        null_share: the share of rows in which it is NULL.
        width: bytes that a value takes; None if not known.
        least: the least value as a number, for dates in days; None if not known.
        greatest: the greatest value as a number; None if not known.
    """

    distinct: float | None = None
    null_share: float = 0.0
    width: float | None = None
    least: float | None = None
    greatest: float | None = None


@dataclass(frozen=True, slots=True)
class TableStatistics:
    """What is known of a source at the first instant."""

    rows: float
    columns: Mapping[str, ColumnStatistics] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChangeStatistics:
    """What arrives between two instants: an update is a row in both."""

    inserted: float
    deleted: float = 0.0


@dataclass(frozen=True, slots=True)
class Statistics:
    """All that is known.

    Attributes:
        tables: by name of the source.
        changes: by name of the source and the instant by which they have arrived.
    """

    tables: Mapping[str, TableStatistics] = field(default_factory=dict)
    changes: Mapping[tuple[str, int], ChangeStatistics] = field(default_factory=dict)

    def rows(self, source: str, version: int) -> tuple[float, bool]:
        """How many rows a source has at a version, and whether that is known."""
        table = self.tables.get(source)
        rows, is_known = (DEFAULT_ROWS, False) if table is None else (table.rows, True)
        for instant in range(2, version + 1):
            change, is_sure = self.change(source, instant)
            rows += change.inserted - change.deleted
            is_known = is_known and is_sure
        return max(0.0, rows), is_known

    def change(self, source: str, instant: int) -> tuple[ChangeStatistics, bool]:
        """What arrives by an instant, and whether that is known."""
        known = self.changes.get((source, instant))
        if known is not None:
            return known, True
        table = self.tables.get(source)
        rows = DEFAULT_ROWS if table is None else table.rows
        return ChangeStatistics(rows * DEFAULT_SHARE, rows * DEFAULT_SHARE), False

    def column(self, source: str, name: str) -> ColumnStatistics:
        """What is known of a column of a source."""
        table = self.tables.get(source)
        return (table.columns if table else {}).get(name, ColumnStatistics())

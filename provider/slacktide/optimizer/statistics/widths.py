"""Bytes of estimated rows: in memory, packed in files and shuffles, and as Spark expects them before it runs.

Spark has no statistics of columns here: no filter makes a table smaller to it, a join has the product of the bytes
of its sides, and what takes columns away takes their share of the bytes. By that it decides which side of a
join it sends to all tasks; what it finds while it runs comes too late for rows that were shuffled by then.
"""

from __future__ import annotations

from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra.widths import width
from slacktide.optimizer.statistics.facts import Figure, SourceFacts

COMPRESSED: Final = 0.3
"""Bytes of a row in a file or a shuffle for one in memory; over the joins of TPC-H it is a quarter."""


def in_memory(rows: Figure, columns: r.Columns) -> float:
    """Bytes of rows, as Spark holds them in memory."""
    return rows.value * width(columns)


def packed(rows: Figure, columns: r.Columns) -> float:
    """Bytes of rows, as Spark packs them into files and shuffles."""
    return COMPRESSED * in_memory(rows, columns)


def scan_bytes(known: SourceFacts, rows: Figure, size: float, fields: r.Columns) -> float:
    """Bytes that Spark expects of columns of a source, or of its changes.

    Args:
        known: of the source.
        rows: in the files that are read.
        size: bytes of these files, 0 where nobody knows.
        fields: the columns that are read.
    """
    if not (size and known.width):
        return packed(rows, fields)
    return size * min(width(fields) / known.width, 1.0)


def reshaped(planned: float, before: r.Columns, after: r.Columns) -> float:
    """Bytes that Spark expects where columns take the place of others."""
    return planned * width(after) / width(before)


def joined(left: float, right: float) -> float:
    """Bytes that Spark expects of a join of sides of which it expects so many, and no side to be nothing."""
    return max(left, 1.0) * max(right, 1.0)


def summarised(planned: float, before: r.Columns, after: r.Columns, *, has_keys: bool) -> float:
    """Bytes that Spark expects of a grouping: as many groups as rows, or one row."""
    return reshaped(planned, before, after) if has_keys else width(after)

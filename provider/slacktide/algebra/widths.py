"""Bytes of rows in memory, by the types of their columns."""

from __future__ import annotations

from collections.abc import Sequence

from slacktide.algebra import relation as r


def width(columns: r.Columns) -> float:
    """Bytes of a row in memory."""
    return row_width([column.type for column in columns])


def row_width(types: Sequence[str]) -> float:
    """Bytes of a row of such types in memory: eight for each value, and those of a text besides."""
    texts = sum(not has_fixed_width(data_type) for data_type in types)
    return 16.0 + 8.0 * len(types) + 16.0 * texts


def has_fixed_width(data_type: str) -> bool:
    """Whether all values of a type take as many bytes."""
    fixed = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE")
    return data_type in fixed or data_type.startswith(("TIMESTAMP", "DECIMAL"))

"""Restoring NOT NULL: a file says of no column that it is never NULL, a query's schema does."""

from __future__ import annotations

import re

from slacktide.algebra.literals import zero_sql
from slacktide.algebra.types import DataType

_ZERO = re.compile(r"(TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|DECIMAL\(.*\))")


def never_null_sql(column: str, data_type: DataType) -> str:
    """The column under a type that says it is never NULL, where such a constant can be written.

    The constant never shows: the column has no NULL.
    """
    constant = _constant(data_type)
    return column if constant is None else f"COALESCE({column}, {constant})"


def _constant(data_type: DataType) -> str | None:
    if _ZERO.fullmatch(data_type):
        return zero_sql(data_type)
    match data_type:
        case "STRING":
            return "''"
        case "BOOLEAN":
            return "false"
        case "DATE":
            return "DATE '1970-01-01'"
        case "TIMESTAMP" | "TIMESTAMP_NTZ":
            return f"{data_type} '1970-01-01 00:00:00'"
        case "BINARY":
            return "X''"
        case _:
            return "array()" if data_type.startswith("ARRAY<") else None

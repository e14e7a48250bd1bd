"""Types of columns, spelled as Spark spells them in DDL: ``DECIMAL(12,2)``, ``ARRAY<INT>``.

A type is its text. What the rules need to know of it is asked of the text, here and nowhere else.
"""

from __future__ import annotations

import re

DataType = str

BOOLEAN: DataType = "BOOLEAN"
BIGINT: DataType = "BIGINT"
DOUBLE: DataType = "DOUBLE"
STRING: DataType = "STRING"
WIDEST_INTEGER: DataType = "DECIMAL(38,0)"

_DOUBLE_DIGITS = 15
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(-?\d+)\)")
_INTEGRAL = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT"})
_FLOATING = frozenset({"FLOAT", "DOUBLE"})
_BARE_TIMESTAMP = re.compile(r"(`(?:[^`]|``)*`)|\bTIMESTAMP\b(?!\s*:)")
_UNORDERED = re.compile(
    r"\b(MAP|VARIANT|COLLATE|INTERVAL\b(?! (YEAR|MONTH|DAY|HOUR|MINUTE|SECOND)))"
)


def decimal_of(data_type: DataType) -> tuple[int, int] | None:
    """Give precision and scale of a decimal type, None for any other type."""
    match = _DECIMAL.fullmatch(data_type)
    return (int(match[1]), int(match[2])) if match else None


def decimal(precision: int, scale: int) -> DataType:
    """Spell a decimal type, bounded at 38 digits as Spark bounds it."""
    return f"DECIMAL({min(precision, 38)},{min(scale, 38)})"


def is_averaged_in_doubles(average: DataType) -> bool:
    """Whether Spark adds up as doubles what has an average of this decimal type, and rounds at the end."""
    shape = decimal_of(average)
    return shape is not None and shape[0] <= _DOUBLE_DIGITS


def is_integral(data_type: DataType) -> bool:
    """Whether values are whole numbers of a fixed width."""
    return data_type in _INTEGRAL


def is_floating(data_type: DataType) -> bool:
    """Whether values are binary floating-point numbers."""
    return data_type in _FLOATING


def has_floating(data_type: DataType) -> bool:
    """Whether a floating-point number occurs anywhere inside."""
    return bool(re.search(r"\b(FLOAT|DOUBLE)\b", data_type))


def is_collated(data_type: DataType) -> bool:
    """Whether a string occurs anywhere inside that a collation compares."""
    return "COLLATE" in data_type


def is_comparable(data_type: DataType) -> bool:
    """Whether Spark compares two values for equality."""
    return not re.search(r"\b(MAP|VARIANT)\b", data_type)


def is_groupable(data_type: DataType) -> bool:
    """Whether equal values, and only these, share one image under GROUP BY.

    Maps, variants and calendar intervals have no order; a collation merges what differs.
    """
    return not _UNORDERED.search(data_type)


def is_told_apart(data_type: DataType) -> bool:
    """Whether an image tells values apart: not that of a variant."""
    return not re.search(r"\bVARIANT\b", data_type)


def type_sql(data_type: DataType) -> str:
    """A type as it is written where Spark parses it: what the bare word TIMESTAMP means is up to a session.

    Names of fields stay.
    """
    return _BARE_TIMESTAMP.sub(lambda found: found[1] or "TIMESTAMP_LTZ", data_type)

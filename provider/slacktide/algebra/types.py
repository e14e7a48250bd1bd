"""Types of columns, spelled as Spark spells them in DDL: ``DECIMAL(12,2)``, ``ARRAY<INT>``.

A type is its text. What the rules need to know of it is asked of the text, here and nowhere else.
"""

from __future__ import annotations

import re

from slacktide.errors import InvariantError

DataType = str

BOOLEAN: DataType = "BOOLEAN"
BIGINT: DataType = "BIGINT"
DOUBLE: DataType = "DOUBLE"
STRING: DataType = "STRING"
WIDEST_INTEGER: DataType = "DECIMAL(38,0)"

_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(-?\d+)\)")
_INTEGRAL = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT"})
_FLOATING = frozenset({"FLOAT", "DOUBLE"})
_UNORDERED = re.compile(
    r"\b(MAP|VARIANT|COLLATE|INTERVAL\b(?! (YEAR|MONTH|DAY|HOUR|MINUTE|SECOND)))"
)

_TOKEN = re.compile(r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|[^`']", re.DOTALL)
_NAMED = re.compile(
    r"(?P<name>`(?:[^`]|``)+`|[^:` ]+): ?(?P<type>.*?)(?: NOT NULL)?(?: COMMENT '(?:[^'\\]|\\.)*')?",
    re.DOTALL,
)


def decimal_of(data_type: DataType) -> tuple[int, int] | None:
    """Give precision and scale of a decimal type, None for any other type."""
    match = _DECIMAL.fullmatch(data_type)
    return (int(match[1]), int(match[2])) if match else None


def decimal(precision: int, scale: int) -> DataType:
    """Spell a decimal type, bounded at 38 digits as Spark bounds it."""
    return f"DECIMAL({min(precision, 38)},{min(scale, 38)})"


def is_integral(data_type: DataType) -> bool:
    """Whether values are whole numbers of a fixed width."""
    return data_type in _INTEGRAL


def is_floating(data_type: DataType) -> bool:
    """Whether values are binary floating-point numbers."""
    return data_type in _FLOATING


def has_floating(data_type: DataType) -> bool:
    """Whether a floating-point number occurs anywhere inside."""
    return bool(re.search(r"\b(FLOAT|DOUBLE)\b", data_type))


def is_comparable(data_type: DataType) -> bool:
    """Whether Spark compares two values for equality."""
    return not re.search(r"\b(MAP|VARIANT)\b", data_type)


def is_groupable(data_type: DataType) -> bool:
    """Whether equal values, and only these, share one image under GROUP BY.

    Maps, variants and calendar intervals have no order; a collation merges what differs.
    """
    return not _UNORDERED.search(data_type)


def is_told_apart(data_type: DataType) -> bool:
    """Whether an image tells values apart: not that of a variant, or of maps inside of other values."""
    if "VARIANT" in data_type:
        return False
    return data_type.count("MAP<") == int(data_type.startswith("MAP<"))


def storable(data_type: DataType) -> DataType:
    """The type as files can have it: the fields of a struct have names of their own.

    Structs that name two fields alike are fine in SQL and in no file; theirs are counted instead.
    """
    written = _walked(data_type, counted=True)
    return data_type if written == nullable(data_type) else written


def nullable(data_type: DataType) -> DataType:
    """The type without NOT NULL and comments inside, as values come back from files."""
    return _walked(data_type, counted=False)


def _walked(data_type: DataType, *, counted: bool) -> DataType:
    kind, inner = data_type.partition("<")[::2]
    if kind == "ARRAY":
        return f"ARRAY<{_walked(inner[:-1], counted=counted)}>"
    if kind == "MAP":
        return f"MAP<{', '.join(_walked(part, counted=counted) for part in _parts(inner[:-1]))}>"
    if kind != "STRUCT":
        return data_type
    fields = [_field(part) for part in _parts(inner[:-1])]
    names = [name for name, _ in fields]
    if counted and len({name.strip("`").lower() for name in names}) < len(names):
        names = [f"_{place}" for place in range(len(names))]
    types = [_walked(field_type, counted=counted) for _, field_type in fields]
    listed = ", ".join(f"{name}: {kind}" for name, kind in zip(names, types, strict=True))
    return f"STRUCT<{listed}>"


def _field(text: str) -> tuple[str, DataType]:
    """The name and the type of a field of a struct."""
    match = _NAMED.fullmatch(text)
    if match is None:
        raise InvariantError(f"a field of a struct does not read: {text}")
    return match["name"], match["type"]


def _parts(inner: str) -> list[str]:
    """Split the inside of a nested type at its own commas."""
    depth, parts = 0, [""]
    for sign in _TOKEN.findall(inner):
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]

"""Types with parts, taken apart: elements of arrays, keys and values of maps, fields of structs."""

from __future__ import annotations

from collections.abc import Iterator

from slacktide.algebra.types import DataType

_OPENING, _CLOSING, _QUOTES = "(<[", ")>]", "'`"


def split_top(text: str, separator: str) -> list[str]:
    """Cut a text where a separator stands outside of all brackets and quotes.

    Nothing is left of an empty text.
    """
    pieces, start = [], 0
    for place in _outside(text):
        if place >= start and text.startswith(separator, place):
            pieces.append(text[start:place].strip())
            start = place + len(separator)
    last = text[start:].strip()
    return [*pieces, last] if pieces or last else []


def _outside(text: str) -> Iterator[int]:
    """Places outside of all brackets and quotes; a backslash protects the sign behind it."""
    depth, quote, protected = 0, "", False
    for place, sign in enumerate(text):
        if quote:
            if sign == quote and not protected:
                quote = ""
            protected = sign == "\\" and not protected
        elif sign in _QUOTES:
            quote = sign
        elif sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            depth -= 1
        elif not depth:
            yield place


def is_array(data_type: DataType) -> bool:
    """Whether values are arrays."""
    return data_type.startswith("ARRAY<")


def is_map(data_type: DataType) -> bool:
    """Whether values are maps."""
    return data_type.startswith("MAP<")


def is_struct(data_type: DataType) -> bool:
    """Whether values are structs."""
    return data_type.startswith("STRUCT<")


def is_nested(data_type: DataType) -> bool:
    """Whether values have parts."""
    return is_array(data_type) or is_map(data_type) or is_struct(data_type)


def part_types(data_type: DataType) -> list[DataType]:
    """Types of the parts: the element, key and value, or the fields in order."""
    if is_struct(data_type):
        return [field_type for _, field_type in fields(data_type)]
    inner = data_type.partition("<")[2][:-1]
    return [_plain(part) for part in split_top(inner, ",")]


def fields(data_type: DataType) -> list[tuple[str, DataType]]:
    """Name and type of the fields of a struct."""
    found = []
    for part in split_top(data_type.partition("<")[2][:-1], ","):
        name, field_type = split_top(part, ":")
        found.append((name.strip("`").replace("``", "`"), _plain(field_type)))
    return found


def _plain(data_type: DataType) -> DataType:
    return data_type.removesuffix(" NOT NULL")

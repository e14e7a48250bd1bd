"""Types with parts, taken apart: elements of arrays, keys and values of maps, fields of structs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from slacktide.algebra.types import DataType, is_collated
from slacktide.errors import InvariantError

Names = Callable[[list[str]], list[str]]

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
    """Places outside of all brackets and quotes; in a text a backslash protects the sign behind it."""
    depth, quote, protected = 0, "", False
    for place, sign in enumerate(text):
        if quote:
            if sign == quote and not protected:
                quote = ""
            protected = quote == "'" and sign == "\\" and not protected
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
        return [field_type for _, field_type in _written(data_type)]
    return [_plain(part) for part in _inside(data_type)]


def fields(data_type: DataType) -> list[tuple[str, DataType]]:
    """Name and type of the fields of a struct."""
    return [(_unquoted(name), field_type) for name, field_type in _written(data_type)]


def nullable(data_type: DataType) -> DataType:
    """The type without NOT NULL and comments inside, as values come back from files."""
    return _walked(data_type, _as_written)


def are_alike(one: DataType, other: DataType) -> bool:
    """Whether two types differ in no more than NOT NULL and comments inside: values of one are values of the other, by name."""
    return one == other or nullable(one) == nullable(other)


def storable(data_type: DataType) -> DataType:
    """The type as files can have it: the fields of a struct have names of their own.

    Structs that name two fields alike are fine in SQL and in no file; theirs are counted instead.
    """
    stored = _walked(data_type, _told_apart)
    return data_type if stored == nullable(data_type) else stored


def is_storable(data_type: DataType) -> bool:
    """Whether files can have values of a type.

    None have calendar intervals, of months and days, structs of nothing, or maps whose keys a collation compares.
    """
    if is_nested(data_type):
        parts = part_types(data_type)
        has_odd_keys = is_map(data_type) and is_collated(parts[0])
        return bool(parts) and not has_odd_keys and all(map(is_storable, parts))
    return data_type != "INTERVAL"


def _walked(data_type: DataType, names_of: Names) -> DataType:
    """The type of the same parts, with the names that are given to the fields of each struct."""
    if not is_nested(data_type):
        return data_type
    parts = [_walked(part, names_of) for part in part_types(data_type)]
    if is_struct(data_type):
        names = names_of([name for name, _ in _written(data_type)])
        parts = [f"{name}: {part}" for name, part in zip(names, parts, strict=True)]
    return f"{data_type.partition('<')[0]}<{', '.join(parts)}>"


def _as_written(names: list[str]) -> list[str]:
    return names


def _told_apart(names: list[str]) -> list[str]:
    if len({_unquoted(name).lower() for name in names}) == len(names):
        return names
    return [f"_{place}" for place in range(len(names))]


def _written(data_type: DataType) -> list[tuple[str, DataType]]:
    """The fields of a struct, with the names as the type spells them."""
    found = []
    for part in _inside(data_type):
        pair = split_top(part, ":")
        if len(pair) != 2:
            raise InvariantError(f"a field of a struct does not read: {part}")
        found.append((pair[0], _plain(pair[1])))
    return found


def _inside(data_type: DataType) -> list[str]:
    return split_top(data_type.partition("<")[2][:-1], ",")


def _unquoted(name: str) -> str:
    is_quoted = len(name) > 1 and name[0] == name[-1] == "`"
    return name[1:-1].replace("``", "`") if is_quoted else name


def _plain(data_type: DataType) -> DataType:
    """The type of a part without what its place says: that it is not NULL, and what it is for."""
    return split_top(data_type, " COMMENT ")[0].removesuffix(" NOT NULL")

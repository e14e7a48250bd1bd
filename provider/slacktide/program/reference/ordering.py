"""When values are equal, which comes first, and which rows are one row.

Three notions, as Spark has them. *Comparison*: NULL is unknown, NaN equals NaN and is greatest,
-0.0 equals 0.0; inside arrays and structs NULL equals NULL and is least. *Grouping*: the same, but
NULL is one group. *Identity* of rows in a bag: by image, so that -0.0 and 0.0 stay two rows.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

Row = tuple[Any, ...]
T = TypeVar("T")


def compare(left: Any, right: Any) -> int:
    """Give -1, 0 or 1 for two values of one type, neither of which is NULL."""
    if isinstance(left, float) and isinstance(right, float):
        left, right = _ranked(left), _ranked(right)
    elif isinstance(left, tuple) and isinstance(right, tuple):
        return _compare_tuples(left, right)
    return int(left > right) - int(left < right)


def _ranked(value: float) -> tuple[bool, float]:
    return (True, 0.0) if math.isnan(value) else (False, value)


def _compare_tuples(left: Row, right: Row) -> int:
    for one, other in zip(left, right, strict=False):
        if one is None or other is None:
            order = (one is not None) - (other is not None)
        else:
            order = compare(one, other)
        if order:
            return order
    return (len(left) > len(right)) - (len(left) < len(right))


def is_same(left: Any, right: Any) -> bool:
    """Whether two values are equal where NULL equals NULL (``<=>``)."""
    if left is None or right is None:
        return left is right
    return compare(left, right) == 0


def group_key(value: Any) -> Hashable:
    """Give what the equal values of a group have in common."""
    if isinstance(value, float):
        return ("nan",) if math.isnan(value) else value + 0.0
    return _by_parts(value, group_key)


def normalised(value: Any) -> Any:
    """Give the value that a group shows for all that are equal: 0.0 for -0.0, inside others too."""
    if isinstance(value, float):
        return value + 0.0
    return tuple(map(normalised, value)) if isinstance(value, tuple) else value


def distinct(values: Iterable[T]) -> list[T]:
    """Give the first of all values that are equal, in their order."""
    found: dict[Hashable, T] = {}
    for value in values:
        found.setdefault(group_key(value), value)
    return list(found.values())


def group_keys(values: Iterable[Any]) -> tuple[Hashable, ...]:
    """Give the key of a whole group."""
    return tuple(group_key(value) for value in values)


def image(row: Row) -> tuple[Hashable, ...]:
    """Give what makes a row the same row: its values bit by bit."""
    return tuple(_bits(value) for value in row)


def _bits(value: Any) -> Hashable:
    if isinstance(value, float):
        return struct.pack("<d", math.nan if math.isnan(value) else value)
    return _by_parts(value, _bits)


def _by_parts(value: Any, of_part: Callable[[Any], Hashable]) -> Hashable:
    """The value by its parts; the entries of a map have no order."""
    if isinstance(value, tuple):
        return tuple(of_part(item) for item in value)
    if isinstance(value, dict):
        return frozenset((of_part(key), of_part(item)) for key, item in value.items())
    found: Hashable = value
    return found

"""Functions over arrays and maps, for values that are not NULL; their parts may be.

Arrays and structs are tuples, maps are dictionaries.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from slacktide.errors import DataError
from slacktide.program.reference.casts import to_text
from slacktide.program.reference.ordering import compare, distinct, group_key, is_same

Array = tuple[Any, ...]


def compared(left: Any, right: Any) -> int:
    """Give -1, 0 or 1; NULL equals NULL and is least."""
    if left is None or right is None:
        return (left is not None) - (right is not None)
    return compare(left, right)


def _sorted(array: Array, ascending: bool = True) -> Array:  # noqa: FBT001, FBT002 - by position
    return tuple(sorted(array, key=functools.cmp_to_key(compared), reverse=not ascending))


def _contains(array: Array, value: Any) -> bool | None:
    if any(item is not None and compare(item, value) == 0 for item in array):
        return True
    return None if None in array else False


def _position(array: Array, value: Any) -> int:
    places = (place for place, item in enumerate(array, 1) if is_same(item, value))
    return next(places, 0)


def _distinct(array: Array) -> Array:
    return tuple(distinct(array))


def _present(array: Array) -> Array:
    return tuple(item for item in array if item is not None)


def _least(array: Array) -> Any:
    return next(iter(_sorted(_present(array))), None)


def _greatest(array: Array) -> Any:
    return next(iter(_sorted(_present(array), ascending=False)), None)


def _concat(*values: Any) -> Any:
    if any(isinstance(value, tuple) for value in values):
        return tuple(item for value in values for item in value)
    return "".join(to_text(value) for value in values)


def _flatten(arrays: Array) -> Array | None:
    return None if None in arrays else tuple(item for array in arrays for item in array)


def _slice(array: Array, start: int, length: int) -> Array:
    if start == 0 or length < 0:
        raise DataError(f"a slice cannot start at {start} and have {length} elements")
    begin = start - 1 if start > 0 else len(array) + start
    return array[begin : begin + length] if begin >= 0 else ()


def _join(array: Array, delimiter: str, missing: str | None = None) -> str:
    texts = (missing if item is None else to_text(item) for item in array)
    return delimiter.join(text for text in texts if text is not None)


def _sequence(start: int, stop: int, step: int | None = None) -> Array:
    """Whole numbers from one to another, both included.

    Raises:
        DataError: the step leads away from the end.
    """
    by = step if step is not None else 1 if start <= stop else -1
    if (by > 0 and start > stop) or (by < 0 and start < stop) or (by == 0 and start != stop):
        raise DataError(f"no sequence leads from {start} to {stop} by {by}")
    return tuple(range(start, stop + (1 if by > 0 else -1), by)) if by else (start,)


def _item(value: Any, key: Any) -> Any:
    """Give an element, counted from zero, or the value of a key."""
    if isinstance(value, dict):
        return _of_key(value, key)
    if not 0 <= key < len(value):
        raise DataError(f"an array of {len(value)} elements has none at {key}")
    return value[key]


def _of_key(entries: Mapping[Any, Any], key: Any) -> Any:
    return next((item for own, item in entries.items() if is_same(own, key)), None)


def _get(array: Array, place: int) -> Any:
    return array[place] if 0 <= place < len(array) else None


def _element(value: Any, key: Any) -> Any:
    """Give an element, counted from one, from the end where negative, or the value of a key."""
    if isinstance(value, dict):
        return _of_key(value, key)
    if key == 0 or abs(key) > len(value):
        raise DataError(f"an array of {len(value)} elements has none at {key}")
    return value[key - 1 if key > 0 else key]


def _element_or_null(value: Any, key: Any) -> Any:
    if key == 0 and isinstance(value, tuple):
        raise DataError("elements are counted from 1")
    is_there = isinstance(value, dict) or abs(key) <= len(value)
    return _element(value, key) if is_there else None


def entries(keys: Iterable[Any], values: Iterable[Any]) -> dict[Any, Any]:
    """Make a map.

    Raises:
        DataError: a key is NULL or occurs twice.
    """
    found: dict[Any, Any] = {}
    for key, value in zip(keys, values, strict=True):
        if key is None or key in found:
            raise DataError(f"a map cannot have the key {key} {'' if key is None else 'twice'}")
        found[key + 0.0 if isinstance(key, float) else key] = value
    return found


def _concat_maps(*maps: Mapping[Any, Any]) -> dict[Any, Any]:
    pairs = [pair for one in maps for pair in one.items()]
    return entries((key for key, _ in pairs), (value for _, value in pairs))


def _except(left: Array, right: Array) -> Array:
    gone = {group_key(item) for item in right}
    return _distinct(tuple(item for item in left if group_key(item) not in gone))


def _intersect(left: Array, right: Array) -> Array:
    kept = {group_key(item) for item in right}
    return _distinct(tuple(item for item in left if group_key(item) in kept))


def _overlap(left: Array, right: Array) -> bool | None:
    if _intersect(_present(left), _present(right)):
        return True
    has_null = None in left or None in right
    return None if left and right and has_null else False


def _untyped(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _type, *values: function(*values)


_UNTYPED: Final[Mapping[str, Callable[..., Any]]] = {
    "array_compact": _present,
    "array_contains": _contains,
    "array_distinct": _distinct,
    "array_except": _except,
    "array_intersect": _intersect,
    "array_join": _join,
    "array_max": _greatest,
    "array_min": _least,
    "array_position": _position,
    "array_size": len,
    "array_union": lambda left, right: _distinct(left + right),
    "arrays_overlap": _overlap,
    "cardinality": len,
    "concat": _concat,
    "element_at": _element,
    "flatten": _flatten,
    "get": _get,
    "item": _item,
    "map_concat": _concat_maps,
    "map_contains_key": lambda value, key: _position(tuple(value), key) > 0,
    "map_entries": lambda value: tuple(value.items()),
    "map_from_arrays": entries,
    "map_keys": tuple,
    "map_values": lambda value: tuple(value.values()),
    "reverse": lambda value: value[::-1],
    "sequence": _sequence,
    "size": len,
    "slice": _slice,
    "sort_array": _sorted,
    "try_element_at": _element_or_null,
}
STRICT: Final[Mapping[str, Callable[..., Any]]] = {
    name: _untyped(function) for name, function in _UNTYPED.items()
}

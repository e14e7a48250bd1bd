"""Higher-order functions: an array, or NULL, and functions over its elements.

A function takes as many arguments as it names, from the left.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

Function = Callable[..., Any]
Array = tuple[Any, ...]


def _transform(array: Array, function: Function) -> Array:
    return tuple(function(item, place) for place, item in enumerate(array))


def _filter(array: Array, function: Function) -> Array:
    return tuple(item for place, item in enumerate(array) if function(item, place) is True)


def _exists(array: Array, function: Function) -> bool | None:
    found = [function(item) for item in array]
    return True if True in found else None if None in found else False


def _forall(array: Array, function: Function) -> bool | None:
    found = [function(item) for item in array]
    return False if False in found else None if None in found else True


def _aggregate(array: Array, start: Any, merge: Function, finish: Function | None = None) -> Any:
    total = functools.reduce(merge, array, start)
    return finish(total) if finish else total


def _sorted(array: Array, order: Function) -> Array:
    return tuple(sorted(array, key=functools.cmp_to_key(order)))


HIGHER: Final[Mapping[str, Function]] = {
    "aggregate": _aggregate,
    "array_sort": _sorted,
    "exists": _exists,
    "filter": _filter,
    "forall": _forall,
    "reduce": _aggregate,
    "transform": _transform,
}

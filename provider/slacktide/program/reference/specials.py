"""Functions that see NULL, or choose which of their arguments they evaluate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from slacktide.errors import DataError
from slacktide.program.reference.arrays import entries
from slacktide.program.reference.ordering import Row, compare, is_same

Evaluated = Callable[[Row], Any]
Special = Callable[[Row, Sequence[Evaluated]], Any]


def _and(row: Row, arguments: Sequence[Evaluated]) -> bool | None:
    unknown = False
    for argument in arguments:
        value = argument(row)
        if value is False:
            return False
        unknown = unknown or value is None
    return None if unknown else True


def _or(row: Row, arguments: Sequence[Evaluated]) -> bool | None:
    unknown = False
    for argument in arguments:
        value = argument(row)
        if value is True:
            return True
        unknown = unknown or value is None
    return None if unknown else False


def _in(row: Row, arguments: Sequence[Evaluated]) -> bool | None:
    value, *others = (argument(row) for argument in arguments)
    if value is None:
        return None
    if any(other is not None and compare(value, other) == 0 for other in others):
        return True
    return None if None in others else False


def _coalesce(row: Row, arguments: Sequence[Evaluated]) -> Any:
    for argument in arguments:
        value = argument(row)
        if value is not None:
            return value
    return None


def _if(row: Row, arguments: Sequence[Evaluated]) -> Any:
    condition, then, otherwise = arguments
    return then(row) if condition(row) is True else otherwise(row)


def _extreme(sign: int) -> Special:
    def evaluate(row: Row, arguments: Sequence[Evaluated]) -> Any:
        best: Any = None
        for argument in arguments:
            value = argument(row)
            if value is not None and (best is None or sign * compare(value, best) > 0):
                best = value
        return best

    return evaluate


def _array(row: Row, arguments: Sequence[Evaluated]) -> Row:
    return tuple(argument(row) for argument in arguments)


def _struct(row: Row, arguments: Sequence[Evaluated]) -> Row:
    """Names and values by turns."""
    return tuple(argument(row) for argument in arguments[1::2])


def _map(row: Row, arguments: Sequence[Evaluated]) -> dict[Any, Any]:
    """Keys and values by turns."""
    values = [argument(row) for argument in arguments]
    return entries(values[::2], values[1::2])


def _repeated(row: Row, arguments: Sequence[Evaluated]) -> Row | None:
    value, count = (argument(row) for argument in arguments)
    return None if count is None else (value,) * max(count, 0)


def _inserted(row: Row, arguments: Sequence[Evaluated]) -> Row | None:
    """An element at a place, counted from one or, where negative, from behind the end."""
    array, place, value = (argument(row) for argument in arguments)
    if array is None or place is None:
        return None
    if place == 0:
        raise DataError("elements are counted from 1")
    before = place - 1 if place > 0 else len(array) + place + 1
    filled = (None,) * (-before if place < 0 else before - len(array))
    if before < 0:
        return (value, *filled, *array)
    return (*array[:before], *filled, value, *array[before:])


SPECIAL: Final[Mapping[str, Special]] = {
    "array": _array,
    "array_insert": _inserted,
    "array_repeat": _repeated,
    "map": _map,
    "named_struct": _struct,
    "struct": _array,
    "and": _and,
    "or": _or,
    "in": _in,
    "inset": _in,
    "coalesce": _coalesce,
    "if": _if,
    "<=>": lambda row, arguments: is_same(arguments[0](row), arguments[1](row)),
    "isnull": lambda row, arguments: arguments[0](row) is None,
    "isnan": lambda row, arguments: is_same(arguments[0](row), math.nan),
    "isnotnull": lambda row, arguments: arguments[0](row) is not None,
    "greatest": _extreme(1),
    "least": _extreme(-1),
}

"""Scalar functions by name: what each gives for values that are not NULL.

A strict function gives NULL when an argument is NULL. The others, which see NULL or choose what
they evaluate, stand in `slacktide.program.reference.specials`.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Final

from slacktide.algebra.types import DataType, is_floating
from slacktide.errors import DataError
from slacktide.program.reference import arrays, numbers
from slacktide.program.reference.casts import to_text
from slacktide.program.reference.dates import add_months, last_day
from slacktide.program.reference.ordering import compare

Strict = Callable[..., Any]


def is_like(text: str, pattern: str, escape: str = "\\") -> bool:
    """Whether a text fits a LIKE pattern.

    Raises:
        DataError: the escape sign stands before a sign that needs none.
    """
    signs: list[str] = []
    rest = iter(pattern)
    for sign in rest:
        if sign == escape:
            escaped = next(rest, "")
            if escaped not in {"%", "_", escape}:
                raise DataError(f"the pattern '{pattern}' escapes '{escaped}'")
            signs.append(re.escape(escaped))
        else:
            signs.append({"%": ".*", "_": "."}.get(sign, re.escape(sign)))
    return re.fullmatch("".join(signs), text, re.DOTALL) is not None


def substring(text: str, start: int, length: int = 1 << 31) -> str:
    """Give part of a text; counting begins at 1, from the end where `start` is negative."""
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    end = begin + max(length, 0)
    return text[max(begin, 0) : max(end, 0)]


def _negative(data_type: DataType, value: Any) -> Any:
    return numbers.fit(numbers.negated(value), data_type)


def _absolute(data_type: DataType, value: Any) -> Any:
    is_decimal = isinstance(value, Decimal)
    return numbers.fit(value.copy_abs() if is_decimal else abs(value), data_type)


def _floor(data_type: DataType, value: Any) -> Any:
    return _whole(data_type, value, ROUND_FLOOR, math.floor)


def _ceil(data_type: DataType, value: Any) -> Any:
    return _whole(data_type, value, ROUND_CEILING, math.ceil)


def _whole(data_type: DataType, value: Any, rounding: str, of_float: Callable[[float], int]) -> Any:
    if isinstance(value, float):
        return numbers.fit(of_float(value), data_type)
    return numbers.fit(numbers.exact(value).to_integral_value(rounding=rounding), data_type)


def _round(data_type: DataType, value: Any, places: int = 0) -> Any:
    if is_floating(data_type):
        return float(numbers.round_half_up("DECIMAL(38,18)", numbers.exact(value), places))
    return numbers.round_half_up(data_type, value, places)


def _shifted_left(data_type: DataType, value: int, places: int) -> int:
    bits = numbers.BITS[data_type]
    wrapped = (value << places % bits) & ((1 << bits) - 1)
    return wrapped - (1 << bits) if wrapped >> (bits - 1) else wrapped


def _untyped(function: Callable[..., Any]) -> Strict:
    return lambda _type, *values: function(*values)


def _fail(_type: DataType, message: str) -> Any:
    raise DataError(message)


ARITHMETIC: Final[Mapping[str, Strict]] = {
    "+": numbers.add,
    "-": numbers.subtract,
    "*": numbers.multiply,
    "/": numbers.divide,
    "try_divide": numbers.attempted(numbers.divide),
    "%": numbers.remainder,
    "div": numbers.whole_quotient,
    "negative": _negative,
    "positive": lambda _type, value: value,
    "abs": _absolute,
    "floor": _floor,
    "ceil": _ceil,
    "ceiling": _ceil,
    "round": _round,
    "sqrt": _untyped(lambda value: math.sqrt(value) if value >= 0 else math.nan),
    "pow": _untyped(math.pow),
    "power": _untyped(math.pow),
    "&": _untyped(operator.and_),
    "|": _untyped(operator.or_),
    "^": _untyped(operator.xor),
    "~": _untyped(operator.invert),
    "shiftleft": _shifted_left,
    "shiftright": _untyped(operator.rshift),
    "nanvl": _untyped(lambda value, other: other if math.isnan(value) else value),
}

COMPARISONS: Final[Mapping[str, Strict]] = {
    "=": lambda _type, left, right: compare(left, right) == 0,
    "<": lambda _type, left, right: compare(left, right) < 0,
    "<=": lambda _type, left, right: compare(left, right) <= 0,
    ">": lambda _type, left, right: compare(left, right) > 0,
    ">=": lambda _type, left, right: compare(left, right) >= 0,
    "not": lambda _type, value: not value,
}

TEXTS: Final[Mapping[str, Strict]] = {
    "like": _untyped(is_like),
    "rlike": _untyped(lambda text, pattern: re.search(pattern, text) is not None),
    "startswith": _untyped(str.startswith),
    "endswith": _untyped(str.endswith),
    "contains": _untyped(lambda text, part: part in text),
    "upper": _untyped(str.upper),
    "lower": _untyped(str.lower),
    "length": _untyped(len),
    "char_length": _untyped(len),
    "character_length": _untyped(len),
    "trim": _untyped(lambda text, signs=" ": text.strip(signs)),
    "ltrim": _untyped(lambda text, signs=" ": text.lstrip(signs)),
    "rtrim": _untyped(lambda text, signs=" ": text.rstrip(signs)),
    "substring": _untyped(substring),
    "substr": _untyped(substring),
    "left": _untyped(lambda text, length: text[: max(length, 0)]),
    "right": _untyped(lambda text, length: text[-length:] if length > 0 else ""),
    "replace": _untyped(lambda text, old, new="": text.replace(old, new) if old else text),
    "||": _untyped(lambda *values: "".join(to_text(value) for value in values)),
}

DATES: Final[Mapping[str, Strict]] = {
    "year": _untyped(lambda value: value.year),
    "quarter": _untyped(lambda value: (value.month + 2) // 3),
    "month": _untyped(lambda value: value.month),
    "day": _untyped(lambda value: value.day),
    "dayofmonth": _untyped(lambda value: value.day),
    "hour": _untyped(lambda value: value.hour),
    "minute": _untyped(lambda value: value.minute),
    "date_add": _untyped(lambda value, days: value + timedelta(days=days)),
    "date_sub": _untyped(lambda value, days: value - timedelta(days=days)),
    "datediff": _untyped(lambda end, start: (end - start).days),
    "date_diff": _untyped(lambda end, start: (end - start).days),
    "last_day": _untyped(last_day),
    "add_months": _untyped(add_months),
}

STRICT: Final[Mapping[str, Strict]] = {
    **ARITHMETIC,
    **COMPARISONS,
    **TEXTS,
    **DATES,
    **arrays.STRICT,
    "raise_error": _fail,
}

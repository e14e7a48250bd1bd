"""The type and nullability that Spark gives common calls, from those of their arguments.

The plan reader takes both from Spark itself. These rules are for texts, which leave out what goes
without saying, and for whoever builds relations by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from slacktide.algebra.scalar import Scalar
from slacktide.algebra.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    STRING,
    DataType,
    decimal,
    decimal_of,
    is_floating,
    is_integral,
)

Result = tuple[DataType, bool]
_LARGEST = 38
_KEPT_SCALE = 6

PREDICATES: Final = frozenset(
    {
        "=",
        "<",
        "<=",
        ">",
        ">=",
        "and",
        "or",
        "not",
        "in",
        "like",
        "startswith",
        "endswith",
        "contains",
    }
)
CERTAIN: Final = frozenset({"<=>", "isnull", "isnotnull"})
_INTEGERS: Final = frozenset({"year", "quarter", "month", "day", "dayofmonth", "length"})
_TEXTS: Final = frozenset({"upper", "lower", "trim", "substring", "concat"})


def call_type(function: str, arguments: Sequence[Scalar]) -> Result | None:
    """Give type and nullability of a call, None where no rule here knows them."""
    nullable = any(argument.nullable for argument in arguments)
    if function in CERTAIN:
        return BOOLEAN, False
    if function in PREDICATES:
        return BOOLEAN, nullable
    if function in _INTEGERS:
        return "INT", nullable
    if function in _TEXTS:
        return STRING, nullable
    if function == "coalesce" and arguments:
        return arguments[0].type, all(argument.nullable for argument in arguments)
    if function in _ARITHMETIC and len(arguments) == 2:
        found = _arithmetic(function, arguments[0].type, arguments[1].type)
        return None if found is None else (found, nullable)
    return None


def aggregate_type(function: str, arguments: Sequence[Scalar]) -> Result | None:
    """Give type and nullability of an aggregate, None where no rule here knows them."""
    if function == "count":
        return BIGINT, False
    if len(arguments) != 1:
        return None
    argument = arguments[0].type
    if function in {"min", "max"}:
        return argument, True
    shape = decimal_of(argument)
    if shape is None and not is_integral(argument) and not is_floating(argument):
        return None
    if function == "sum":
        return _sum_type(argument, shape), True
    if function == "avg":
        return (DOUBLE if shape is None else decimal(shape[0] + 4, shape[1] + 4)), True
    return None


def _sum_type(argument: DataType, shape: tuple[int, int] | None) -> DataType:
    if shape is not None:
        return decimal(shape[0] + 10, shape[1])
    return BIGINT if is_integral(argument) else DOUBLE


def _arithmetic(function: str, left: DataType, right: DataType) -> DataType | None:
    shape = _shape(function, left, right)
    if shape is not None:
        return bounded(*shape)
    return left if left == right else None


def _shape(function: str, left: DataType, right: DataType) -> Shape | None:
    """The digits of arithmetic on two decimals, however many; None of other types."""
    one, other = decimal_of(left), decimal_of(right)
    return None if one is None or other is None else _ARITHMETIC[function](one, other)


def exact_type(function: str, arguments: Sequence[Scalar]) -> DataType | None:
    """Give the type of arithmetic on two decimals that has all digits of every result; None where none has."""
    if len(arguments) != 2 or function not in _ARITHMETIC:
        return None
    shape = _shape(function, arguments[0].type, arguments[1].type)
    return decimal(*shape) if shape is not None and shape[0] <= _LARGEST else None


def bounded(precision: int, scale: int) -> DataType:
    """Give a decimal type that keeps whole digits, and six places if it must give up some."""
    if precision <= _LARGEST:
        return decimal(precision, scale)
    whole = precision - scale
    return decimal(_LARGEST, max(_LARGEST - whole, min(scale, _KEPT_SCALE)))


Shape = tuple[int, int]


def _sum_shape(one: Shape, other: Shape) -> Shape:
    scale = max(one[1], other[1])
    return max(one[0] - one[1], other[0] - other[1]) + scale + 1, scale


def _product_shape(one: Shape, other: Shape) -> Shape:
    return one[0] + other[0] + 1, one[1] + other[1]


def _quotient_shape(one: Shape, other: Shape) -> Shape:
    scale = max(_KEPT_SCALE, one[1] + other[0] + 1)
    return one[0] - one[1] + other[1] + scale, scale


def _remainder_shape(one: Shape, other: Shape) -> Shape:
    scale = max(one[1], other[1])
    return min(one[0] - one[1], other[0] - other[1]) + scale, scale


_ARITHMETIC: Final[Mapping[str, Callable[[Shape, Shape], Shape]]] = {
    "+": _sum_shape,
    "-": _sum_shape,
    "*": _product_shape,
    "/": _quotient_shape,
    "%": _remainder_shape,
}

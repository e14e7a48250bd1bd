"""Numbers as Spark has them: exact arithmetic, fitted into the result type at the end."""

from __future__ import annotations

import decimal
import math
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from slacktide.algebra.types import DataType, decimal_of, is_floating
from slacktide.errors import DataError, InvariantError

EXACT: Final = decimal.Context(prec=200, rounding=decimal.ROUND_HALF_UP)
BITS: Final = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_QUOTIENT_SCALE = 38

Number = int | Decimal | float


def attempted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, but NULL where it fails, as Spark's `try_` ones are."""

    def attempt(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except DataError:
            return None

    return attempt


def fit(value: Number, data_type: DataType) -> Any:
    """Give a number the type: decimals are rounded half up, what is out of range fails.

    Raises:
        DataError: the type does not hold the number.
    """
    if is_floating(data_type):
        return to_float(value, data_type)
    bounds = decimal_of(data_type)
    if bounds is not None:
        return to_decimal(value, *bounds)
    if data_type in BITS:
        return to_integer(value, data_type)
    raise InvariantError(f"{data_type} is not a type of numbers")


def to_float(value: Number, data_type: DataType) -> float:
    """Give a number as binary floating point; FLOAT has 32 bits."""
    number = float(value)
    if data_type == "FLOAT" and math.isfinite(number):
        try:
            return float(struct.unpack("<f", struct.pack("<f", number))[0])
        except OverflowError:
            return math.copysign(math.inf, number)
    return number


def to_decimal(value: Number, precision: int, scale: int) -> Decimal:
    """Round half up to a scale.

    Raises:
        DataError: more digits are left than the precision allows.
    """
    rounded = EXACT.add(EXACT.quantize(Decimal(value), Decimal(1).scaleb(-scale)), Decimal(0))
    if rounded.copy_abs() >= Decimal(1).scaleb(precision - scale):
        raise DataError(f"{value} does not fit DECIMAL({precision},{scale})")
    return rounded


def to_integer(value: Number, data_type: DataType) -> int:
    """Cut off what is behind the point.

    Raises:
        DataError: the type has too few bits.
    """
    number = int(value)
    bound = 1 << (BITS[data_type] - 1)
    if not -bound <= number < bound:
        raise DataError(f"{value} does not fit {data_type}")
    return number


def exact(value: Number) -> Decimal:
    """A whole number or decimal as an exact number."""
    return Decimal(value)


def negated(value: Any) -> Any:
    """The number with the other sign, every digit kept."""
    return value.copy_negate() if isinstance(value, Decimal) else -value


def add(data_type: DataType, left: Any, right: Any) -> Any:
    """Add in a result type."""
    if is_floating(data_type):
        return fit(left + right, data_type)
    return fit(EXACT.add(exact(left), exact(right)), data_type)


def subtract(data_type: DataType, left: Any, right: Any) -> Any:
    """Subtract in a result type."""
    if is_floating(data_type):
        return fit(left - right, data_type)
    return fit(EXACT.subtract(exact(left), exact(right)), data_type)


def multiply(data_type: DataType, left: Any, right: Any) -> Any:
    """Multiply in a result type."""
    if is_floating(data_type):
        return fit(left * right, data_type)
    return fit(EXACT.multiply(exact(left), exact(right)), data_type)


def divide(data_type: DataType, left: Any, right: Any) -> Any:
    """Divide in a result type; a decimal quotient is rounded to 38 places, then to the type.

    Raises:
        DataError: the divisor is zero.
    """
    if right == 0:
        raise DataError("division by zero")
    if is_floating(data_type):
        return fit(left / right, data_type)
    quotient = EXACT.divide(exact(left), exact(right))
    return fit(EXACT.quantize(quotient, Decimal(1).scaleb(-_QUOTIENT_SCALE)), data_type)


def remainder(data_type: DataType, left: Any, right: Any) -> Any:
    """Give the remainder, with the sign of the dividend.

    Raises:
        DataError: the divisor is zero.
    """
    if right == 0:
        raise DataError("division by zero")
    if is_floating(data_type):
        return fit(math.fmod(left, right), data_type)
    return fit(EXACT.remainder(exact(left), exact(right)), data_type)


def whole_quotient(data_type: DataType, left: Any, right: Any) -> Any:
    """Divide and cut off what is behind the point.

    Raises:
        DataError: the divisor is zero.
    """
    if right == 0:
        raise DataError("division by zero")
    return fit(EXACT.divide_int(exact(left), exact(right)), data_type)


def round_half_up(data_type: DataType, value: Any, places: int = 0) -> Any:
    """Round half up to a number of places, which may be negative."""
    rounded = EXACT.quantize(exact(value), Decimal(1).scaleb(-places))
    return fit(rounded, data_type)

"""Conversions between common types, in ANSI mode."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from slacktide.algebra.nested import is_array, is_nested, part_types
from slacktide.algebra.types import DataType, decimal_of, is_floating, is_integral
from slacktide.errors import DataError, InvariantError
from slacktide.program.reference.numbers import EXACT, fit

Convert = Callable[[Any, DataType], Any]
_TRUE = frozenset({"t", "true", "y", "yes", "1"})
_FALSE = frozenset({"f", "false", "n", "no", "0"})
_SPECIAL = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?")


def cast_value(value: Any, target: DataType) -> Any:
    """Convert a value; NULL stays NULL.

    Raises:
        DataError: the target has no such value.
        InvariantError: the reference does not know the conversion.
    """
    if value is None:
        return None
    if is_integral(target) or is_floating(target) or decimal_of(target) is not None:
        return _to_number(value, target)
    match target:
        case "STRING":
            return to_text(value)
        case "BOOLEAN":
            return _to_boolean(value)
        case "DATE":
            return _to_date(value)
        case "TIMESTAMP" | "TIMESTAMP_NTZ":
            return _to_timestamp(value)
        case _:
            pass
    raise InvariantError(f"the reference cannot cast {value!r} to {target}")


def try_cast_value(value: Any, target: DataType) -> Any:
    """Convert a value, to NULL where the target has no such value.

    Raises:
        InvariantError: the reference does not know the conversion.
    """
    try:
        return cast_value(value, target)
    except DataError:
        return None


def cast_from(source: DataType, value: Any, target: DataType, convert: Convert) -> Any:
    """Convert a value of a known type; a value with parts part by part.

    Args:
        source: its type.
        value: the value.
        target: the type that is wanted.
        convert: `cast_value` or `try_cast_value`, applied to the values that have no parts.

    Raises:
        DataError: the target has no such value.
        InvariantError: the reference does not know the conversion.
    """
    if value is None or source == target:
        return value
    if not is_nested(source):
        return convert(value, target)
    if target == "STRING":
        return _spell_nested(source, value)
    parts = list(zip(part_types(source), part_types(target), strict=True))
    if isinstance(value, dict):
        (key_from, key_to), (from_, to) = parts
        return {
            cast_from(key_from, key, key_to, convert): cast_from(from_, item, to, convert)
            for key, item in value.items()
        }
    pairs = parts * len(value) if is_array(source) else parts
    return tuple(
        cast_from(from_, item, to, convert) for item, (from_, to) in zip(value, pairs, strict=True)
    )


def _spell_nested(data_type: DataType, value: Any) -> str:
    types = part_types(data_type)

    def spell(item_type: DataType, item: Any) -> str:
        return "null" if item is None else str(cast_from(item_type, item, "STRING", cast_value))

    if isinstance(value, dict):
        pairs = (f"{spell(types[0], key)} -> {spell(types[1], i)}" for key, i in value.items())
        return "{" + ", ".join(pairs) + "}"
    if is_array(data_type):
        return "[" + ", ".join(spell(types[0], item) for item in value) + "]"
    return "{" + ", ".join(map(spell, types, value)) + "}"


def _to_number(value: Any, target: DataType) -> Any:
    if isinstance(value, bool):
        return fit(int(value), target)
    if isinstance(value, str):
        return _parse_number(value.strip(), target)
    if isinstance(value, datetime):
        return fit(_seconds(value), target)
    if isinstance(value, float) and not is_floating(target):
        if not math.isfinite(value):
            raise DataError(f"{value} does not fit {target}")
        return fit(Decimal(repr(value)), target)
    if isinstance(value, int | Decimal | float):
        return fit(value, target)
    raise InvariantError(f"the reference cannot cast {value!r} to {target}")


def _parse_number(text: str, target: DataType) -> Any:
    if is_floating(target) and _SPECIAL.fullmatch(text):
        return float(text)
    try:
        number = EXACT.create_decimal(text)
    except InvalidOperation:
        raise DataError(f"'{text}' is no {target}") from None
    if not number.is_finite() or (is_integral(target) and number != number.to_integral_value()):
        raise DataError(f"'{text}' is no {target}")
    return fit(number, target)


def _seconds(value: datetime) -> Decimal:
    return Decimal(int(value.replace(tzinfo=UTC).timestamp()))


def _to_boolean(value: Any) -> bool:
    if isinstance(value, str):
        text = value.strip().lower()
        if text not in _TRUE | _FALSE:
            raise DataError(f"'{value}' is no BOOLEAN")
        return text in _TRUE
    return bool(value != 0)


def _to_date(value: Any) -> date:
    if isinstance(value, str):
        return parse_date(value)
    return value.date() if isinstance(value, datetime) else value


def _to_timestamp(value: Any) -> datetime:
    if isinstance(value, str):
        return parse_timestamp(value)
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - UTC by convention
    raise InvariantError(f"the reference cannot cast {value!r} to TIMESTAMP")


def parse_date(text: str) -> date:
    """Read a date; month and day may be missing.

    Raises:
        DataError: the text is no date.
    """
    match = _DATE.fullmatch(text.strip())
    if match is None:
        raise DataError(f"'{text}' is no DATE")
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
    except ValueError:
        raise DataError(f"'{text}' is no DATE") from None


def parse_timestamp(text: str) -> datetime:
    """Read an instant; without a zone it is in UTC.

    Raises:
        DataError: the text is no timestamp.
    """
    try:
        instant = datetime.fromisoformat(text.strip())
    except ValueError:
        raise DataError(f"'{text}' is no TIMESTAMP") from None
    return instant.astimezone(UTC).replace(tzinfo=None) if instant.tzinfo else instant


def to_text(value: Any) -> str:
    """Spell a value as a cast to STRING does."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return _spell_float(value)
        case Decimal():
            return _spell_decimal(value)
        case datetime():
            fraction = f".{value.microsecond:06d}".rstrip("0").rstrip(".")
            return f"{value:%Y-%m-%d %H:%M:%S}{fraction}"
        case bytes():
            return value.decode()
        case _:
            return str(value)


def _spell_decimal(value: Decimal) -> str:
    adjusted = value.adjusted()
    return f"{value:f}" if adjusted >= -7 else str(value)


def _spell_float(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    mantissa, _, exponent = f"{Decimal(repr(value)):E}".partition("E")
    whole = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{whole if '.' in whole else whole + '.0'}E{int(exponent)}"

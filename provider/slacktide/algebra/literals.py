"""Constants as SQL text: what Spark reads back to the same value and the same type.

Values come as Catalyst holds them: days for dates, microseconds for timestamps and intervals,
months for year-month intervals, texts for decimals, floats and binaries (hexadecimal).
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from slacktide.algebra.types import DataType, decimal_of, type_sql

_EPOCH = date(1970, 1, 1)
_INSTANT = datetime(1970, 1, 1)  # noqa: DTZ001 - only a point to count from; zones are spelled apart
_SUFFIX = {"TINYINT": "Y", "SMALLINT": "S", "INT": "", "BIGINT": "L"}
_INTERVAL = re.compile(r"INTERVAL (\w+)(?: TO (\w+))?")
_MICROS = {"DAY": 86_400_000_000, "HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000}
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_DAY_TIME = tuple(_MICROS)


def null_sql(data_type: DataType) -> str:
    """Spell NULL of a type."""
    return "NULL" if data_type == "VOID" else f"CAST(NULL AS {type_sql(data_type)})"


def zero_sql(data_type: DataType) -> str:
    """Spell zero of a type of numbers; without the type it is a whole number, and takes scale from decimals."""
    return f"CAST(0 AS {data_type})"


def text_sql(text: str) -> str:
    """Spell a string, with escapes for quotes, backslashes, control characters and variables."""
    pieces = []
    for sign in text:
        if sign in _ESCAPES:
            pieces.append(_ESCAPES[sign])
        elif ord(sign) < 32:
            pieces.append(f"\\u{ord(sign):04x}")
        else:
            pieces.append(sign)
    # Spark would put the value of a setting in the place of ${name}.
    return "'" + "".join(pieces).replace("${", "\\u0024{") + "'"


def literal_sql(value: object, data_type: DataType) -> str | None:
    """Spell a simple constant; None for a type that has no spelling here."""
    if value is None:
        return null_sql(data_type)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _whole(value, data_type)
    if isinstance(value, str):
        return _textual(value, data_type)
    return None


def _whole(value: int, data_type: DataType) -> str | None:
    if data_type in _SUFFIX:
        return f"{value}{_SUFFIX[data_type]}"
    if data_type == "DATE":
        return _date(value)
    if data_type in {"TIMESTAMP", "TIMESTAMP_NTZ"}:
        return _timestamp(value, data_type)
    if match := _INTERVAL.fullmatch(data_type):
        first, last = match[1], match[2] or match[1]
        return (
            _year_month(value, first, last)
            if first in {"YEAR", "MONTH"}
            else _day_time(value, first, last)
        )
    return None


def _textual(value: str, data_type: DataType) -> str | None:
    if data_type == "STRING":
        return text_sql(value)
    if data_type.startswith("STRING COLLATE "):
        return f"CAST({text_sql(value)} AS {data_type})"
    if data_type == "BINARY":
        return f"X'{value}'"
    if data_type in {"DOUBLE", "FLOAT"}:
        return _floating(value, data_type)
    if decimal_of(data_type):
        return _decimal(value, data_type)
    return None


def _floating(value: str, data_type: DataType) -> str:
    if value in {"NaN", "Infinity", "-Infinity"}:
        return f"CAST('{value}' AS {data_type})"
    return f"{value}{'D' if data_type == 'DOUBLE' else 'F'}"


def _decimal(value: str, data_type: DataType) -> str:
    digits = value.lstrip("-").replace(".", "").lstrip("0")
    scale = len(value.partition(".")[2])
    written = (max(len(digits), scale, 1), scale)
    return f"{value}BD" if written == decimal_of(data_type) else f"CAST({value}BD AS {data_type})"


def _date(days: int) -> str:
    try:
        return f"DATE '{(_EPOCH + timedelta(days=days)).isoformat()}'"
    except OverflowError:
        return f"date_from_unix_date({days})"


def _timestamp(micros: int, data_type: DataType) -> str | None:
    zone = "Z" if data_type == "TIMESTAMP" else ""
    kind = "TIMESTAMP_LTZ" if data_type == "TIMESTAMP" else "TIMESTAMP_NTZ"
    try:
        return f"{kind} '{(_INSTANT + timedelta(microseconds=micros)).isoformat(' ')}{zone}'"
    except OverflowError:
        return f"timestamp_micros({micros}L)" if zone else None


def _year_month(months: int, first: str, last: str) -> str:
    sign = "-" if months < 0 else ""
    years, rest = divmod(abs(months), 12)
    if first == last:
        return f"INTERVAL '{sign}{years if first == 'YEAR' else abs(months)}' {first}"
    return f"INTERVAL '{sign}{years}-{rest}' {first} TO {last}"


def _day_time(micros: int, first: str, last: str) -> str:
    sign = "-" if micros < 0 else ""
    rest = abs(micros)
    units = _DAY_TIME[_DAY_TIME.index(first) : _DAY_TIME.index(last) + 1]
    parts: list[str] = []
    for unit in units:
        count, rest = divmod(rest, _MICROS[unit])
        parts.append(f"{count:02d}" if parts else str(count))
    if last == "SECOND" and rest:
        parts[-1] += f".{rest:06d}"
    body = parts[0]
    for unit, part in zip(units[1:], parts[1:], strict=True):
        body += (" " if unit == "HOUR" else ":") + part
    span = first if first == last else f"{first} TO {last}"
    return f"INTERVAL '{sign}{body}' {span}"

"""Constants, read from the SQL text in which Spark prints them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

from slacktide.algebra.nested import part_types, split_top
from slacktide.algebra.types import DataType
from slacktide.errors import InvariantError
from slacktide.program.reference.casts import cast_value, parse_date, parse_timestamp
from slacktide.program.reference.numbers import fit

_NUMBER = re.compile(r"(-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(BD|[YSLDF])?")
_TYPED = re.compile(r"(DATE|TIMESTAMP|TIMESTAMP_LTZ|TIMESTAMP_NTZ)\s*'(.*)'")
_STRING = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BINARY = re.compile(r"X'((?:[0-9A-Fa-f]{2})*)'")
_CAST = re.compile(r"CAST\((.*)\)", re.DOTALL)
_PARTS = re.compile(r"(array|map|named_struct)\((.*)\)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}
_CONSTANT: Final[Mapping[str, Any]] = {"NULL": None, "TRUE": True, "FALSE": False}


def literal_value(sql: str, data_type: DataType) -> Any:
    """Read a constant of a known type.

    Raises:
        InvariantError: the text is none that the reference reads.
    """
    if sql.upper() in _CONSTANT:
        return _CONSTANT[sql.upper()]
    readers: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], DataType], Any]], ...] = (
        (_NUMBER, _number),
        (_TYPED, _instant),
        (_STRING, _string),
        (_BINARY, _binary),
        (_CAST, _cast),
        (_PARTS, _nested),
    )
    for pattern, reader in readers:
        match = pattern.fullmatch(sql)
        if match is not None:
            return reader(match, data_type)
    raise InvariantError(f"the reference cannot read the constant {sql}")


def _number(match: re.Match[str], data_type: DataType) -> Any:
    if match[2] in {"D", "F"}:
        return fit(float(match[1]), data_type)
    return fit(Decimal(match[1]), data_type)


def _instant(match: re.Match[str], _: DataType) -> date | datetime:
    return parse_date(match[2]) if match[1] == "DATE" else parse_timestamp(match[2])


def _string(match: re.Match[str], _: DataType) -> str:
    return _ESCAPE.sub(lambda found: _unescaped(found[1]), match[1])


def _unescaped(sign: str) -> str:
    return chr(int(sign[1:], 16)) if len(sign) > 1 else _ESCAPED.get(sign, sign)


def _binary(match: re.Match[str], _: DataType) -> bytes:
    return bytes.fromhex(match[1])


def _cast(match: re.Match[str], data_type: DataType) -> Any:
    """A constant under a cast that says its type again; a text may be cast to another type."""
    inner = " AS ".join(split_top(match[1], " AS ")[:-1])
    value = literal_value(inner, "STRING" if inner.startswith("'") else data_type)
    return cast_value(value, data_type) if isinstance(value, str) else value


def _nested(match: re.Match[str], data_type: DataType) -> Any:
    kind, parts, types = match[1], split_top(match[2], ","), part_types(data_type)
    match kind:
        case "array":
            return tuple(literal_value(part, types[0]) for part in parts)
        case "named_struct":
            return tuple(map(literal_value, parts[1::2], types))
        case _:
            keys = [literal_value(part, types[0]) for part in parts[::2]]
            return dict(zip(keys, (literal_value(p, types[1]) for p in parts[1::2]), strict=True))

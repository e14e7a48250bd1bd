"""The words of the text form, shared by writing and reading."""

from __future__ import annotations

import json
import re
from typing import Final

from slacktide.algebra.types import BIGINT, BOOLEAN, DOUBLE, STRING, DataType, decimal

INDENT: Final = 2
DEEPEST: Final = 40
INFIX: Final = frozenset(
    {"+", "-", "*", "/", "%", "=", "<=>", "<", "<=", ">", ">=", "and", "or", "||", "&", "|", "^"}
)
RESERVED: Final = frozenset({"cast", "try_cast", "case", "lambda", "query"})
MARKERS: Final = frozenset({"when", "then", "else", "where", "distinct", "and", "or"})

TYPE: Final = r"[A-Z][A-Z_]*(?:\(\d+(?:, ?-?\d+)?\))?"
_TYPE = re.compile(TYPE)
_WORD = re.compile(r"[A-Za-z_]\w*")
STRING_BODY: Final = r"'(?:[^'\\\x00-\x1f\x7f-\xa0\u2028\u2029]|\\.)*'"
_NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(BD|[YSLD])?")
_STRING = re.compile(STRING_BODY)
_INSTANT = re.compile(rf"(DATE|TIMESTAMP|TIMESTAMP_NTZ) {STRING_BODY}")
NULL: Final = re.compile(rf"CAST\(NULL AS ({TYPE})\)")
_SUFFIXES: Final = {"Y": "TINYINT", "S": "SMALLINT", "L": BIGINT, "D": DOUBLE}
_INT_BITS = 31


def quote(text: str) -> str:
    """Write any text as one token."""
    return json.dumps(text)


def spell_name(name: str) -> str:
    """Write a name, quoted unless it is a plain word."""
    return name if not name or _WORD.fullmatch(name) else quote(name)


def spell_function(name: str) -> str:
    """Write the name of a function, quoted unless it is a plain word."""
    return name if _WORD.fullmatch(name) and name not in RESERVED else quote(name)


def spell_type(data_type: DataType) -> str:
    """Write a type, quoted unless it is simple."""
    return data_type if _TYPE.fullmatch(data_type) else quote(data_type)


def annotation(data_type: DataType, *, nullable: bool) -> str:
    """Write type and nullability behind something."""
    return f":{spell_type(data_type)}{'' if nullable else '!'}"


def literal_type(sql: str) -> tuple[DataType, bool] | None:
    """Give type and nullability of a constant that says both itself, else None."""
    if sql in {"true", "false"}:
        return BOOLEAN, False
    if _STRING.fullmatch(sql):
        return STRING, False
    match = _INSTANT.fullmatch(sql)
    if match:
        return match[1], False
    match = NULL.fullmatch(sql)
    if match:
        return match[1], True
    match = _NUMBER.fullmatch(sql)
    found = _number_type(match) if match else None
    return None if found is None else (found, False)


def _number_type(match: re.Match[str]) -> DataType | None:
    _, whole, fraction, suffix = match.groups()
    if suffix == "BD":
        scale = len(fraction or "")
        digits = len((whole + (fraction or "")).lstrip("0"))
        return decimal(max(digits, scale, 1), scale)
    if suffix:
        return _SUFFIXES[suffix] if suffix == "D" or fraction is None else None
    if fraction is None and abs(int(whole)) < 1 << _INT_BITS:
        return "INT"
    return None

"""Names of Catalyst's classes, and fields that only repeat a mode of the session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from slacktide.spark.reader.context import Modes

OPERATORS: Final[Mapping[str, str]] = {
    "Add": "+",
    "BitwiseAnd": "&",
    "BitwiseNot": "~",
    "BitwiseOr": "|",
    "BitwiseXor": "^",
    "DateAddInterval": "+",
    "DateAddYMInterval": "+",
    "Divide": "/",
    "DivideDTInterval": "/",
    "DivideInterval": "/",
    "DivideYMInterval": "/",
    "EqualNullSafe": "<=>",
    "EqualTo": "=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "In": "in",
    "IntegralDivide": "div",
    "IsNotNull": "isnotnull",
    "IsNull": "isnull",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "Multiply": "*",
    "MultiplyDTInterval": "*",
    "MultiplyInterval": "*",
    "MultiplyYMInterval": "*",
    "Not": "not",
    "RLike": "rlike",
    "Remainder": "%",
    "Subtract": "-",
    "SubtractDates": "-",
    "SubtractTimestamps": "-",
    "TimestampAddInterval": "+",
    "TimestampAddYMInterval": "+",
    "UnaryMinus": "negative",
    "GetArrayItem": "item",
    "GetMapValue": "item",
}

# Classes whose function is made by a builder or is an alias that the registry does not give.
FUNCTIONS: Final[Mapping[str, str]] = {
    "Ceil": "ceil",
    "Contains": "contains",
    "CreateNamedStruct": "named_struct",
    "EndsWith": "endswith",
    "Floor": "floor",
    "Hour": "hour",
    "Length": "length",
    "Mask": "mask",
    "Minute": "minute",
    "Second": "second",
    "SecondWithFraction": "extract second",
    "StartsWith": "startswith",
    "StringLPad": "lpad",
    "StringRPad": "rpad",
    "StringTrim": "trim",
    "StringTrimLeft": "ltrim",
    "StringTrimRight": "rtrim",
    "Substring": "substring",
    "ToCharacter": "to_char",
}

# Marks that change no value: the optimiser of the executing session puts its own.
TRANSPARENT: Final = frozenset(
    {
        "KnownFloatingPointNormalized",
        "KnownNotContainsNull",
        "KnownNotNull",
        "KnownNullable",
        "NormalizeNaNAndZero",
    }
)

TRY: Final[Mapping[str, str]] = {
    "+": "try_add",
    "-": "try_subtract",
    "*": "try_multiply",
    "/": "try_divide",
    "%": "try_mod",
    "sum": "try_sum",
    "avg": "try_avg",
    "item": "get",
    "element_at": "try_element_at",
    "make_interval": "try_make_interval",
    "url_decode": "try_url_decode",
}

# Static methods in which functions end: (object, method) -> (function, arguments that SQL gives).
INVOKED: Final[Mapping[tuple[str, str], tuple[str, int]]] = {
    ("Encode", "encode"): ("encode", 2),
    ("StringDecode", "decode"): ("decode", 2),
    ("Base64", "encode"): ("base64", 1),
    ("UrlCodec$", "encode"): ("url_encode", 1),
    ("UrlCodec", "encode"): ("url_encode", 1),
    ("ExpressionImplUtils", "isLuhnNumber"): ("luhn_check", 1),
    ("JsonExpressionUtils", "lengthOfJsonArray"): ("json_array_length", 1),
    ("JsonExpressionUtils", "jsonObjectKeys"): ("json_object_keys", 1),
}

_LEGACY_OFF: Final[Mapping[str, Any]] = {
    "legacyInterval": False,
    "allowNullComparisonResult": False,
    "followThreeValuedLogic": True,
    "seed": 42,
    "useStringTypeWhenEmpty": False,
    "pairDelimiter": None,
    "mutableAggBufferOffset": 0,
    "inputAggBufferOffset": 0,
    "nullOnDivideByZero": True,
    "reverse": False,
}


def is_mode(modes: Modes, field: str, value: Any) -> Literal["same", "try"] | None:
    """Say whether a field only repeats the session's mode, or asks for the try variant."""
    normal = "ANSI" if modes.ansi else "LEGACY"
    if field == "evalContext":
        if value["f"]["allowDecimalPrecisionLoss"] != modes.precision_loss:
            return None
        return is_mode(modes, "evalMode", value["f"]["evalMode"])
    if field == "evalMode":
        return "same" if value == normal else "try" if value == "TRY" else None
    if field in {"failOnError", "ansiEnabled"}:
        return "same" if value == modes.ansi else None if value else "try"
    if field == "timeZoneId":
        return "same" if value in (None, modes.zone) else None
    if field in _LEGACY_OFF:
        return "same" if value == _LEGACY_OFF[field] else None
    return "same" if value is None else None

"""The share of rows for which a predicate is true, from what is known of columns.

Values are taken for evenly spread and conditions for independent (P. Selinger and others, *Access Path
Selection in a Relational Database Management System*, SIGMOD 1979, §4, whose defaults are used where
nothing is known: a tenth for an equality, a third for an inequality).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Final

from slacktide.algebra import scalar as s
from slacktide.optimizer.statistics.facts import UNKNOWN_COLUMN, ColumnFacts

EQUAL: Final = 0.1
RANGE: Final = 1 / 3
LIKE: Final = 0.1
OTHER: Final = 0.5
Columns = Mapping[int, ColumnFacts]
_ORDERED: Final = {"<": -1, "<=": -1, ">": 1, ">=": 1}
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_DATE = re.compile(r"DATE '(\d{4}-\d\d-\d\d)'")


def selectivity(predicate: s.Scalar | None, columns: Columns) -> float:
    """The share of rows for which a predicate is true, between 0 and 1."""
    done: dict[bytes, float] = {}
    stack = [] if predicate is None else [(predicate, False)]
    while stack:
        part, expanded = stack.pop()
        inner = _connected(part)
        if inner and not expanded:
            stack += [(part, True), *((one, False) for one in inner)]
        elif inner:
            done[part.digest] = _joined(part, [done[one.digest] for one in inner])
        else:
            done[part.digest] = min(max(_leaf(part, columns), 0.0), 1.0)
    return 1.0 if predicate is None else done[predicate.digest]


def _connected(part: s.Scalar) -> tuple[s.Scalar, ...]:
    is_connective = isinstance(part, s.Call) and part.function in {"and", "or", "not"}
    return part.arguments if is_connective and isinstance(part, s.Call) else ()


def _joined(part: s.Scalar, shares: list[float]) -> float:
    function = part.function if isinstance(part, s.Call) else ""
    if function == "not":
        return 1.0 - shares[0]
    product = 1.0
    for share in shares:
        product *= share if function == "and" else 1.0 - share
    return product if function == "and" else 1.0 - product


def _leaf(part: s.Scalar, columns: Columns) -> float:
    match part:
        case s.Literal():
            return 1.0 if part.sql.lower() == "true" else 0.0
        case s.Call("=" | "<=>", (left, right)):
            return _equality(left, right, columns)
        case s.Call("<" | "<=" | ">" | ">=" as function, (left, right)):
            return _inequality(function, left, right, columns)
        case s.Call("in", (value, *listed)):
            return len(listed) * _equality(value, listed[0], columns) if listed else 0.0
        case s.Call("isnull", (value,)):
            return _facts(value, columns).nulls.value if value.nullable else 0.0
        case s.Call("isnotnull", (value,)):
            return 1.0 - (_facts(value, columns).nulls.value if value.nullable else 0.0)
        case s.Call("like" | "startswith" | "endswith" | "contains" | "rlike"):
            return LIKE
        case _:
            return OTHER


def _equality(left: s.Scalar, right: s.Scalar, columns: Columns) -> float:
    known = [
        facts.distinct.value
        for value in (left, right)
        if (facts := _facts(value, columns)).distinct is not None
    ]
    return 1.0 / max(*known, 1.0) if known else EQUAL


def _inequality(function: str, left: s.Scalar, right: s.Scalar, columns: Columns) -> float:
    if isinstance(left, s.Literal):
        function, left, right = _MIRRORED[function], right, left
    facts, bound = _facts(left, columns), number_of(right)
    if bound is None or facts.low is None or facts.high is None or facts.high <= facts.low:
        return RANGE
    below = min(max((bound - facts.low) / (facts.high - facts.low), 0.0), 1.0)
    return below if _ORDERED[function] < 0 else 1.0 - below


def number_of(value: s.Scalar) -> float | None:
    """A constant as a number; a date counts its days. None where it is neither."""
    if not isinstance(value, s.Literal):
        return None
    day = _DATE.search(value.sql)
    if day:
        return float(date.fromisoformat(day[1]).toordinal())
    number = _NUMBER.search(value.sql)
    return float(number[0]) if number and "'" not in value.sql else None


def _facts(value: s.Scalar, columns: Columns) -> ColumnFacts:
    while isinstance(value, s.Cast):
        value = value.operand
    if isinstance(value, s.Reference):
        return columns.get(value.column, UNKNOWN_COLUMN)
    return UNKNOWN_COLUMN

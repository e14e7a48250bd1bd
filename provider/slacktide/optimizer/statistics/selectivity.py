"""The share of rows for which a predicate is true, from what is known of columns.

Values are taken for evenly spread and conditions for independent, but for the two ends of a range (P. Selinger and others, *Access Path
Selection in a Relational Database Management System*, SIGMOD 1979, §4, whose defaults are used where
nothing is known: a tenth for an equality, a third for an inequality). A comparison is never true of NULL.
A share comes from where the least certain figure comes from that it is made of.

A column of a source of which nobody knows how many values it has may be a key (`source_columns`), and an
equality then true of one row. A tenth was tried in its place, and foretold increments worse (ADR 0009).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from math import prod
from typing import Final

from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import conjuncts
from slacktide.optimizer.statistics.facts import UNKNOWN_COLUMN, ColumnFacts, Figure, worst

EQUAL: Final = Figure(0.1)
RANGE: Final = Figure(1 / 3)
LIKE: Final = Figure(0.1)
OTHER: Final = Figure(0.5)
ALWAYS: Final = Figure(1.0, "observed")
NEVER: Final = Figure(0.0, "observed")
Known = Callable[[int], ColumnFacts]
_ORDERED: Final = {"<": -1, "<=": -1, ">": 1, ">=": 1}
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_DATE = re.compile(r"DATE '(\d{4}-\d\d-\d\d)'")


def selectivity(predicate: s.Scalar | None, known: Known) -> Figure:
    """The share of rows for which a predicate is true, between 0 and 1.

    Args:
        predicate: None is true of all.
        known: what is known of a column, by its id.
    """
    done: dict[bytes, Figure] = {}
    stack = [] if predicate is None else [(predicate, False)]
    while stack:
        part, expanded = stack.pop()
        inner = _connected(part)
        if inner and not expanded:
            stack += [(part, True), *((one, False) for one in inner)]
        elif inner:
            done[part.digest] = _joined(part, [done[one.digest] for one in inner], known)
        else:
            found = _leaf(part, known)
            done[part.digest] = Figure(min(max(found.value, 0.0), 1.0), found.origin)
    return ALWAYS if predicate is None else done[predicate.digest]


def _connected(part: s.Scalar) -> tuple[s.Scalar, ...]:
    if not isinstance(part, s.Call) or part.function not in {"and", "or", "not"}:
        return ()
    return tuple(conjuncts(part)) if part.function == "and" else part.arguments


def _joined(part: s.Scalar, shares: Sequence[Figure], known: Known) -> Figure:
    function = part.function if isinstance(part, s.Call) else ""
    if function == "not":
        return but(shares[0])
    if function == "or":
        return but(both([but(share) for share in shares]))
    return both(_met(list(zip(_connected(part), shares, strict=True)), known))


def _met(parts: Sequence[tuple[s.Scalar, Figure]], known: Known) -> list[Figure]:
    """The shares of conditions that all hold: those that bound one column from below and above are one.

    What lies between two bounds is what is left when that below the one and that above the other are taken away.
    """
    apart: list[Figure] = []
    ends: dict[int, dict[int, Figure]] = {}
    for part, share in parts:
        end = _end(part, known)
        if end is None:
            apart.append(share)
            continue
        column, side = end
        of = ends.setdefault(column, {})
        of[side] = min(share, of.get(side, share), key=lambda one: one.value)
    for column, of in ends.items():
        if len(of) == 1:
            apart.extend(of.values())
            continue
        distinct = known(column).distinct
        least = 0.0 if distinct is None else 1.0 / max(distinct.value, 1.0)
        left = sum(share.value for share in of.values()) - 1.0
        apart.append(Figure(max(left, least), worst(*of.values())))
    return apart


def _end(part: s.Scalar, known: Known) -> tuple[int, int] | None:
    """The column of which a condition bounds the known range, and on which side: below it is -1, above it 1."""
    if not isinstance(part, s.Call) or part.function not in _ORDERED:
        return None
    function, (left, right) = part.function, part.arguments
    if isinstance(left, s.Literal):
        function, left, right = _MIRRORED[function], right, left
    facts = _facts(left, known)
    while isinstance(left, s.Cast):
        left = left.operand
    is_known = facts.low is not None and facts.high is not None and facts.low < facts.high
    if not isinstance(left, s.Reference) or number_of(right) is None or not is_known:
        return None
    return left.column, _ORDERED[function]


def but(share: Figure) -> Figure:
    """The other rows."""
    return Figure(1.0 - share.value, share.origin)


def both(shares: Sequence[Figure]) -> Figure:
    """The rows for which several independent conditions are true."""
    return ALWAYS.scaled(prod(share.value for share in shares), *shares)


def _leaf(part: s.Scalar, known: Known) -> Figure:
    match part:
        case s.Literal():
            return ALWAYS if part.sql.lower() == "true" else NEVER
        case s.Call("=" | "<=>" as function, (left, right)):
            return _equality(function, left, right, known)
        case s.Call("<" | "<=" | ">" | ">=" as function, (left, right)):
            return _inequality(function, left, right, known)
        case s.Call("in", (value, *listed)):
            return _equality("=", value, listed[0], known).scaled(len(listed)) if listed else NEVER
        case s.Call("isnull", (value,)):
            return _nulls(value, known)
        case s.Call("isnotnull", (value,)):
            return but(_nulls(value, known))
        case s.Call("like" | "startswith" | "endswith" | "contains" | "rlike"):
            return LIKE
        case _:
            return OTHER


def _equality(function: str, left: s.Scalar, right: s.Scalar, known: Known) -> Figure:
    found = [_facts(value, known).distinct for value in (left, right)]
    counts = [count for count in found if count is not None]
    if not counts:
        return EQUAL
    counts = [count for count in counts if count.origin != "default"] or counts
    there = [_there(value, known) for value in (left, right) if function == "="]
    return both(there).scaled(1.0 / max(1.0, *(count.value for count in counts)), *counts)


def _inequality(function: str, left: s.Scalar, right: s.Scalar, known: Known) -> Figure:
    if isinstance(left, s.Literal):
        function, left, right = _MIRRORED[function], right, left
    facts, bound = _facts(left, known), number_of(right)
    if bound is None or facts.low is None or facts.high is None or facts.high <= facts.low:
        return RANGE
    below = min(max((bound - facts.low) / (facts.high - facts.low), 0.0), 1.0)
    return _there(left, known).scaled(below if _ORDERED[function] < 0 else 1.0 - below)


def number_of(value: s.Scalar) -> float | None:
    """A constant as a number; a date counts its days. None where it is neither."""
    if not isinstance(value, s.Literal):
        return None
    day = _DATE.search(value.sql)
    if day:
        return _ordinal(day[1])
    number = _NUMBER.search(value.sql)
    return float(number[0]) if number and "'" not in value.sql else None


def _ordinal(day: str) -> float | None:
    try:
        return float(date.fromisoformat(day).toordinal())
    except ValueError:  # the year 0, which Spark has
        return None


def _there(value: s.Scalar, known: Known) -> Figure:
    """The rows that have a value: all of them, where nobody has said how many have none."""
    nulls = _nulls(value, known)
    return ALWAYS if nulls.origin == "default" else but(nulls)


def _nulls(value: s.Scalar, known: Known) -> Figure:
    return _facts(value, known).nulls if value.nullable else NEVER


def _facts(value: s.Scalar, known: Known) -> ColumnFacts:
    while isinstance(value, s.Cast):
        value = value.operand
    return known(value.column) if isinstance(value, s.Reference) else UNKNOWN_COLUMN

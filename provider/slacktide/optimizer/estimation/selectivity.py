"""Which share of rows a condition lets through: the textbook's defaults where nothing is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from slacktide.algebra import scalar as s
from slacktide.optimizer.estimation.known import ColumnStatistics

Columns = Callable[[int], ColumnStatistics]
EQUAL: Final = 0.1
RANGE: Final = 1 / 3
OTHER: Final = 0.25


@dataclass(frozen=True, slots=True)
class Share:
    """A share of rows, and whether it follows from what is known."""

    value: float
    is_known: bool = True


def share_of(condition: s.Scalar | None, columns: Columns) -> Share:
    """The share of rows for which a condition is true.

    Parts of a conjunction are taken for independent.
    """
    match condition:
        case None:
            return Share(1.0)
        case s.Literal():
            return Share(1.0 if condition.sql == "true" else 0.0)
        case s.Call(function="and"):
            return _all([share_of(part, columns) for part in condition.arguments])
        case s.Call(function="or"):
            none = _all([_but(share_of(part, columns)) for part in condition.arguments])
            return _but(none)
        case s.Call(function="not"):
            return _but(share_of(condition.arguments[0], columns))
        case s.Call(function="isnull", arguments=(s.Reference() as reference,)):
            return Share(columns(reference.column).null_share)
        case s.Call(function="=" | "<=>" | "<" | "<=" | ">" | ">="):
            return _compared(condition, columns)
        case _:
            return Share(OTHER, is_known=False)


def _compared(call: s.Call, columns: Columns) -> Share:
    one, other = call.arguments
    if isinstance(one, s.Literal):
        one, other = other, one
    if not isinstance(one, s.Reference) or not isinstance(other, s.Literal):
        equal = call.function in {"=", "<=>"}
        return Share(EQUAL if equal else RANGE, is_known=False)
    known = columns(one.column)
    if call.function in {"=", "<=>"}:
        if known.distinct is None:
            return Share(EQUAL, is_known=False)
        return Share((1 - known.null_share) / max(1.0, known.distinct))
    is_flipped = isinstance(call.arguments[0], s.Literal)
    return _below(known, other, is_less=call.function.startswith("<") is not is_flipped)


def _below(known: ColumnStatistics, bound: s.Literal, *, is_less: bool) -> Share:
    number = _number(bound)
    least, greatest = known.least, known.greatest
    if number is None or least is None or greatest is None:
        return Share(RANGE, is_known=False)
    below = 0.5 if least == greatest else (number - least) / (greatest - least)
    inside = min(1.0, max(0.0, below if is_less else 1 - below))
    return Share(inside * (1 - known.null_share))


def _number(literal: s.Literal) -> float | None:
    try:
        return float(literal.sql.rstrip("LDSYB"))
    except ValueError:
        return None


def _all(shares: list[Share]) -> Share:
    value = 1.0
    for share in shares:
        value *= share.value
    return Share(value, all(share.is_known for share in shares))


def _but(share: Share) -> Share:
    return Share(1 - share.value, share.is_known)

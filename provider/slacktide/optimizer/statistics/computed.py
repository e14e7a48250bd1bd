"""What is known of a computed value, from what is known of the columns that it is made of.

A function of a value has no more different results than that has values, and parts of a calendar have few: a table by
the month of its orders has twelve groups, however many rows come. Days that are cut out of a range are counted by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import floor
from types import MappingProxyType
from typing import Final

from slacktide.algebra import scalar as s
from slacktide.algebra.types import DataType, decimal_of
from slacktide.optimizer.statistics.constants import SECONDS, number_of
from slacktide.optimizer.statistics.facts import UNKNOWN_COLUMN, ColumnFacts, Figure

Known = Callable[[int], ColumnFacts]
_YEAR: Final = 365.2425
_TRUTHS: Final = 2.0
_PARTS: Final[Mapping[str, tuple[float, float]]] = MappingProxyType(
    {
        "quarter": (1.0, 4.0),
        "month": (1.0, 12.0),
        "weekofyear": (1.0, 53.0),
        "day": (1.0, 31.0),
        "dayofmonth": (1.0, 31.0),
        "dayofweek": (1.0, 7.0),
        "weekday": (0.0, 6.0),
        "dayofyear": (1.0, 366.0),
        "hour": (0.0, 23.0),
        "minute": (0.0, 59.0),
        "second": (0.0, 59.0),
    }
)
"""Parts of a calendar and of a day, from the least to the greatest."""
_UNITS: Final[Mapping[str, float]] = MappingProxyType(
    {
        **dict.fromkeys(("year", "yyyy", "yy"), _YEAR),
        "quarter": _YEAR / 4,
        **dict.fromkeys(("month", "mm", "mon"), _YEAR / 12),
        "week": 7.0,
        **dict.fromkeys(("day", "dd"), 1.0),
        "hour": 3600.0 / SECONDS,
        "minute": 60.0 / SECONDS,
        "second": 1.0 / SECONDS,
    }
)
"""Days of what a date or an instant is cut to."""
_RENAMING: Final = frozenset(
    {"lower", "upper", "trim", "ltrim", "rtrim", "negative", "md5", "sha2"}
)
_ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "date_add", "date_sub", "add_months"})


def facts_of(value: s.Scalar, known: Known) -> ColumnFacts:
    """What is known of a value; of one that nobody knows a default.

    Args:
        value: any, of columns.
        known: what is known of a column, by its id.
    """
    match value:
        case s.Reference():
            return known(value.column)
        case s.Cast(operand):
            return _cast(facts_of(operand, known), operand.type, value.type)
        case s.Case(branches, otherwise):
            results = [result for _, result in branches]
            return _one_of([*results, *([] if otherwise is None else [otherwise])])
        case s.Call("if", (_, *results)):
            return _one_of(results)
        case s.Call():
            return _called(value, known)
        case _:
            return UNKNOWN_COLUMN


def _called(call: s.Call, known: Known) -> ColumnFacts:
    match call:
        case s.Call("year", (of,)):
            return _year(facts_of(of, known))
        case s.Call("trunc", (of, unit)) | s.Call("date_trunc", (unit, of)):
            return _cut(facts_of(of, known), unit)
        case s.Call("%" | "mod" | "pmod", (of, by)):
            return _remainder(facts_of(of, known), number_of(by))
        case s.Call(function, (of,)) if function in _PARTS:
            low, high = _PARTS[function]
            return replace(_at_most(facts_of(of, known), high - low + 1.0), low=low, high=high)
        case s.Call(function, (of, *rest)) if _is_of_one(function, rest):
            return _renamed(facts_of(of, known))
        case s.Call(type="BOOLEAN"):
            return replace(UNKNOWN_COLUMN, distinct=Figure(_TRUTHS, "observed"))
        case _:
            return UNKNOWN_COLUMN


def _is_of_one(function: str, others: list[s.Scalar]) -> bool:
    """Whether a function gives one result for each value of its first argument, and seldom one for several."""
    is_renaming = function in _RENAMING or (function in _ARITHMETIC and bool(others))
    return is_renaming and all(isinstance(other, s.Literal) for other in others)


def _renamed(of: ColumnFacts) -> ColumnFacts:
    """As many values, elsewhere."""
    return replace(of, low=None, high=None, covered=None, whole=None)


def _at_most(of: ColumnFacts, values: float) -> ColumnFacts:
    """Other values, of which there are no more than so many."""
    most = Figure(values, "observed")
    is_less = of.distinct is not None and of.distinct.value < values
    is_sure = of.distinct is not None and of.distinct.origin != "default"
    return replace(_renamed(of), distinct=of.distinct if is_less and is_sure else most)


def _cast(of: ColumnFacts, before: DataType, after: DataType) -> ColumnFacts:
    """The same values in another type, where it counts them alike; of an instant its day."""
    kinds = _kind(before), _kind(after)
    if kinds[0] != kinds[1] or kinds[0] == "other":
        return of if before == after else _renamed(of)
    if after == "DATE" != before:
        return _days(of)
    return of


def _kind(data_type: DataType) -> str:
    if data_type == "DATE" or data_type.startswith("TIMESTAMP"):
        return "time"
    is_number = data_type in _NUMBERS or decimal_of(data_type) is not None
    return "number" if is_number else "other"


_NUMBERS: Final = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"})


def _days(of: ColumnFacts) -> ColumnFacts:
    if of.low is None or of.high is None:
        return of
    low, high = float(floor(of.low)), float(floor(of.high))
    return replace(_at_most(of, high - low + 1.0), low=low, high=high, covered=of.covered)


def _year(of: ColumnFacts) -> ColumnFacts:
    if of.low is None or of.high is None:
        return _unknown(of)
    low, high = (floor(end / _YEAR) + 1.0 for end in (of.low, of.high))
    return replace(_at_most(of, high - low + 1.0), low=low, high=high)


def _cut(of: ColumnFacts, unit: s.Scalar) -> ColumnFacts:
    days = _UNITS.get(unit.sql.strip("'").lower()) if isinstance(unit, s.Literal) else None
    if days is None or of.low is None or of.high is None:
        return _unknown(of)
    cut = _at_most(of, floor((of.high - of.low) / days) + 1.0)
    return replace(cut, low=of.low, high=of.high, covered=of.covered)


def _remainder(of: ColumnFacts, by: float | None) -> ColumnFacts:
    return _at_most(of, abs(by)) if by else _unknown(of)


def _unknown(of: ColumnFacts) -> ColumnFacts:
    """Values of which only that is known how often they are NULL."""
    return ColumnFacts(nulls=of.nulls)


def _one_of(results: list[s.Scalar]) -> ColumnFacts:
    """One of some constants; unknown where there is something else among them."""
    constants = {one.sql for one in results if isinstance(one, s.Literal) and not one.nullable}
    if not all(isinstance(one, s.Literal) for one in results):
        return UNKNOWN_COLUMN
    return replace(UNKNOWN_COLUMN, distinct=Figure(float(len(constants)), "observed"))

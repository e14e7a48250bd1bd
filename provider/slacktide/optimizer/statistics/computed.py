"""What is known of a computed value, from what is known of the columns that it is made of.

A function of a value has no more different results than that has values, and parts of a calendar have few: a table by
the month of its orders has twelve groups, however many rows come. Days that are cut out of a range are counted by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from math import floor
from types import MappingProxyType
from typing import Final

from slacktide.algebra import scalar as s
from slacktide.algebra.types import DataType, decimal_of, is_integral
from slacktide.optimizer.statistics.constants import SECONDS_PER_DAY, number_of
from slacktide.optimizer.statistics.facts import UNKNOWN_COLUMN, ColumnFacts, Figure

Known = Callable[[int], ColumnFacts]
Step = Callable[[ColumnFacts], ColumnFacts]
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
        "hour": 3600.0 / SECONDS_PER_DAY,
        "minute": 60.0 / SECONDS_PER_DAY,
        "second": 1.0 / SECONDS_PER_DAY,
    }
)
"""Days of what a date or an instant is cut to."""
_ONE_TO_ONE: Final = frozenset(
    {"lower", "upper", "trim", "ltrim", "rtrim", "negative", "md5", "sha2"}
)
_NUMBERS: Final = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"})
_ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "date_add", "date_sub", "add_months"})


def facts_of(value: s.Scalar, known: Known) -> ColumnFacts:
    """What is known of a value; of one that nobody knows a default.

    Args:
        value: any, of columns.
        known: what is known of a column, by its id.
    """
    steps: list[Step] = []
    while (made := _made_of(value)) is not None:
        value, step = made
        steps.append(step)
    found = known(value.column) if isinstance(value, s.Reference) else _of_several(value)
    for step in reversed(steps):
        found = step(found)
    return found


def _made_of(value: s.Scalar) -> tuple[s.Scalar, Step] | None:
    """The one operand that a value follows from, and what makes facts of it those of the value; None where there is none."""
    match value:
        case s.Cast(operand):
            return operand, partial(_cast, before=operand.type, after=value.type)
        case s.Call("year", (of,)):
            return of, _year
        case s.Call("trunc", (of, unit)) | s.Call("date_trunc", (unit, of)):
            return of, partial(_cut, unit=unit)
        case s.Call("%" | "mod" | "pmod", (of, by)):
            return of, partial(_remainder, by=number_of(by), call=value)
        case s.Call(function, (of,)) if function in _PARTS:
            return of, partial(_part, ends=_PARTS[function])
        case s.Call(function, (of, *rest)) if _is_one_to_one(function, rest):
            return of, _one_to_one
        case _:
            return None


def _of_several(value: s.Scalar) -> ColumnFacts:
    match value:
        case s.Case(branches, otherwise):
            results = [result for _, result in branches]
            return _one_of([*results, *([] if otherwise is None else [otherwise])])
        case s.Call("if", (_, *results)):
            return _one_of(results)
        case s.Call(type="BOOLEAN"):
            return replace(UNKNOWN_COLUMN, distinct=Figure(_TRUTHS, "observed"))
        case _:
            return UNKNOWN_COLUMN


def _is_one_to_one(function: str, others: list[s.Scalar]) -> bool:
    """Whether a function gives one result for each value of its first argument, and seldom one for several."""
    is_one_to_one = function in _ONE_TO_ONE or (function in _ARITHMETIC and bool(others))
    return is_one_to_one and all(isinstance(other, s.Literal) for other in others)


def _one_to_one(of: ColumnFacts) -> ColumnFacts:
    """As many values, elsewhere."""
    return replace(of, low=None, high=None, covered=None, source_column=None)


def _at_most(of: ColumnFacts, values: float) -> ColumnFacts:
    """Other values, of which there are no more than so many."""
    most = Figure(values, "observed")
    is_less = of.sure is not None and of.sure.value < values
    return replace(_one_to_one(of), distinct=of.sure if is_less else most, kept=None)


def _cast(of: ColumnFacts, before: DataType, after: DataType) -> ColumnFacts:
    """The same values in another type, where it counts them alike; of an instant its day."""
    kinds = _kind(before), _kind(after)
    if kinds[0] != kinds[1] or kinds[0] == "other":
        return of if before == after else _one_to_one(of)
    if after == "DATE" != before:
        return _days(of)
    return of


def _kind(data_type: DataType) -> str:
    if data_type == "DATE" or data_type.startswith("TIMESTAMP"):
        return "time"
    is_number = data_type in _NUMBERS or decimal_of(data_type) is not None
    return "number" if is_number else "other"


def _days(of: ColumnFacts) -> ColumnFacts:
    if of.ends is None:
        return of
    low, high = (float(floor(end)) for end in of.ends)
    return replace(_at_most(of, high - low + 1.0), low=low, high=high, covered=of.covered)


def _year(of: ColumnFacts) -> ColumnFacts:
    if of.ends is None:
        return _unknown(of)
    low, high = (float(_day(end).year) for end in of.ends)
    return replace(_at_most(of, high - low + 1.0), low=low, high=high)


def _day(number: float) -> date:
    """A day by its number; the first or last one that there is for one before or after it."""
    return date.fromordinal(floor(min(max(number, 1.0), date.max.toordinal())))


def _part(of: ColumnFacts, ends: tuple[float, float]) -> ColumnFacts:
    low, high = ends
    return replace(_at_most(of, high - low + 1.0), low=low, high=high)


def _cut(of: ColumnFacts, unit: s.Scalar) -> ColumnFacts:
    days = _UNITS.get(unit.sql.strip("'").lower()) if isinstance(unit, s.Literal) else None
    if days is None or of.ends is None:
        return _unknown(of)
    low, high = of.ends
    cut = _at_most(of, floor((high - low) / days) + 1.0)
    return replace(cut, low=low, high=high, covered=of.covered)


def _remainder(of: ColumnFacts, by: float | None, call: s.Call) -> ColumnFacts:
    """Of whole numbers as many as the divisor; of those below 0 `%` leaves as many again, without 0."""
    if not by or not is_integral(call.type):
        return _unknown(of)
    is_signed = call.function != "pmod" and (of.low is None or of.low < 0)
    return _at_most(of, 2 * abs(by) - 1.0 if is_signed else abs(by))


def _unknown(of: ColumnFacts) -> ColumnFacts:
    """Values of which only that is known how often they are NULL."""
    return ColumnFacts(nulls=of.nulls)


def _one_of(results: list[s.Scalar]) -> ColumnFacts:
    """One of some constants; unknown where there is something else among them."""
    constants = {one.sql for one in results if isinstance(one, s.Literal) and not one.nullable}
    if not all(isinstance(one, s.Literal) for one in results):
        return UNKNOWN_COLUMN
    return replace(UNKNOWN_COLUMN, distinct=Figure(float(len(constants)), "observed"))

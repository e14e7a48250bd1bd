"""Which aggregates have an additive state: sums and counts that the rows of a change add to."""

from __future__ import annotations

from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.types import (
    DataType,
    decimal_of,
    is_floating,
    is_groupable,
    is_integral,
)
from slacktide.optimizer.rule_parts.states import quotient_type, sum_type

SPARED: Final = 28
"""Digits of a decimal of which no sum overflows: the type of its sums has ten more."""
_SPARE_DIGITS = 9
_SHORT: Final = frozenset({"TINYINT", "SMALLINT", "INT"})


def is_additive(rel: r.Aggregate) -> bool:
    """Whether all measures follow exactly from sums and counts per group.

    Sums of floating-point numbers drift under retraction, and are not.
    """
    groups = all(is_groupable(key.column.type) for key in rel.keys)
    return groups and all(_adds(measure.call) for measure in rel.measures)


def never_overflows(argument: DataType, most_digits: int = SPARED) -> bool:
    """Whether no sum of a type leaves the type that Spark gives it, of any number of rows that there could be.

    Args:
        argument: the type of what is summed.
        most_digits: that a decimal may have, of the 38 that its sum has at most.
    """
    shape = decimal_of(argument)
    return argument in _SHORT if shape is None else shape[0] <= most_digits


def _adds(call: s.AggregateCall) -> bool:
    if call.distinct:
        return False
    if call.function == "count":
        return len(call.arguments) <= 1
    if call.function not in {"sum", "avg"} or is_floating(call.arguments[0].type):
        return False
    argument = call.arguments[0].type
    shape = decimal_of(argument)
    if is_integral(argument) or shape is None:
        return is_integral(argument)
    return call.function == "sum" or _has_digits(shape, call.type)


def _has_digits(argument: tuple[int, int], result: DataType) -> bool:
    """Whether total by count keeps enough digits to be rounded once more without error.

    A quotient is at least 1 / (2 · 10^scale · rows) away from the middle of two results, so six
    more digits than the result has are exact for groups of up to a million rows, nine for a
    billion.
    """
    quotient = decimal_of(quotient_type(sum_type(argument)))
    shape = decimal_of(result)
    return quotient is not None and shape is not None and quotient[1] >= shape[1] + _SPARE_DIGITS

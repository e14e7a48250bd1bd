"""Aggregate functions over the values of one group, in Spark's result types.

Doubles are added up exactly and rounded once, so that the order of rows, which Spark does not fix,
changes nothing.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from slacktide.algebra.scalar import AggregateCall
from slacktide.algebra.types import DataType, decimal_of, is_averaged_in_doubles, is_floating
from slacktide.errors import InvariantError
from slacktide.program.reference import choices, statistics
from slacktide.program.reference.casts import cast_value
from slacktide.program.reference.numbers import EXACT, attempted, divide, exact, fit
from slacktide.program.reference.ordering import Row, compare, distinct
from slacktide.program.reference.scalars import Evaluated

Function = Callable[[DataType, Sequence[Row]], Any]


def aggregate(
    call: AggregateCall,
    arguments: Sequence[Evaluated],
    condition: Evaluated | None,
    rows: Iterable[Row],
) -> Any:
    """Apply an aggregate to the rows of a group, in their order.

    Raises:
        DataError: the aggregate fails, as it would in Spark.
        InvariantError: the reference does not know the function.
    """
    inputs = [
        tuple(argument(row) for argument in arguments)
        for row in rows
        if condition is None or condition(row) is True
    ]
    function = choices.SEEING_NULL.get(call.function)
    if function is None:
        function = STRICT.get(call.function)
        inputs = [values for values in inputs if None not in values]
    if function is None:
        raise InvariantError(f"the reference does not know the aggregate {call.function}")
    if call.distinct:
        inputs = distinct(inputs)
    return function(call.type, inputs)


def _count(_type: DataType, inputs: Sequence[Row]) -> int:
    return len(inputs)


def _count_if(_type: DataType, inputs: Sequence[Row]) -> int:
    return sum(1 for (value,) in inputs if value)


def _sum(data_type: DataType, inputs: Sequence[Row]) -> Any:
    if not inputs:
        return None
    return total(data_type, [value for (value,) in inputs])


def total(data_type: DataType, values: Iterable[Any]) -> Any:
    """Add values up in a type; nothing adds up to zero."""
    if is_floating(data_type):
        return fit(total_of_doubles(values), data_type)
    exact_total = Decimal(0)
    for value in values:
        exact_total = EXACT.add(exact_total, exact(value))
    return fit(exact_total, data_type)


def total_of_doubles(values: Iterable[Any]) -> float:
    """Add doubles up without error, then round once; opposite infinities add up to NaN."""
    numbers = [float(value) for value in values]
    if not all(map(math.isfinite, numbers)):
        return sum(numbers, 0.0)
    return math.fsum(numbers) + 0.0


def _average(data_type: DataType, inputs: Sequence[Row]) -> Any:
    if not inputs:
        return None
    values = [value for (value,) in inputs]
    if decimal_of(data_type) is None:
        return divide(data_type, total_of_doubles(values), float(len(values)))
    exact_total = Decimal(0)
    for value in values:
        exact_total = EXACT.add(exact_total, exact(value))
    if is_averaged_in_doubles(data_type):
        return _average_of_units(data_type, exact_total, len(values))
    return divide(data_type, exact_total, len(values))


def _average_of_units(data_type: DataType, exact_total: Decimal, count: int) -> Any:
    """Units of the last digit are counted as doubles; the average has four digits more."""
    _, scale = decimal_of(data_type) or (0, 4)
    unit = 10 ** (scale - 4)
    units = float(EXACT.multiply(exact_total, Decimal(unit)))
    return cast_value(units / float(count) / float(unit), data_type)


def _extreme(sign: int) -> Function:
    def evaluate(_type: DataType, inputs: Sequence[Row]) -> Any:
        best: Any = None
        for (value,) in inputs:
            if best is None or sign * compare(value, best) > 0:
                best = value
        return best

    return evaluate


def _folded(combine: Callable[[Any, Any], Any]) -> Function:
    """All values put together by twos; NULL for none."""

    def evaluate(_type: DataType, inputs: Sequence[Row]) -> Any:
        return functools.reduce(combine, (value for (value,) in inputs)) if inputs else None

    return evaluate


STRICT: Final[Mapping[str, Function]] = {
    "count": _count,
    "count_if": _count_if,
    "regr_count": _count,
    "sum": _sum,
    "avg": _average,
    "try_sum": attempted(_sum),
    "try_avg": attempted(_average),
    "min": _extreme(-1),
    "max": _extreme(1),
    "bool_and": _extreme(-1),
    "every": _extreme(-1),
    "bool_or": _extreme(1),
    "some": _extreme(1),
    "any": _extreme(1),
    "bit_and": _folded(operator.and_),
    "bit_or": _folded(operator.or_),
    "bit_xor": _folded(operator.xor),
    **statistics.STRICT,
    **choices.STRICT,
}

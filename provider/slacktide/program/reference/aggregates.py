"""Aggregate functions over the values of one group, in Spark's result types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from slacktide.algebra.scalar import AggregateCall
from slacktide.algebra.types import DataType, decimal_of, is_floating
from slacktide.errors import InvariantError
from slacktide.program.reference.numbers import EXACT, divide, exact, fit
from slacktide.program.reference.ordering import Row, compare, group_keys
from slacktide.program.reference.scalars import Evaluated


def aggregate(
    call: AggregateCall,
    arguments: Sequence[Evaluated],
    condition: Evaluated | None,
    rows: Iterable[Row],
) -> Any:
    """Apply an aggregate to the rows of a group.

    Raises:
        InvariantError: the reference does not know the function.
    """
    function = FUNCTIONS.get(call.function)
    if function is None:
        raise InvariantError(f"the reference does not know the aggregate {call.function}")
    inputs = [
        tuple(argument(row) for argument in arguments)
        for row in rows
        if condition is None or condition(row) is True
    ]
    present = [values for values in inputs if None not in values]
    if call.distinct:
        present = list({group_keys(values): values for values in reversed(present)}.values())
    return function(call.type, present)


def _count(_type: DataType, inputs: Sequence[Row]) -> int:
    return len(inputs)


def _sum(data_type: DataType, inputs: Sequence[Row]) -> Any:
    if not inputs:
        return None
    return total(data_type, [value for (value,) in inputs])


def total(data_type: DataType, values: Iterable[Any]) -> Any:
    """Add values up in a type; nothing adds up to zero."""
    if is_floating(data_type):
        return fit(sum(values, 0.0), data_type)
    exact_total = Decimal(0)
    for value in values:
        exact_total = EXACT.add(exact_total, exact(value))
    return fit(exact_total, data_type)


def _average(data_type: DataType, inputs: Sequence[Row]) -> Any:
    if not inputs:
        return None
    values = [value for (value,) in inputs]
    if decimal_of(data_type) is None:
        return divide(data_type, total("DOUBLE", values), float(len(values)))
    exact_total = Decimal(0)
    for value in values:
        exact_total = EXACT.add(exact_total, exact(value))
    return divide(data_type, exact_total, len(values))


def _extreme(sign: int) -> Callable[[DataType, Sequence[Row]], Any]:
    def evaluate(_type: DataType, inputs: Sequence[Row]) -> Any:
        best: Any = None
        for (value,) in inputs:
            if best is None or sign * compare(value, best) > 0:
                best = value
        return best

    return evaluate


FUNCTIONS: Final[Mapping[str, Callable[[DataType, Sequence[Row]], Any]]] = {
    "count": _count,
    "sum": _sum,
    "avg": _average,
    "min": _extreme(-1),
    "max": _extreme(1),
}

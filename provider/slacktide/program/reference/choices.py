"""Aggregates that choose or collect values: first and last, by rank, into arrays and texts."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from slacktide.algebra.types import DataType
from slacktide.program.reference.casts import to_text
from slacktide.program.reference.ordering import Row, compare, distinct, group_keys

Function = Callable[[DataType, Sequence[Row]], Any]


def _at(place: int, *, ignores_null: bool) -> Function:
    def evaluate(_type: DataType, inputs: Sequence[Row]) -> Any:
        values = [value for (value,) in inputs if value is not None or not ignores_null]
        return values[place] if values else None

    return evaluate


def _by(sign: int) -> Function:
    """The value of the first row in which another value is least or greatest."""

    def evaluate(_type: DataType, inputs: Sequence[Row]) -> Any:
        best: Row | None = None
        for value, rank in inputs:
            if rank is not None and (best is None or sign * compare(rank, best[1]) > 0):
                best = (value, rank)
        return best[0] if best else None

    return evaluate


def _collect(_type: DataType, inputs: Sequence[Row]) -> Row:
    return tuple(value for (value,) in inputs)


def _collect_set(_type: DataType, inputs: Sequence[Row]) -> Row:
    return tuple(distinct(value for (value,) in inputs))


def _listed(_type: DataType, inputs: Sequence[Row]) -> str | None:
    """Texts in their order with a delimiter, which may be missing or NULL, between them."""
    present = [values for values in inputs if values[0] is not None]
    if not present:
        return None
    delimiter = present[0][1] if present[0][1:] else None
    return (delimiter or "").join(to_text(values[0]) for values in present)


def _listed_sorted(sign: int) -> Function:
    """Texts in the order of themselves, or in the reverse one."""

    def by_text(one: Row, other: Row) -> int:
        return sign * compare(one[0], other[0])

    def evaluate(data_type: DataType, inputs: Sequence[Row]) -> str | None:
        present = [values for values in inputs if values[0] is not None]
        return _listed(data_type, sorted(present, key=functools.cmp_to_key(by_text)))

    return evaluate


def _mode(place: int) -> Function:
    """The most frequent value; of several the first or last one in order."""

    def chosen(_type: DataType, inputs: Sequence[Row]) -> Any:
        counts: dict[object, list[Any]] = {}
        for values in inputs:
            counts.setdefault(group_keys(values[:1]), []).append(values[0])
        most = max(map(len, counts.values()), default=0)
        modes = _sorted(values[0] for values in counts.values() if len(values) == most)
        return modes[place] if modes else None

    return chosen


def _sorted(values: Any) -> list[Any]:
    return sorted(values, key=functools.cmp_to_key(compare))


def _percentile(*, descending: bool = False) -> Function:
    """Values with their frequencies, between which is interpolated."""

    def evaluate(_type: DataType, inputs: Sequence[Row]) -> Any:
        repeated = [values[0] for values in inputs for _ in range(values[2] if values[2:] else 1)]
        if not repeated:
            return None
        ordered = [float(value) for value in _sorted(repeated)]
        if descending:
            ordered.reverse()
        share = inputs[0][1] if inputs[0][1:] else 0.5
        return _for_each(share, lambda one: _between(ordered, float(one)))

    return evaluate


def _for_each(share: Any, function: Callable[[Any], Any]) -> Any:
    return tuple(map(function, share)) if isinstance(share, tuple) else function(share)


def _between(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    lower, upper = math.floor(position), math.ceil(position)
    low, high = ordered[lower], ordered[upper]
    if lower == upper or compare(low, high) == 0:
        return low
    return (upper - position) * low + (position - lower) * high


def _at_share(*, descending: bool = False, made: Callable[[Any], Any] | None = None) -> Function:
    """The first value in order that a share of the rows does not exceed; exact for some thousands."""

    def evaluate(_type: DataType, inputs: Sequence[Row]) -> Any:
        if not inputs:
            return None
        ordered = _sorted(values[0] if made is None else made(values[0]) for values in inputs)
        if descending:
            ordered.reverse()
        rows = len(ordered)
        return _for_each(
            inputs[0][1], lambda one: ordered[max(math.ceil(float(one) * rows) - 1, 0)]
        )

    return evaluate


STRICT: Final[Mapping[str, Function]] = {
    "array_agg": _collect,
    "collect_list": _collect,
    "collect_set": _collect_set,
    "mode": _mode(0),  # any of them, to Spark
    "mode least": _mode(0),
    "mode greatest": _mode(-1),
    "median": _percentile(),
    "percentile": _percentile(),
    "percentile_cont": _percentile(),
    "percentile_cont descending": _percentile(descending=True),
    "percentile_disc ascending": _at_share(made=float),
    "percentile_disc descending": _at_share(descending=True, made=float),
    "approx_percentile": _at_share(),
    "percentile_approx": _at_share(),
}
SEEING_NULL: Final[Mapping[str, Function]] = {
    "first": _at(0, ignores_null=False),
    "first ignore nulls": _at(0, ignores_null=True),
    "last": _at(-1, ignores_null=False),
    "last ignore nulls": _at(-1, ignores_null=True),
    "any_value": _at(0, ignores_null=False),
    "listagg": _listed,
    "listagg ascending": _listed_sorted(1),
    "listagg descending": _listed_sorted(-1),
    "string_agg": _listed,
    "max_by": _by(1),
    "min_by": _by(-1),
}

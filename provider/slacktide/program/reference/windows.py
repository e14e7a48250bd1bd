"""Window functions: values that a row gets from the rows of its partition, in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slacktide.algebra.relation import Window
from slacktide.algebra.scalar import AggregateCall, Call, Scalar, WindowCall
from slacktide.errors import InvariantError
from slacktide.program.reference.aggregates import aggregate
from slacktide.program.reference.frames import read_frame, spans
from slacktide.program.reference.ordering import Row, group_keys
from slacktide.program.reference.scalars import Evaluated
from slacktide.program.reference.sorting import by_keys, in_order

Compile = Callable[[Scalar], Evaluated]
_IGNORE_NULLS = " ignore nulls"


@dataclass(frozen=True, slots=True)
class Partition:
    """The rows of a partition in order.

    Attributes:
        rows: the rows.
        keys: the values of the sort keys of each row.
        first: for each row the place of the first of its peers, which the order does not tell apart.
    """

    window: Window
    rows: Sequence[Row]
    keys: Sequence[Row]
    first: Sequence[int]

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def last(self) -> list[int]:
        """For each row the place behind the last of its peers."""
        ends = {first: place + 1 for place, first in enumerate(self.first)}
        return [ends[first] for first in self.first]


Ranking = Callable[[Partition, Sequence[Any]], Sequence[Any]]


def windowed(rel: Window, compiled: Compile, rows: Sequence[Row]) -> list[Row]:
    """Give the rows with the values of the window functions behind them.

    Raises:
        InvariantError: the reference does not know a function or frame.
    """
    partition_by = [compiled(value) for value in rel.partition]
    order_by = [compiled(key.value) for key in rel.order]
    parts: dict[object, list[tuple[Row, Row]]] = {}
    for row in rows:
        key = group_keys(value(row) for value in partition_by)
        parts.setdefault(key, []).append((tuple(value(row) for value in order_by), row))
    functions = [_function(rel, function, compiled) for function in rel.functions]
    found: list[Row] = []
    for part in parts.values():
        partition = _ordered(rel, part)
        columns = [function(partition) for function in functions]
        found.extend(
            (*row, *(column[place] for column in columns))
            for place, row in enumerate(partition.rows)
        )
    return found


def _ordered(rel: Window, part: list[tuple[Row, Row]]) -> Partition:
    if rel.order:
        order = by_keys(rel.order)
        part.sort(key=lambda pair: order(pair[0]))
    keys = [key for key, _ in part]
    first: list[int] = []
    for place, key in enumerate(keys):
        is_peer = place > 0 and in_order(rel.order, keys[place - 1], key) == 0
        first.append(first[-1] if is_peer else place)
    return Partition(rel, [row for _, row in part], keys, first)


def _function(
    rel: Window, function: WindowCall, compiled: Compile
) -> Callable[[Partition], Sequence[Any]]:
    call = function.call
    arguments = [compiled(argument) for argument in call.arguments]
    if isinstance(call, AggregateCall):
        return _aggregate(rel, function.frame, call, arguments, compiled)
    name = call.function.removesuffix(_IGNORE_NULLS)
    if name == "nth_value":
        return _nth_value(rel, function.frame, call, arguments)
    if name in _SHIFTS:
        return _shift(_SHIFTS[name], call, arguments)
    ranking = RANKINGS.get(name)
    if ranking is None:
        raise InvariantError(f"the reference does not know window {call.function}")
    return lambda partition: ranking(partition, [value(()) for value in arguments])


def _aggregate(
    rel: Window,
    frame_text: str,
    call: AggregateCall,
    arguments: Sequence[Evaluated],
    compiled: Compile,
) -> Callable[[Partition], Sequence[Any]]:
    frame = read_frame(frame_text, is_ordered=bool(rel.order))
    condition = compiled(call.filter) if call.filter else None

    def evaluate(partition: Partition) -> Sequence[Any]:
        values: dict[range, Any] = {}
        seen = spans(frame, rel.order, partition.keys)
        for span in seen:
            if span not in values:
                rows = [partition.rows[place] for place in span]
                values[span] = aggregate(call, arguments, condition, rows)
        return [values[span] for span in seen]

    return evaluate


def _nth_value(
    rel: Window, frame_text: str, call: Call, arguments: Sequence[Evaluated]
) -> Callable[[Partition], Sequence[Any]]:
    frame = read_frame(frame_text, is_ordered=bool(rel.order))
    value, count = arguments
    ignores = call.function.endswith(_IGNORE_NULLS)

    def evaluate(partition: Partition) -> Sequence[Any]:
        number = count(())
        found = []
        for span in spans(frame, rel.order, partition.keys):
            seen = [value(partition.rows[place]) for place in span]
            chosen = [item for item in seen if item is not None] if ignores else seen
            found.append(chosen[number - 1] if number <= len(chosen) else None)
        return found

    return evaluate


_SHIFTS: Final[Mapping[str, int]] = {"lag": -1, "lead": 1}


def _shift(
    side: int, call: Call, arguments: Sequence[Evaluated]
) -> Callable[[Partition], Sequence[Any]]:
    """The value some rows before or behind; the default where there is no such row."""
    value, offset = arguments[:2]
    default = arguments[2] if len(arguments) > 2 else None
    ignores = call.function.endswith(_IGNORE_NULLS)

    def evaluate(partition: Partition) -> Sequence[Any]:
        rows = partition.rows
        values = [value(row) for row in rows]
        by = side * offset(())
        step = 1 if by > 0 else -1
        found = []
        for place, row in enumerate(rows):
            end = partition.size if step > 0 else -1
            others = range(place + step, end, step) if by else range(place, place + 1)
            seen = [values[o] for o in others if not ignores or values[o] is not None]
            far = max(abs(by) - 1, 0)
            missing = default(row) if default else None
            found.append(seen[far] if far < len(seen) else missing)
        return found

    return evaluate


def _row_number(partition: Partition, _: Sequence[Any]) -> Sequence[int]:
    return range(1, partition.size + 1)


def _rank(partition: Partition, _: Sequence[Any]) -> Sequence[int]:
    return [first + 1 for first in partition.first]


def _dense_rank(partition: Partition, _: Sequence[Any]) -> Sequence[int]:
    numbers = {first: number for number, first in enumerate(sorted(set(partition.first)), 1)}
    return [numbers[first] for first in partition.first]


def _percent_rank(partition: Partition, _: Sequence[Any]) -> Sequence[float]:
    others = partition.size - 1
    return [first / others if others else 0.0 for first in partition.first]


def _cume_dist(partition: Partition, _: Sequence[Any]) -> Sequence[float]:
    return [last / partition.size for last in partition.last()]


def _ntile(partition: Partition, arguments: Sequence[Any]) -> Sequence[int]:
    """Buckets of one size; the first ones hold one row more where it does not come out even."""
    (buckets,) = arguments
    size, larger = divmod(partition.size, buckets)
    found: list[int] = []
    for bucket in range(buckets):
        found.extend([bucket + 1] * (size + (bucket < larger)))
    return found


RANKINGS: Final[Mapping[str, Ranking]] = {
    "row_number": _row_number,
    "rank": _rank,
    "dense_rank": _dense_rank,
    "percent_rank": _percent_rank,
    "cume_dist": _cume_dist,
    "ntile": _ntile,
}

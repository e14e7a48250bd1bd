"""Which inputs are read by the keys of a change alone: those that it is joined with or that it touches.

So runs read them, and estimates count them, where asking for the keys pays (`common.ranges`). A semi-join is none of
these: rules put what is touched below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slacktide.algebra.equalities import take_apart
from slacktide.algebra.scalar import Reference, Scalar
from slacktide.algebra.tree import substitute
from slacktide.algebra.types import DataType, decimal_of, is_integral
from slacktide.program import operator as o
from slacktide.program.operator import Operator
from slacktide.program.origin import Origin, is_small, origins_of


@dataclass(frozen=True, slots=True)
class Bound:
    """An input of an operator of which only what some keys can meet is needed.

    Attributes:
        place: of the input among those of the operator; one that it reads twice is bounded in each place by itself.
        large: the input.
        pairs: its columns, and what they must equal.
        origins: small operators, in one of which the values of all keys occur; their keys stand as in `pairs`.
    """

    place: int
    large: Operator
    pairs: tuple[o.Pair, ...]
    origins: tuple[Origin, ...]


def bounds(operator: Operator) -> Iterator[Bound]:
    """Give the inputs of an operator of which a change bounds what is read."""
    match operator:
        case o.JoinBags():
            left, right = operator.left, operator.right
            met = take_apart(operator.condition, left.columns, right.columns).equalities
            yield from _bound(0, left, right, [o.Pair(one.left, one.right) for one in met])
            yield from _bound(1, right, left, [o.Pair(one.right, one.left) for one in met])
        case o.Touched():
            yield from _bound(0, operator.child, operator.by, operator.keys)
        case _:
            return


def _bound(
    place: int, large: Operator, small: Operator, pairs: Sequence[o.Pair]
) -> Iterator[Bound]:
    ranged = tuple(pair for pair in pairs if _is_ranged(pair))
    if not ranged or is_small(large):
        return
    origins = origins_of(small, [pair.other for pair in ranged])
    if origins is not None:
        yield Bound(place, large, ranged, origins)


def snapshot_column(operator: Operator, key: Scalar) -> tuple[str, str] | None:
    """The source, and its column, that an expression over the rows of a snapshot is; None where it is none."""
    while isinstance(operator, o.Select | o.Map):
        if isinstance(operator, o.Map):
            key = substitute(key, {item.column.id: item.value for item in operator.outputs})
        operator = operator.child
    if not (isinstance(operator, o.ReadSnapshot) and isinstance(key, Reference)):
        return None
    names = {column.id: column.name for column in operator.fields}
    return (operator.source, names[key.column]) if key.column in names else None


def _is_ranged(pair: o.Pair) -> bool:
    return isinstance(pair.own, Reference) and has_ranges(pair.own.type)


def has_ranges(data_type: DataType) -> bool:
    """Whether keys of a type are cut into ranges: those that are ordered here as they are in Spark."""
    return is_integral(data_type) or data_type == "DATE" or decimal_of(data_type) is not None

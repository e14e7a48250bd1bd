"""Where keys come from: the small operator that has every key which a larger one can give.

A join of a change with a big table gives only keys that occur in the change. Whoever needs to know
which keys can occur asks the change itself, not the join.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slacktide.algebra.scalar import Assignment, Scalar, reference
from slacktide.algebra.tree import references, substitute
from slacktide.common.tree import of_type
from slacktide.program import operator as o
from slacktide.program.operator import Operator

_ROW_BY_ROW = (o.ReadChanges, o.Select, o.Map, o.Negate, o.Add)
_LARGE = (o.ReadSnapshot, o.ReadBag, o.ReadState, o.Batch)


@dataclass(frozen=True, slots=True)
class Origin:
    """A small operator, and the keys as expressions over it."""

    by: Operator
    keys: tuple[Scalar, ...]


def is_small(operator: Operator) -> bool:
    """Whether an operator reads nothing but changes and what this run wrote of them."""
    return not any(isinstance(node, _LARGE) for node in of_type(operator, Operator))


def is_row_by_row(operator: Operator) -> bool:
    """Whether an operator has at most a row for each row of the changes that it reads."""
    nodes = of_type(operator, Operator)
    return all(isinstance(node, _ROW_BY_ROW) for node in nodes)


def origin_of(operator: Operator, keys: Sequence[Scalar]) -> Origin | None:
    """Find the small operator in which all values of some keys occur.

    Args:
        operator: in a program that extends what exists.
        keys: expressions over its columns.

    Returns:
        None where the values may come from a big table.
    """
    while not is_small(operator):
        if isinstance(operator, o.Add):
            return _of_all(operator, keys)
        below = _below(operator, keys)
        if below is None:
            return None
        operator, keys = below
    return Origin(operator, tuple(keys))


def _below(operator: Operator, keys: Sequence[Scalar]) -> tuple[Operator, Sequence[Scalar]] | None:
    """The input in which all values of the keys occur, and the keys over it."""
    match operator:
        case o.Select() | o.Consolidate() | o.Negate() | o.Combine() | o.Flips():
            return operator.child, keys
        case o.Map() | o.Finish():
            return operator.child, _through(operator.outputs, keys)
        case o.SemiBags():
            return operator.left, keys
        case o.JoinBags():
            used = frozenset[int]().union(*map(references, keys))
            sides = (operator.left, operator.right)
            return next(((s, keys) for s in sides if used <= {c.id for c in s.columns}), None)
        case o.Touched():
            met = {pair.own: pair.other for pair in operator.keys}
            if all(key in met for key in keys):
                return operator.by, [met[key] for key in keys]
            return operator.child, keys
        case _:
            return None


def _through(outputs: Sequence[Assignment], keys: Sequence[Scalar]) -> list[Scalar]:
    values: Mapping[int, Scalar] = {item.column.id: item.value for item in outputs}
    return [substitute(key, values) for key in keys]


def _of_all(operator: o.Add, keys: Sequence[Scalar]) -> Origin | None:
    """The origin that all summands have in common."""
    found: dict[Origin | None, None] = {}
    for child in operator.children:
        own = {
            field.id: reference(column)
            for field, column in zip(operator.fields, child.columns, strict=True)
        }
        found[origin_of(child, [substitute(key, own) for key in keys])] = None
    return next(iter(found)) if len(found) == 1 else None

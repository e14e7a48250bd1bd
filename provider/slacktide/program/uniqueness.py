"""By which columns no two rows of an operator are equal, as far as its form tells."""

from __future__ import annotations

from collections.abc import Iterable

from slacktide.algebra import relation as r
from slacktide.algebra.equalities import take_apart
from slacktide.algebra.scalar import Assignment, Reference
from slacktide.program import operator as o
from slacktide.program.operator import Operator


def unique_key(operator: Operator) -> frozenset[int] | None:
    """The ids of columns by which the rows of an operator are told apart: the keys of a group.

    None where the form of the operator does not tell; the empty set where there is one row at most.
    """
    match operator:
        case o.Evaluate() if isinstance(operator.query, r.Aggregate):
            return frozenset(key.column.id for key in operator.query.keys)
        case o.Finish(child=o.Summarise() as summary):
            keys = frozenset(key.column.id for key in summary.keys)
            return _renamed(keys, operator.outputs)
        case o.Finish(child=o.Combine() as merged):
            keys = frozenset(column.id for column in merged.keys)
            return _renamed(keys, operator.outputs)
        case o.Map():
            below = unique_key(operator.child)
            return None if below is None else _renamed(below, operator.outputs)
        case o.Select():
            return unique_key(operator.child)
        case _:
            return None


def _renamed(columns: frozenset[int], outputs: Iterable[Assignment]) -> frozenset[int] | None:
    """The same columns as they are put out; None where one of them is not."""
    names = {
        item.value.column: item.column.id for item in outputs if isinstance(item.value, Reference)
    }
    return frozenset(names[column] for column in columns) if columns <= names.keys() else None


def meets_at_most_once(operator: o.SemiBags) -> bool:
    """Whether a row of the left side meets one row of the right side at most, as that one is told apart."""
    unique = unique_key(operator.right)
    if unique is None:
        return False
    parts = take_apart(operator.condition, operator.left.columns, operator.right.columns)
    equated = {one.right.column for one in parts.equalities if isinstance(one.right, Reference)}
    return unique <= equated

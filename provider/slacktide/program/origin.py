"""Where keys come from: the small operator that has every key which a larger one can give.

A join of a change with a big table gives only keys that occur in the change. Whoever needs to know
which keys can occur asks the change itself, not the join.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from slacktide.algebra.equalities import take_apart
from slacktide.algebra.scalar import Assignment, Scalar, reference
from slacktide.algebra.tree import references, substitute
from slacktide.common.tree import of_type
from slacktide.program import operator as o
from slacktide.program.operator import Operator

_ROW_BY_ROW = (o.ReadChanges, o.Select, o.Map, o.Negate, o.Add, o.ByBalance, o.Consolidate)
_LARGE = (o.ReadSnapshot, o.ReadBag, o.ReadState, o.ReadSegments, o.Batch)


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
        None where the values may come from a big table, or from several small operators.
    """
    found = origins_of(operator, keys)
    return found[0] if found is not None and len(found) == 1 else None


def origins_of(operator: Operator, keys: Sequence[Scalar]) -> tuple[Origin, ...] | None:
    """Find small operators in one of which each value of some keys occurs; None where none are."""
    return _origins(operator, tuple(keys), {})


_Known = dict[tuple[Operator, tuple[Scalar, ...]], tuple[Origin, ...] | None]


def _origins(
    operator: Operator, keys: tuple[Scalar, ...], known: _Known
) -> tuple[Origin, ...] | None:
    """The same; what several read is asked once, as there are many ways to it through what reads it."""
    asked = (operator, keys)
    if asked not in known:
        known[asked] = _found(operator, keys, known)
    return known[asked]


def _found(
    operator: Operator, keys: tuple[Scalar, ...], known: _Known
) -> tuple[Origin, ...] | None:
    if is_small(operator):
        return (Origin(operator, keys),)
    if isinstance(operator, o.Add):
        return _of_all(operator, keys, known)
    if isinstance(operator, o.JoinBags | o.SemiBags):
        ways = (_origins(side, tuple(own), known) for side, own in _ways(operator, keys))
        return next((found for found in ways if found is not None), None)
    below = _below(operator, keys)
    return None if below is None else _origins(below[0], tuple(below[1]), known)


def _below(operator: Operator, keys: Sequence[Scalar]) -> tuple[Operator, Sequence[Scalar]] | None:
    """The input in which all values of the keys occur, and the keys over it."""
    match operator:
        case o.Select() | o.Consolidate() | o.Negate() | o.Combine() | o.Flips() | o.ByBalance():
            return operator.child, keys
        case o.Map() | o.Finish() | o.Regroup():
            return operator.child, _through(operator.outputs, keys)
        case o.Touched():
            met = {pair.own: pair.other for pair in operator.keys}
            if all(key in met for key in keys):
                return operator.by, [met[key] for key in keys]
            return operator.child, keys
        case _:
            return None


def _ways(
    operator: o.JoinBags | o.SemiBags, keys: Sequence[Scalar]
) -> Iterator[tuple[Operator, Sequence[Scalar]]]:
    """The sides in which all values of the keys occur: their own, and the one that must equal it."""
    left, right = operator.left, operator.right
    used = frozenset[int]().union(*map(references, keys))
    parts = take_apart(operator.condition, left.columns, right.columns)
    across = {equal.left: equal.right for equal in parts.equalities}
    back = {equal.right: equal.left for equal in parts.equalities}
    if used <= {column.id for column in left.columns}:
        yield left, keys
        meets = isinstance(operator, o.JoinBags) or not operator.negated
        if meets and all(key in across for key in keys):
            yield right, [across[key] for key in keys]
    elif used <= {column.id for column in right.columns}:
        yield right, keys
        if all(key in back for key in keys):
            yield left, [back[key] for key in keys]


def _through(outputs: Sequence[Assignment], keys: Sequence[Scalar]) -> list[Scalar]:
    values: Mapping[int, Scalar] = {item.column.id: item.value for item in outputs}
    return [substitute(key, values) for key in keys]


def _of_all(operator: o.Add, keys: Sequence[Scalar], known: _Known) -> tuple[Origin, ...] | None:
    """The origins of all summands."""
    found: dict[Origin, None] = {}
    for child in operator.children:
        own = {
            field.id: reference(column)
            for field, column in zip(operator.fields, child.columns, strict=True)
        }
        origins = _origins(child, tuple(substitute(key, own) for key in keys), known)
        if origins is None:
            return None
        found.update(dict.fromkeys(origins))
    return tuple(found)

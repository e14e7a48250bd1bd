"""Tables of which what a change meets is bounded by the keys of changes: they are read in part (spark_costs.md §2).

When a program runs, a join reads of a large table only the ranges in which the keys of the other side lie, where these keys
stem from changes of the sources themselves: those are few, and can be asked first (`program/origin.py`). In the memo a change
is a group, whatever its expressions are; so what its keys stem from is asked of the relation that it is the change of.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from slacktide.algebra import relation as r
from slacktide.algebra.equalities import parts_of
from slacktide.algebra.scalar import Scalar, reference
from slacktide.algebra.tree import references, row_source, sources, substitute
from slacktide.optimizer.memo.hole import Hole
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.trait import SetDelta
from slacktide.optimizer.rule_parts.rule import Near
from slacktide.program import operator as o
from slacktide.program.operator import Operator


def is_table(rel: r.Rel) -> bool:
    """Whether a relation is a source, row by row: what bounds it bounds what is read."""
    return isinstance(row_source(rel), r.Scan)


def is_bounding(near: Near, memo: Memo, changed: Collection[str]) -> bool:
    """Whether the keys by which rows are asked for stem from changes of sources.

    Args:
        near: what is asked for.
        memo: of the groups that it reads.
        changed: the sources that change.
    """
    return _is_bounding(near.by, [pair.other for pair in near.pairs], memo, changed)


def _is_bounding(
    by: Operator, keys: Sequence[Scalar], memo: Memo, changed: Collection[str]
) -> bool:
    match by:
        case Hole():
            changes = [tvr for tvr, trait in memo.linked(by.group) if isinstance(trait, SetDelta)]
            return any(stems_from(memo.relation(tvr), keys, changed) for tvr in changes)
        case o.Map():
            values = {item.column.id: item.value for item in by.outputs}
            inner = [substitute(key, values) for key in keys]
            return _is_bounding(by.child, inner, memo, changed)
        case o.Add():
            return all(
                _is_bounding(child, _renamed(keys, by.fields, child.columns), memo, changed)
                for child in by.children
            )
        case _:
            return False


def stems_from(rel: r.Rel, keys: Sequence[Scalar], changed: Collection[str]) -> bool:
    """Whether each value of some keys that a change of a relation has occurs in a change of a source.

    Args:
        rel: reads a source that changes.
        keys: expressions over its columns.
        changed: the sources that change.
    """
    match rel:
        case r.Scan():
            return True
        case r.Union():
            return all(
                stems_from(child, _renamed(keys, rel.fields, child.columns), changed)
                for child in _changing(rel.children, changed)
            )
        case r.Join():
            sides = _changing((rel.left, rel.right), changed)
            return all(_stems_from_side(rel, side, keys, changed) for side in sides)
        case _:
            below = _below(rel, keys)
            return below is not None and stems_from(below[0], below[1], changed)


def _below(rel: r.Rel, keys: Sequence[Scalar]) -> tuple[r.Rel, Sequence[Scalar]] | None:
    """The input in which all values of the keys occur, and the keys over it."""
    match rel:
        case r.Filter() | r.Sort():
            return rel.child, keys
        case r.Project():
            values = {item.column.id: item.value for item in rel.outputs}
            return rel.child, [substitute(key, values) for key in keys]
        case r.Aggregate():
            groups = {key.column.id: key.value for key in rel.keys}
            below = [substitute(key, groups) for key in keys]
            return (rel.child, below) if _used(keys) <= {*groups} else None
        case r.Window():
            return (rel.child, keys) if {*keys} <= {*rel.partition} else None
        case r.Expand() | r.Generate():
            return (rel.child, keys) if _over(keys, rel.child) else None
        case _:
            return None


def _stems_from_side(
    rel: r.Join, side: r.Rel, keys: Sequence[Scalar], changed: Collection[str]
) -> bool:
    """By the keys themselves, or by those that they must equal where the sides meet."""
    if _over(keys, side):
        return stems_from(side, keys, changed)
    met = [(equal.left, equal.right) for equal in parts_of(rel).equalities]
    across = {other: own for own, other in met} if side is rel.left else dict(met)
    return all(key in across for key in keys) and stems_from(
        side, [across[key] for key in keys], changed
    )


def _changing(rels: Sequence[r.Rel], changed: Collection[str]) -> list[r.Rel]:
    return [rel for rel in rels if not frozenset(changed).isdisjoint(sources(rel))]


def _over(keys: Sequence[Scalar], rel: r.Rel) -> bool:
    return _used(keys) <= {column.id for column in rel.columns}


def _used(keys: Sequence[Scalar]) -> frozenset[int]:
    return frozenset[int]().union(*map(references, keys))


def _renamed(keys: Sequence[Scalar], fields: r.Columns, columns: r.Columns) -> list[Scalar]:
    own = {field.id: reference(column) for field, column in zip(fields, columns, strict=True)}
    return [substitute(key, own) for key in keys]

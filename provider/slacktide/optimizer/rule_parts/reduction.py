"""A change that meets few rows: groups whose keys these rows do not have are not worked out.

`J ⋈ Δγ(R)` asks of the changed groups only those that `J` has the keys of (a semi-join reduction: P. Bernstein
and D. Chiu, *Using semi-joins to solve relational queries*, JACM 28, 1981). Pushed down to where states and
changes are read, it leaves out their rows before they are merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from slacktide.algebra import scalar as s
from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import Assignment, reference
from slacktide.algebra.tree import references, substitute
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Pair

_Passing = o.Combine | o.Consolidate | o.Finish | o.Map | o.Negate | o.Select | o.Touched


def reduced(rows: Operator, by: Operator, pairs: Sequence[Pair]) -> Operator:
    """Leave out rows whose keys do not occur elsewhere, as far below as can be told.

    Args:
        rows: what is to be met, a bag or partial aggregates.
        by: few rows.
        pairs: expressions over `rows`, and what they must equal in some row of `by`.
    """
    if isinstance(rows, o.Add):
        terms = [reduced(term, by, _of(pairs, rows.fields, term)) for term in rows.children]
        return o.Add(tuple(terms), rows.fields)
    if isinstance(rows, _Passing):
        below = _below(rows, pairs)
        if below is not None:
            return replace(rows, child=reduced(rows.child, by, below))
    return o.Touched(rows, by, tuple(pairs))


def _below(rows: _Passing, pairs: Sequence[Pair]) -> Sequence[Pair] | None:
    """What the keys are in the input of an operator; None where it brings rows of several keys together."""
    match rows:
        case o.Map():
            return _through(pairs, rows.outputs)
        case o.Finish():
            below = _through(pairs, rows.outputs)
            is_told = not rows.is_global and _is_of(below, _keys(rows.child))
            return below if is_told else None
        case o.Combine():
            return pairs if _is_of(pairs, rows.keys) else None
        case _:
            return pairs


def _keys(merged: Operator) -> Columns:
    """The columns by which partial aggregates are told apart."""
    return merged.keys if isinstance(merged, o.Combine) else ()


def _is_of(pairs: Iterable[Pair], columns: Columns) -> bool:
    ids = frozenset(column.id for column in columns)
    return all(references(pair.own) <= ids for pair in pairs)


def _through(pairs: Iterable[Pair], outputs: Iterable[Assignment]) -> list[Pair]:
    values: dict[int, s.Scalar] = {item.column.id: item.value for item in outputs}
    return [Pair(substitute(pair.own, values), pair.other) for pair in pairs]


def _of(pairs: Iterable[Pair], fields: Columns, child: Operator) -> list[Pair]:
    """What the keys of a sum are in one of its terms."""
    own = {f.id: reference(column) for f, column in zip(fields, child.columns, strict=True)}
    return [Pair(substitute(pair.own, own), pair.other) for pair in pairs]

"""How large the numbers are that a floating-point result was made of.

Which result the rounding of an addition gives depends on the order, and by how much on the numbers
that were added, not on their sum: it may have cancelled to nothing. *Equal* allows 1e-9 · Σ|x|
(`interfaces.md` §2). `magnified` adds Σ|x| of each group to the relation of a view.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.tree import fresh_ids, references
from slacktide.algebra.types import DOUBLE, decimal_of, is_floating, is_integral


@dataclass(frozen=True, slots=True)
class Magnified:
    """A view's relation with the magnitudes of its doubles.

    Attributes:
        relation: the columns of the view, and others.
        magnitudes: for each column of the view the one that holds Σ|x|, or None.
    """

    relation: r.Rel
    magnitudes: tuple[s.Column | None, ...]


def magnified(relation: r.Rel) -> Magnified | None:
    """Add the magnitudes, where an aggregate is the last that adds; None where none is."""
    found = _magnified(relation, fresh_ids(relation))
    if found is None:
        return None
    larger, known = found
    return Magnified(larger, tuple(known.get(column.id) for column in relation.columns))


_Found = tuple[r.Rel, dict[int, s.Column]]


def _magnified(relation: r.Rel, ids: Iterator[int]) -> _Found | None:
    match relation:
        case r.Aggregate():
            return _summed(relation, ids)
        case r.Filter() | r.Sort() | r.Limit():
            below = _magnified(relation.child, ids)
            return below and (replace(relation, child=below[0]), below[1])
        case r.Project():
            below = _magnified(relation.child, ids)
            return below and _projected(relation, *below, ids)
        case _:
            return None


def _summed(relation: r.Aggregate, ids: Iterator[int]) -> _Found | None:
    measures, known = [], {}
    for measure in relation.measures:
        sizes = [_size(a) for a in measure.call.arguments if _is_number(a)]
        if is_floating(measure.column.type) and sizes:
            column = s.Column(next(ids), "magnitude", DOUBLE, nullable=True)
            total = s.AggregateCall(
                "sum",
                (reduce(_plus, sizes),),
                distinct=False,
                filter=measure.call.filter,
                type=DOUBLE,
                nullable=True,
            )
            measures.append(s.Measure(column, total))
            known[measure.column.id] = column
    if not known:
        return None
    return replace(relation, measures=(*relation.measures, *measures)), known


def _projected(
    relation: r.Project, child: r.Rel, known: dict[int, s.Column], ids: Iterator[int]
) -> _Found:
    outputs, above = [], {}
    for output in relation.outputs:
        parts: list[s.Scalar] = [
            s.reference(known[i]) for i in sorted(references(output.value)) if i in known
        ]
        if is_floating(output.column.type) and parts:
            column = s.Column(next(ids), "magnitude", DOUBLE, nullable=True)
            outputs.append(s.Assignment(column, reduce(_plus, parts)))
            above[output.column.id] = column
    return replace(relation, child=child, outputs=(*relation.outputs, *outputs)), above


def _is_number(scalar: s.Scalar) -> bool:
    kind = scalar.type
    return is_floating(kind) or is_integral(kind) or decimal_of(kind) is not None


def _size(scalar: s.Scalar) -> s.Scalar:
    number = s.Cast(scalar, DOUBLE, scalar.nullable)
    return s.Call("abs", (number,), DOUBLE, scalar.nullable)


def _plus(left: s.Scalar, right: s.Scalar) -> s.Scalar:
    return s.Call("+", (left, right), DOUBLE, nullable=True)

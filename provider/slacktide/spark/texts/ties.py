"""A LIMIT at the top of a view, without the choice that it makes between rows of equal order.

`cut_of` finds the limit; `Cut.ranked` is the relation before it, each row with its rank, so that one
can see which answers the query allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Assignment, Call, Column, Literal, WindowCall, identity
from slacktide.algebra.tree import fresh_ids
from slacktide.algebra.types import DataType

INT: DataType = "INT"


@dataclass(frozen=True, slots=True)
class Cut:
    """What a limit cuts from, and where.

    Attributes:
        ranked: the columns of the view and last the rank: how many rows come before, and one.
        first: rank of the first row that stays.
        last: rank of the last row that stays; infinite without a limit.
    """

    ranked: r.Rel
    first: int
    last: float


def cut_of(relation: r.Rel) -> Cut | None:
    """Find the limit at the top of a relation, below nothing but projections; None for none."""
    projections: list[r.Project] = []
    limits: list[r.Limit] = []
    node = relation
    while isinstance(node, r.Project | r.Limit):
        if isinstance(node, r.Limit):
            limits.append(node)
        else:
            projections.append(node)
        node = node.child
    if not limits:
        return None
    rank = Column(next(fresh_ids(relation)), "rank", INT, nullable=False)
    ranked = _ranked(node, rank)
    for projection in reversed(projections):
        ranked = r.Project(ranked, (*projection.outputs, identity(rank)))
    first, last = 1, math.inf
    for limit in reversed(limits):
        first += limit.offset
        last = last if limit.count is None else min(last, first + limit.count - 1)
    return Cut(ranked, first, last)


def _ranked(node: r.Rel, rank: Column) -> r.Rel:
    if isinstance(node, r.Sort):
        function = WindowCall(rank, Call("rank", (), INT, nullable=False), "")
        return r.Window(node.child, (), node.keys, (function,))
    first = Assignment(rank, Literal("1", INT, nullable=False))
    return r.Project(node, (*(identity(column) for column in node.columns), first))

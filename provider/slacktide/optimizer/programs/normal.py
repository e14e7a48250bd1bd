"""Views brought into the form that delta rules know, by which states and texts are compared, too.

Projections that only pass their input on are left out. Catalyst puts one over a source that has more
columns than the query uses, and none over one that has just these: a column that a source gains would
give states another identity, and views another meaning.

Scalar subqueries become joins, as no rule gives the change of an expression that asks for a relation.
The one value of an uncorrelated subquery is a relation of one row, so an expression that asks for it
reads a column of a join. Where it cannot be seen that there is at most one row, its rows are brought
together into one that fails when there were several, as the query does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.tree import fresh_ids, inputs, ordered_path, own_subqueries
from slacktide.algebra.types import BIGINT, BOOLEAN
from slacktide.common.node import Node
from slacktide.common.tree import graft, rewrite
from slacktide.errors import InvariantError

_MANY: Final = "'a scalar subquery gives more than one row'"


def normal(root: r.Rel) -> r.Rel:
    """Give the same relation, column by column, without idle projections and scalar subqueries."""
    fresh = fresh_ids(root)

    def join(node: Node) -> Node | None:
        if not isinstance(node, r.Filter | r.Project | r.Join | r.Aggregate | r.Window | r.Expand):
            return None
        found = list(own_subqueries(node))
        return _joined(node, found, fresh) if found else None

    return rewrite(rewrite(root, _without_idle), join)


def _without_idle(node: Node) -> Node | None:
    """The input of a projection that only passes it on."""
    if not isinstance(node, r.Project):
        return None
    is_idle = node.outputs == tuple(s.identity(column) for column in node.child.columns)
    return node.child if is_idle else None


def _joined(rel: r.Rel, queries: list[s.Subquery], fresh: Iterator[int]) -> r.Rel:
    """The relation over its first input, each row with the values of the subqueries."""
    below = inputs(rel)[0]
    values: dict[bytes, Node] = {}
    joined: list[tuple[r.Rel, r.JoinKind]] = []
    for query in queries:
        given, rows = query.query.columns[0], _rows(query.query)
        column = s.Column(next(fresh), given.name, query.type, nullable=True)
        value = r.Project(query.query, (s.Assignment(column, s.reference(given)),))
        if rows is None:
            value = _only(query.query, column, fresh)
        joined.append((value, "left" if rows == "some" else "inner"))
        values[query.digest] = s.Reference(column.id, column.type, nullable=True)
    fed = _fed(below, joined)
    replaced = graft(rel, {**values, below.digest: fed})
    if [column.id for column in replaced.columns] == [column.id for column in rel.columns]:
        return replaced
    return r.Project(replaced, tuple(s.identity(column) for column in rel.columns))


def _fed(rel: r.Rel, joined: Sequence[tuple[r.Rel, r.JoinKind]]) -> r.Rel:
    """Each row with the values of some relations of at most one row, below the order that a limit above goes by."""
    if not isinstance(ordered_path(rel)[-1], r.Sort):
        for value, kind in joined:
            rel = r.Join(rel, value, kind, None)
        return rel
    below = _fed(inputs(rel)[0], joined)
    match rel:
        case r.Sort():
            return r.Sort(below, rel.keys)
        case r.Limit():
            return r.Limit(below, rel.count, rel.offset)
        case r.Filter():
            return r.Filter(below, rel.predicate)
        case r.Project():
            added = [column for value, _ in joined for column in value.columns]
            return r.Project(below, (*rel.outputs, *map(s.identity, added)))
        case _:
            raise InvariantError(f"an order is below {rel.tag}")


def _only(query: r.Rel, column: s.Column, fresh: Iterator[int]) -> r.Project:
    """One row with the only value of a query; NULL where it has none, an error where it has several."""
    given = query.columns[0]
    value = s.Column(next(fresh), given.name, given.type, nullable=True)
    count = s.Column(next(fresh), "rows", BIGINT, nullable=False)
    first = s.AggregateCall(
        "first", (s.reference(given),), distinct=False, filter=None, type=given.type, nullable=True
    )
    counted = s.AggregateCall("count", (), distinct=False, filter=None, type=BIGINT, nullable=False)
    gathered = r.Aggregate(query, (), (s.Measure(value, first), s.Measure(count, counted)))
    many = s.Call(
        ">", (s.reference(count), s.Literal("1L", BIGINT, nullable=False)), BOOLEAN, nullable=False
    )
    fails = s.Call(
        "raise_error", (s.Literal(_MANY, "STRING", nullable=False),), "VOID", nullable=True
    )
    only = s.Case(((many, fails),), s.reference(value), given.type, nullable=True)
    return r.Project(gathered, (s.Assignment(column, only),))


def _rows(rel: r.Rel) -> str | None:
    """Whether a relation has ``one`` row or at most one (``some``); None where it may have more."""
    match rel:
        case r.Aggregate():
            return None if rel.keys else "one"
        case r.Project():
            return _rows(rel.child)
        case r.Filter():
            return None if _rows(rel.child) is None else "some"
        case r.Limit():
            return "some" if rel.count is not None and rel.count <= 1 else None
        case _:
            return None

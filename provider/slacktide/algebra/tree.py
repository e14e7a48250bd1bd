"""Questions and rewrites over relations that need only their structure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import cast

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.common.node import Node
from slacktide.common.tree import of_type, postorder, rewrite

CLASSES: tuple[type[Node], ...] = (
    s.Column,
    s.Reference,
    s.Literal,
    s.Call,
    s.Cast,
    s.Case,
    s.Lambda,
    s.Subquery,
    s.Assignment,
    s.AggregateCall,
    s.Measure,
    s.SortKey,
    s.WindowCall,
    r.Scan,
    r.Values,
    r.Range,
    r.Filter,
    r.Project,
    r.Join,
    r.Aggregate,
    r.Union,
    r.Sort,
    r.Limit,
    r.Window,
    r.Expand,
    r.Generate,
)


def inputs(rel: r.Rel) -> tuple[r.Rel, ...]:
    """The relations that a relation reads directly (not those inside scalar subqueries)."""
    return tuple(cast("r.Rel", part) for part in rel.parts if isinstance(part, r.Relation))


def own_subqueries(rel: r.Rel) -> list[s.Subquery]:
    """The subqueries in the expressions of a relation, not those of its inputs."""
    found: dict[s.Subquery, None] = {}
    stack: list[Node] = [part for part in rel.parts if not isinstance(part, r.Relation)]
    while stack:
        node = stack.pop()
        if isinstance(node, s.Subquery):
            found[node] = None
        elif not isinstance(node, r.Relation):
            stack.extend(node.parts)
    return list(found)


def relations(root: r.Rel) -> Iterator[r.Rel]:
    """Every distinct relation once, inputs first, those inside scalar subqueries too."""
    for node in postorder(root):
        if isinstance(node, r.Relation):
            yield cast("r.Rel", node)


def ordered_path(rel: r.Rel) -> tuple[r.Rel, ...]:
    """A relation and those below it, through what keeps the order of rows; the last one is the order, if any is."""
    path = [rel]
    while isinstance(rel, r.Project | r.Filter | r.Limit):
        rel = rel.child
        path.append(rel)
    return tuple(path)


def row_source(rel: r.Rel) -> r.Rel:
    """What filters and projections stand on: each row above it is made of one row of it."""
    while isinstance(rel, r.Filter | r.Project):
        rel = rel.child
    return rel


def sources(root: r.Rel) -> tuple[str, ...]:
    """Names of the sources read, sorted."""
    return tuple(sorted({scan.source for scan in of_type(root, r.Scan)}))


def references(node: Node) -> frozenset[int]:
    """Ids of the columns that expressions inside a node refer to."""
    return frozenset(ref.column for ref in of_type(node, s.Reference))


def fresh_ids(root: Node) -> Iterator[int]:
    """Ids that no column of a node has, in ascending order."""
    return count(max((column.id for column in of_type(root, s.Column)), default=0) + 1)


def substitute(scalar: s.Scalar, values: Mapping[int, s.Scalar]) -> s.Scalar:
    """Put values in the place of references to their columns."""

    def put(node: Node) -> Node | None:
        return values.get(node.column) if isinstance(node, s.Reference) else None

    return rewrite(scalar, put)


def canonical(root: r.Rel) -> r.Rel:
    """The same meaning with ids counted in order of appearance and no names but the sources'.

    Two relations with one canonical form compute the same; its digest identifies states.
    """
    numbers: dict[int, int] = {}
    named = {field.id for scan in of_type(root, r.Scan) for field in scan.fields}
    for node in postorder(root):
        if isinstance(node, s.Column):
            numbers.setdefault(node.id, len(numbers))

    def renumber(node: Node) -> Node | None:
        if isinstance(node, s.Column):
            name = node.name if node.id in named else ""
            return s.Column(numbers[node.id], name, node.type, node.nullable)
        if isinstance(node, s.Reference):
            return s.Reference(numbers.get(node.column, node.column), node.type, node.nullable)
        return None

    return rewrite(root, renumber)

"""The order at the top of a query: kept for readers, not part of what is maintained."""

from __future__ import annotations

from dataclasses import dataclass

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.spark.reader.context import Tree
from slacktide.spark.reader.relations import STRIPPED, Relations, limited, sort_keys


@dataclass(frozen=True, slots=True)
class Peeled:
    """A relation without the order at its top, and that order over its columns."""

    relation: r.Rel
    order: tuple[s.SortKey, ...]


def peel(reader: Relations, tree: Tree) -> Peeled:
    """Read a plan; a sort at its top, with or without limit, becomes the readers' order.

    Keys that are no columns of the query are appended to the relation's columns.
    """
    top = _top(reader, tree, is_limited=False)
    if all(isinstance(key.value, s.Reference) for key in top.order):
        return top
    return _project(reader, top, tuple(s.identity(column) for column in top.relation.columns))


def _top(reader: Relations, tree: Tree, *, is_limited: bool) -> Peeled:
    kind = tree["p"]
    if kind in {"GlobalLimit", "Offset"}:
        below = _top(reader, tree["f"]["child"], is_limited=True)
        return Peeled(limited(tree, below.relation), below.order)
    if kind in STRIPPED:
        return _top(reader, tree["f"]["child"], is_limited=is_limited)
    if kind == "Project":
        below = _top(reader, tree["f"]["child"], is_limited=is_limited)
        if below.order:
            scope = reader.scope(tree["f"]["child"], below.relation)
            return _project(reader, below, reader.assignments(tree["f"]["projectList"], scope))
    if kind == "Sort" and tree["f"]["global"]:
        child, scope = reader.child(tree)
        keys = sort_keys(reader.expressions, tree["f"]["order"], scope)
        return Peeled(r.Sort(child, keys) if is_limited else child, keys)
    return Peeled(reader.read(tree), ())


def _project(reader: Relations, below: Peeled, outputs: tuple[s.Assignment, ...]) -> Peeled:
    """Project, and keep what the order needs behind the outputs."""
    given = {output.value: output.column for output in reversed(outputs)}
    hidden = []
    order = []
    for key in below.order:
        column = given.get(key.value)
        if column is None:
            value = key.value
            column = reader.reading.column("", value.type, nullable=value.nullable)
            if isinstance(value, s.Reference):
                column = s.Column(value.column, "", value.type, value.nullable)
            given[value] = column
            hidden.append(s.Assignment(column, value))
        order.append(s.SortKey(s.reference(column), key.ascending, key.nulls_first))
    return Peeled(r.Project(below.relation, (*outputs, *hidden)), tuple(order))

"""Random views, their change streams, and how a failure shrinks to a small case.

A view is one number: `random_view` gives the same text for it on every machine.
"""

from __future__ import annotations

from tests.harness.random_sql.collations import collated, is_collated
from tests.harness.random_sql.expressions import Pen
from tests.harness.random_sql.nodes import RELATION, Leaf, Node, constructs, replaced, sql
from tests.harness.random_sql.queries import view, view_over
from tests.harness.random_sql.relations import Query, Relation, derived


def random_view(seed: int) -> Node:
    """The view of a number."""
    return _written(Pen(seed), seed).node


def random_view_over(seed: int, name: str) -> tuple[Node, Node]:
    """A view over the view of a number: as it reads that by its name, and by its text."""
    pen = Pen(seed)
    inline = derived(pen, _written(pen, seed))
    alias = inline.scope[0].text.split(".")[0]
    by_name = Leaf(f"{name} AS {alias}", RELATION)
    upper = view_over(pen, Relation(by_name, inline.scope)).node
    return upper, replaced(upper, by_name, inline.node)


def _written(pen: Pen, seed: int) -> Query:
    return collated(pen) if is_collated(seed) else view(pen)


__all__ = ["Node", "constructs", "random_view", "random_view_over", "sql"]

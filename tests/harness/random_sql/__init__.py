"""Random views, their change streams, and how a failure shrinks to a small case.

A view is one number: `random_view` gives the same text for it on every machine.
"""

from __future__ import annotations

from tests.harness.random_sql.expressions import Pen
from tests.harness.random_sql.nodes import Node, constructs, sql
from tests.harness.random_sql.queries import view


def random_view(seed: int) -> Node:
    """The view of a number."""
    return view(Pen(seed))


__all__ = ["Node", "constructs", "random_view", "sql"]

"""What a query gives: output columns under names of their own, in an order, up to a limit."""

from __future__ import annotations

from collections.abc import Sequence

from tests.harness.random_sql.expressions import (
    SORTABLE,
    Column,
    Pen,
    Scope,
    columns_of,
    conjunction,
)
from tests.harness.random_sql.nodes import QUERY, Form, Node, Several
from tests.harness.random_sql.relations import Query, table


def named(pen: Pen, expressions: Sequence[Node], domains: Sequence[str]) -> tuple[Several, Scope]:
    """Give output columns names that nothing else has."""
    names = [pen.name("x") for _ in expressions]
    items = tuple(
        Form(f"{{}} AS {name}", (e,), "item") for e, name in zip(expressions, names, strict=True)
    )
    columns = [
        Column(name, e.sort, domain)
        for e, name, domain in zip(expressions, names, domains, strict=True)
    ]
    return Several(items), columns


TIES = "top-k with ties"
"""A view of which several answers are right."""


def limited(pen: Pen, node: Node) -> Node:
    """Order by all columns, so that only equal rows tie, and keep some."""
    kept = pen.dice.choice([1, 3, 5, 10, 20, 30])
    offset = f" OFFSET {pen.dice.choice([1, 2])}" if pen.chance(0.3) else ""
    direction = pen.dice.choice(["", " DESC"])
    template = f"{{}} ORDER BY ALL{direction} LIMIT {kept}{offset}"
    return Form(template, (node,), QUERY, "offset" if offset else "top-k")


def tied(pen: Pen) -> Query:
    """The first rows in an order that leaves ties, of which any may stay; only at the top."""
    base = table(pen, pen.dice.choice(["facts", "loose"]))
    columns = columns_of(base.scope, SORTABLE)
    chosen = pen.dice.sample(columns, min(len(columns), 3))
    items, outputs = named(pen, [c.leaf for c in chosen], [c.domain for c in chosen])
    order = pen.dice.choice(columns_of(base.scope, ["integer", "string"])).text
    direction = pen.dice.choice(["", " DESC"])
    kept = pen.dice.choice([2, 5, 8, 12])
    text = f"SELECT {{}} FROM {{}}{{}} ORDER BY {order}{direction} LIMIT {kept}"
    where = conjunction(pen, base.scope, 1)
    return Query(Form(text, (items, base.node, where), QUERY, TIES), outputs)

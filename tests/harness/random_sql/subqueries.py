"""Queries inside expressions: scalar, correlated, EXISTS, IN and their opposites, and LATERAL."""

from __future__ import annotations

from tests.harness.random_sql.aggregates import aggregate
from tests.harness.random_sql.expressions import Column, Pen, Scope, expression, meeting, predicate
from tests.harness.random_sql.nodes import QUERY, RELATION, Form, Leaf, Node, Several
from tests.harness.random_sql.relations import Relation, table


def membership(pen: Pen, scope: Scope) -> Node:
    """A condition on another query: EXISTS, IN, NOT EXISTS, NOT IN, alone or inside an OR."""
    wanted = pen.choice({"exists": 3, "not exists": 2, "in": 2.5, "not in": 1.5, "compare": 1.5})
    match wanted:
        case "in" | "not in":
            node = _in(pen, scope, "NOT " if wanted == "not in" else "")
        case "compare":
            node = _compared(pen, scope)
        case _:
            node = _exists(pen, scope, "NOT " if wanted == "not exists" else "")
    if pen.chance(0.25):
        other = predicate(pen, scope, share=1.0)
        return Form("({} OR {})", (node, other), "boolean", f"{wanted} inside or")
    return node


def shown(pen: Pen, scope: Scope) -> Node:
    """A query as an output column: whether there is something, or one value of it."""
    match pen.choice({"exists": 1, "in": 0.7, "scalar": 1, "correlated": 2}):
        case "exists":
            return _exists(pen, scope, "")
        case "in":
            return _in(pen, scope, "")
        case "scalar":
            return _scalar(pen, [])
        case _:
            return _scalar(pen, scope)


def lateral(pen: Pen, left: Relation) -> Relation:
    """Join a query that sees the row that it is joined to."""
    inside = table(pen)
    alias = pen.name("l")
    name = pen.name("x")
    condition = _link(pen, left.scope, inside.scope)
    if pen.chance(0.5):
        item = expression(pen, inside.scope, pen.dice.choice(["integer", "string"]), 1)
    else:
        item = aggregate(pen, inside.scope)
    query = Form(
        f"SELECT {{}} AS {name} FROM {{}} WHERE {{}}", (item, inside.node, condition), QUERY
    )
    join = pen.dice.choice(["JOIN", "LEFT JOIN"])
    node = Form(
        f"{{}} {join} LATERAL ({{}}) AS {alias}",
        (left.node, query),
        RELATION,
        f"lateral {join.lower()}",
    )
    return Relation(node, [*left.scope, Column(f"{alias}.{name}", item.sort)])


def _exists(pen: Pen, scope: Scope, negation: str) -> Node:
    inside = table(pen)
    conditions = [_link(pen, scope, inside.scope)]
    if negation or pen.chance(0.5):
        conditions.append(predicate(pen, inside.scope, share=1.0 if negation else 0.4))
    where = Several(tuple(conditions), " AND ")
    query = Form("SELECT 1 FROM {} WHERE {}", (inside.node, where), QUERY)
    construct = f"{negation.lower()}exists"
    return Form(f"{negation}EXISTS ({{}})", (query,), "boolean", construct)


def _in(pen: Pen, scope: Scope, negation: str) -> Node:
    inside = table(pen)
    pairs = meeting(scope, inside.scope)
    if not pairs:
        return _exists(pen, scope, negation)
    outer, item = pen.dice.choice(pairs)
    conditions = [predicate(pen, inside.scope, share=0.9)]
    if pen.chance(0.3):
        conditions.append(_link(pen, scope, inside.scope))
    # One NULL among the items leaves no row.
    if negation and pen.chance(0.85):
        conditions.append(Form("{} IS NOT NULL", (item.leaf,), "boolean"))
    where = Several(tuple(conditions), " AND ", " WHERE ", least=0)
    query = Form("SELECT {} FROM {}{}", (item.leaf, inside.node, where), QUERY)
    parts = (outer.leaf, query)
    return Form(f"{{}} {negation}IN ({{}})", parts, "boolean", f"{negation.lower()}in")


def _compared(pen: Pen, scope: Scope) -> Node:
    value = _scalar(pen, scope if pen.chance(0.5) else [], "integer")
    mine = expression(pen, scope, "integer", 0)
    return Form("({} <= coalesce({}, 3))", (mine, value), "boolean", "comparison with a query")


def _scalar(pen: Pen, scope: Scope, sort: str = "") -> Node:
    """One value of a query; correlated where there is a scope to relate to."""
    inside = table(pen)
    item = aggregate(pen, inside.scope)
    if sort and item.sort != sort:
        item = Form("count({})", (pen.dice.choice(list(inside.scope)).leaf,), sort, "count")
    conditions = [_link(pen, scope, inside.scope)] if scope else []
    if pen.chance(0.4):
        conditions.append(predicate(pen, inside.scope))
    where = Several(tuple(conditions), " AND ", " WHERE ", least=0)
    query = Form("SELECT {} FROM {}{}", (item, inside.node, where), QUERY)
    construct = "correlated scalar subquery" if scope else "scalar subquery"
    return Form("({})", (query,), item.sort, construct)


def _link(pen: Pen, outer: Scope, inside: Scope) -> Node:
    """A condition that relates a query to the row around it."""
    pairs = meeting(outer, inside)
    if not pairs:
        return Leaf("true", "boolean")
    a, b = pen.dice.choice(pairs)
    if pen.chance(0.15):
        return Form("{} > {}", (b.leaf, a.leaf), "boolean", "unequal correlation")
    return Form("{} = {}", (b.leaf, a.leaf), "boolean", "correlation")

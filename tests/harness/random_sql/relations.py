"""What stands in FROM: sources, joins of every kind, generators, values, ranges, inner queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.harness.random_sql.expressions import (
    GROUPABLE,
    Column,
    Pen,
    Scope,
    columns_of,
    meeting,
    predicate,
)
from tests.harness.random_sql.nodes import RELATION, Form, Leaf, Node, Several
from tests.harness.random_sql.schema import TABLES

INFO = (("a", "integer", "small"), ("b", "string", "g"), ("w", "decimal", "weight"))
JOINS = {
    "JOIN": 4,
    "LEFT JOIN": 3,
    "RIGHT JOIN": 1.5,
    "FULL OUTER JOIN": 2,
    "LEFT SEMI JOIN": 1,
    "LEFT ANTI JOIN": 1,
}
CONDITIONS = {"equi": 6, "equi and more": 2.5, "range": 1.2, "arbitrary": 0.8}
ANTI_CONDITIONS = {"equi": 1.5, "equi and more": 6, "range": 0.3, "arbitrary": 0.3}
GENERATORS = {
    "nums": ("explode", (("integer", "k"),)),
    "tags": ("explode", (("string", "g"),)),
    "attrs": ("explode", (("string", "g"), ("integer", "k"))),
    "items": ("inline", (("string", "g"), ("integer", ""))),
}


@dataclass(frozen=True, slots=True)
class Relation:
    """A FROM clause and the columns that it brings into scope."""

    node: Node
    scope: Scope


@dataclass(frozen=True, slots=True)
class Query:
    """A query, its output columns by name, and whether its text is one that may stand in IN."""

    node: Node
    columns: Scope


# Writes an inner query, so many levels above the innermost.
Inner = Callable[[Pen, int], Query]


def table(pen: Pen, name: str | None = None) -> Relation:
    """A source under a name of its own."""
    chosen = name or pen.choice({"facts": 6, "dim": 2.5, "loose": 3, "nested": 2})
    alias = pen.name("t")
    scope = [Column(f"{alias}.{f.name}", f.sort, f.domain) for f in TABLES[chosen].fields]
    if chosen == "dim":
        scope += [Column(f"{alias}.info.{name}", sort, domain) for name, sort, domain in INFO]
    return Relation(Leaf(f"{chosen} AS {alias}", RELATION), scope)


def derived(pen: Pen, query: Query) -> Relation:
    """An inner query under a name of its own."""
    alias = pen.name("d")
    scope = [Column(f"{alias}.{c.text}", c.sort, c.domain) for c in query.columns]
    node = Form(f"({{}}) AS {alias}", (query.node,), RELATION, "inner query")
    return Relation(node, scope)


def relation(pen: Pen, inner: Inner, depth: int) -> Relation:
    """Write a FROM clause."""
    shape = pen.choice({"one": 4, "join": 5, "three": 1.2, "cross": 0.7, "generate": 1.6})
    match shape:
        case "join":
            right = _values(pen) if pen.chance(0.06) else _one(pen, inner, depth)
            return joined(pen, _one(pen, inner, depth), right)
        case "three":
            two = joined(pen, table(pen, "facts"), table(pen))
            return joined(pen, two, table(pen, "dim"))
        case "cross":
            return _crossed(pen, _one(pen, inner, depth))
        case "generate":
            return _generated(pen)
        case _:
            return _one(pen, inner, depth)


def _one(pen: Pen, inner: Inner, depth: int) -> Relation:
    if depth > 0 and pen.chance(0.3):
        return derived(pen, inner(pen, depth - 1))
    return table(pen)


def _values(pen: Pen) -> Relation:
    alias = pen.name("v")
    scope = [Column(f"{alias}.k", "integer", "k"), Column(f"{alias}.g", "string", "g")]
    if pen.chance(0.4):
        return Relation(
            Form(f"range(0, 7) AS {alias}(k)", (), RELATION, "range relation"), scope[:1]
        )
    rows = ["(1, 'a')", "(2, 'b')", "(CAST(NULL AS INT), 'c')", "(4, 'a')", "(1, 'a')"]
    listed = Several(tuple(Leaf(row, "row") for row in rows), before="VALUES ")
    return Relation(Form(f"({{}}) AS {alias}(k, g)", (listed,), RELATION, "values relation"), scope)


def joined(pen: Pen, left: Relation, right: Relation) -> Relation:
    """Join two relations, on keys that meet where there are any."""
    kind = pen.choice(JOINS)
    both = [*left.scope, *right.scope]
    # Without more than an equality, nearly each row has a partner, and an anti join nothing to give.
    shapes = ANTI_CONDITIONS if kind == "LEFT ANTI JOIN" else CONDITIONS
    condition = _condition(pen, left.scope, right.scope, pen.choice(shapes))
    node = Form(
        f"{{}} {kind} {{}} ON {{}}", (left.node, right.node, condition), RELATION, kind.lower()
    )
    kept = left.scope if kind in {"LEFT SEMI JOIN", "LEFT ANTI JOIN"} else both
    return Relation(node, kept)


def _condition(pen: Pen, left: Scope, right: Scope, shape: str) -> Node:
    pairs = meeting(left, right)
    if not pairs or shape == "range":
        return _range(pen, left, right)
    a, b = pen.dice.choice(pairs)
    operator = "<=>" if pen.chance(0.12) else "="
    equal = Form(f"{{}} {operator} {{}}", (a.leaf, b.leaf), "boolean", "equi condition")
    match shape:
        case "equi and more":
            more = predicate(pen, [*left, *right], share=0.6)
            others = [pair for pair in pairs if pair != (a, b)]
            if others and pen.chance(0.4):
                c, d = pen.dice.choice(others)
                more = Form("{} = {}", (c.leaf, d.leaf), "boolean")
            return Several((equal, more), " AND ", sort="boolean", construct="residual condition")
        case "arbitrary":
            other = predicate(pen, left, share=1.0)
            return Form("({} OR {})", (equal, other), "boolean", "arbitrary condition")
        case _:
            return equal


def _range(pen: Pen, left: Scope, right: Scope) -> Node:
    """A condition that orders two columns of a sort, with values of the same size where there are such."""
    sorts = [s for s in ("integer", "date") if columns_of(left, [s]) and columns_of(right, [s])]
    if not sorts:
        return Leaf("true", "boolean")
    sort = pen.dice.choice(sorts)
    a, b = (
        pen.dice.choice([c for c in there if c.domain in {"k", "small", "day"}] or there)
        for there in (columns_of(left, [sort]), columns_of(right, [sort]))
    )
    template = pen.dice.choice(["{} < {}", "{0} BETWEEN {1} AND {1} + 2", "{} >= {}"])
    if template.startswith("{0}"):
        text = template.format(a.text, b.text)
        return Form(text, (), "boolean", "range condition")
    return Form(template, (a.leaf, b.leaf), "boolean", "range condition")


def _crossed(pen: Pen, left: Relation) -> Relation:
    right = _values(pen) if pen.chance(0.5) else table(pen, "dim")
    node = Form("{} CROSS JOIN {}", (left.node, right.node), RELATION, "cross join")
    return Relation(node, [*left.scope, *right.scope])


def _generated(pen: Pen) -> Relation:
    """Rows for the items of a nested column: LATERAL VIEW, or a function in FROM."""
    base = table(pen, "nested")
    name = pen.dice.choice([*GENERATORS])
    function, outputs = GENERATORS[name]
    column = next(c.text for c in base.scope if c.text.endswith(f".{name}"))
    if function == "explode" and len(outputs) == 1 and pen.chance(0.4):
        function, outputs = "posexplode", (("integer", "k"), *outputs)
    outer = "OUTER " if pen.chance(0.4) else ""
    alias = pen.name("e")
    names = [pen.name("x") for _ in outputs]
    scope = [
        *base.scope,
        *(Column(f"{alias}.{n}", s, d) for n, (s, d) in zip(names, outputs, strict=True)),
    ]
    if not outer and pen.chance(0.3):
        text = f"{{}}, LATERAL {function}({column}) AS {alias}({', '.join(names)})"
        return Relation(Form(text, (base.node,), RELATION, f"lateral {function}"), scope)
    text = f"{{}} LATERAL VIEW {outer}{function}({column}) {alias} AS {', '.join(names)}"
    construct = f"lateral view {outer.lower()}{function}"
    return Relation(Form(text, (base.node,), RELATION, construct), scope)


def groupable(scope: Scope) -> Sequence[Column]:
    """Columns that groups may be made of."""
    return columns_of(scope, GROUPABLE)

"""Queries in which collations decide what is equal, and what comes first.

Which of the strings that a collation equates stands for all of them is Spark's to say, and may differ from
run to run. So of a key by which rows are merged only the *image* is shown, which all of these share.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from tests.harness.random_sql.aggregates import aggregate
from tests.harness.random_sql.expressions import (
    SORTABLE,
    Column,
    Pen,
    Scope,
    columns_of,
    conjunction,
    predicate,
)
from tests.harness.random_sql.nodes import QUERY, RELATION, Form, Leaf, Node, Several, sql
from tests.harness.random_sql.outputs import named
from tests.harness.random_sql.queries import SETS, from_where
from tests.harness.random_sql.relations import JOINS, Query, Relation, table

FIRST = 2_000_000
"""The first view that may be of this kind: those before it are what they were."""
SHARE = 0.06
# By collation: what all strings that it equates have in common.
IMAGES: Mapping[str, str] = {
    "UTF8_LCASE": "lower({})",
    "UNICODE_CI": "lower({})",
    "UTF8_BINARY_RTRIM": "rtrim({})",
    "UTF8_LCASE_RTRIM": "lower(rtrim({}))",
}
CONSTRUCT = "collation"
COLLATED = "collated"
CONDITIONS = (
    "({} = 'A')",
    "({} <> 'B')",
    "({} IN ('AB', 'c', 'B'))",
    "({} < 'B')",
    "({} >= 'ab')",
    "startswith({}, 'A')",
)


def is_collated(seed: int) -> bool:
    """Whether the view of a number is of this kind."""
    dice = random.Random(f"collations {seed}")  # noqa: S311 - views, not secrets
    return seed >= FIRST and dice.random() < SHARE


def collated(pen: Pen) -> Query:
    """Write a whole view."""
    return pen.dice.choice(SHAPES)(pen, pen.dice.choice([*IMAGES]))


# -------------------------------------------------------------------------- pieces


def _source(pen: Pen) -> tuple[Relation, Several]:
    """FROM and WHERE, with a string in scope."""
    source, where = from_where(pen, 1)
    if columns_of(source.scope, ["string"]):
        return source, where
    return _facts(pen)


def _facts(pen: Pen) -> tuple[Relation, Several]:
    source = table(pen, "facts")
    return source, conjunction(pen, source.scope, 1)


def _key(pen: Pen, scope: Scope, collation: str) -> Node:
    """A string under a collation, some in other letters than they came in, or with a blank, which it equates."""
    column = pen.dice.choice(columns_of(scope, ["string"])).leaf
    other = "concat({}, ' ')" if collation.endswith("RTRIM") else "upper({})"
    mixed = Form(f"if({{}}, {other}, {{}})", (predicate(pen, scope), column, column), "string")
    given = mixed if pen.chance(0.7) else column
    return Form(f"({{}} COLLATE {collation})", (given,), COLLATED, CONSTRUCT)


def _image(pen: Pen, key: Node, collation: str) -> Node:
    """What is shown of a key, with its collation or without."""
    image = Form(IMAGES[collation], (key,), COLLATED)
    return image if pen.chance(0.3) else Form("({} COLLATE UTF8_BINARY)", (image,), "string")


def _shown(pen: Pen, scope: Scope, most: int = 3) -> list[Column]:
    columns = columns_of(scope, SORTABLE)
    return pen.dice.sample(columns, min(len(columns), pen.dice.randint(1, most)))


def _named(pen: Pen, nodes: Sequence[Node]) -> tuple[Several, Scope]:
    return named(pen, nodes, [""] * len(nodes))


def _over(pen: Pen, inner: Form, collation: str) -> Query:
    """The image of the column `x` of an inner query, beside its column `n`."""
    alias = pen.name("d")
    items, columns = _named(
        pen,
        [_image(pen, Leaf(f"{alias}.x", COLLATED), collation), Leaf(f"{alias}.n", "integer")],
    )
    relation = Form(f"({{}}) AS {alias}", (inner,), RELATION, "inner query")
    return Query(Form("SELECT {} FROM {}", (items, relation), QUERY), columns)


# -------------------------------------------------------------------------- shapes


def groups(pen: Pen, collation: str) -> Query:
    """A key of groups."""
    source, where = _source(pen)
    key = _key(pen, source.scope, collation)
    values = [aggregate(pen, source.scope) for _ in range(pen.dice.randint(1, 2))]
    items, columns = _named(pen, [_image(pen, key, collation), *values])
    parts = (items, source.node, where, Leaf(sql(key), "key"))
    return Query(Form("SELECT {} FROM {}{} GROUP BY {}", parts, QUERY, "group by"), columns)


def values(pen: Pen, collation: str) -> Query:
    """What aggregates count once, or find to be the least."""
    source, where = _source(pen)
    key, columns = _key(pen, source.scope, collation), _shown(pen, source.scope, 1)
    least = Form(pen.dice.choice(["min({})", "max({})"]), (key,), COLLATED)
    calls = [Form("count(DISTINCT {})", (key,), "integer"), _image(pen, least, collation)]
    items, outputs = _named(pen, [*(c.leaf for c in columns), *calls])
    by = Several(tuple(c.leaf for c in columns), before=" GROUP BY ", least=0)
    parts = (items, source.node, where, by)
    return Query(Form("SELECT {} FROM {}{}{}", parts, QUERY, "count distinct"), outputs)


def distinct(pen: Pen, collation: str) -> Query:
    """Rows that are shown once."""
    source, where = _source(pen)
    key, other = _key(pen, source.scope, collation), _shown(pen, source.scope, 1)
    number = next((c.leaf for c in other if c.sort == "integer"), Leaf("1", "integer"))
    parts = (key, number, source.node, where)
    inner = Form("SELECT DISTINCT {} AS x, {} AS n FROM {}{}", parts, QUERY, "distinct")
    return _over(pen, inner, collation)


def sets(pen: Pen, collation: str) -> Query:
    """Sets of strings."""
    source, where = _source(pen)
    key, second = _key(pen, source.scope, collation), table(pen, "loose")
    other = _key(pen, second.scope, collation)
    kind = pen.choice(SETS)
    text = f"(SELECT {{}} AS x, 1 AS n FROM {{}}{{}}) {kind} (SELECT {{}} AS x, 1 AS n FROM {{}})"
    parts = (key, source.node, where, other, second.node)
    return _over(pen, Form(text, parts, QUERY, kind.lower()), collation)


def join(pen: Pen, collation: str) -> Query:
    """A key of a join of any kind."""
    source, where = _facts(pen)
    kind, second = pen.choice(JOINS), table(pen, pen.dice.choice(["dim", "loose"]))
    left = _key(pen, source.scope, collation)
    right = pen.dice.choice(columns_of(second.scope, ["string"])).leaf
    is_half = kind in {"LEFT SEMI JOIN", "LEFT ANTI JOIN"}
    columns = _shown(pen, source.scope) + ([] if is_half else _shown(pen, second.scope))
    items, outputs = named(pen, [c.leaf for c in columns], [c.domain for c in columns])
    parts = (items, source.node, second.node, left, right, where)
    text = f"SELECT {{}} FROM {{}} {kind} {{}} ON {{}} = {{}}{{}}"
    return Query(Form(text, parts, QUERY, kind.lower()), outputs)


def filtered(pen: Pen, collation: str) -> Query:
    """A condition, on a string or on a set of them."""
    source, where = _source(pen)
    key, second = _key(pen, source.scope, collation), table(pen, "loose")
    if pen.chance(0.4):
        item = pen.dice.choice(columns_of(second.scope, ["string"])).leaf
        negation = pen.dice.choice(["", "NOT "])
        text = f"{{}} {negation}IN (SELECT {{}} FROM {{}} WHERE {{}} IS NOT NULL)"
        condition = Form(text, (key, item, second.node, item), "boolean", f"{negation.lower()}in")
    else:
        condition = Form(pen.dice.choice(CONDITIONS), (key,), "boolean", "comparison")
    columns = _shown(pen, source.scope)
    items, outputs = named(pen, [c.leaf for c in columns], [c.domain for c in columns])
    every = Several((*where.children, condition), " AND ", " WHERE ")
    return Query(Form("SELECT {} FROM {}{}", (items, source.node, every), QUERY), outputs)


def first(pen: Pen, collation: str) -> Query:
    """The first rows by a string, and by all that is shown."""
    source, where = _source(pen)
    key, columns = _key(pen, source.scope, collation), _shown(pen, source.scope)
    items, outputs = named(pen, [c.leaf for c in columns], [c.domain for c in columns])
    direction = pen.dice.choice(["", " DESC"])
    order = Leaf(", ".join(c.text for c in columns), "order")
    kept = pen.dice.choice([3, 5, 10, 20])
    text = f"SELECT {{}} FROM {{}}{{}} ORDER BY {{}}{direction}, {{}} LIMIT {kept}"
    parts = (items, source.node, where, key, order)
    return Query(Form(text, parts, QUERY, "top-k"), outputs)


def window(pen: Pen, collation: str) -> Query:
    """What windows are made of, or are in the order of."""
    source, where = _source(pen)
    key, columns = _key(pen, source.scope, collation), _shown(pen, source.scope)
    by = pen.dice.choice(columns).leaf
    call = pen.dice.choice(
        [
            ("count(*) OVER (PARTITION BY {})", (key,)),
            ("rank() OVER (PARTITION BY {} ORDER BY {})", (key, by)),
            ("dense_rank() OVER (PARTITION BY {} ORDER BY {})", (by, key)),
        ]
    )
    shown: list[Node] = [*(c.leaf for c in columns), Form(*call, "integer", "window")]
    items, outputs = _named(pen, shown)
    return Query(Form("SELECT {} FROM {}{}", (items, source.node, where), QUERY), outputs)


SHAPES: Sequence[Callable[[Pen, str], Query]] = (
    groups,
    values,
    distinct,
    sets,
    join,
    filtered,
    first,
    window,
)

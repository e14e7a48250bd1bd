"""Whole queries: selects, groups, windows, set operations, CTEs, and what stands on top."""

from __future__ import annotations

from collections.abc import Sequence

from tests.harness.random_sql.aggregates import aggregate
from tests.harness.random_sql.expressions import (
    GROUPABLE,
    ORDERED,
    SORTABLE,
    Column,
    Pen,
    Scope,
    columns_of,
    conjunction,
    expression,
    predicate,
)
from tests.harness.random_sql.nodes import QUERY, Form, Leaf, Node, Several, sql
from tests.harness.random_sql.outputs import limited, named, tied
from tests.harness.random_sql.pivots import pivot, unpivot
from tests.harness.random_sql.relations import (
    Query,
    Relation,
    derived,
    groupable,
    joined,
    relation,
    table,
)
from tests.harness.random_sql.subqueries import lateral, membership, shown
from tests.harness.random_sql.windows import window_call

SETS = {
    "UNION ALL": 3,
    "UNION": 2,
    "INTERSECT": 1.5,
    "EXCEPT": 1.5,
    "INTERSECT ALL": 1,
    "EXCEPT ALL": 1,
}
SET_DOMAINS = {
    "k": "integer",
    "g": "string",
    "day": "date",
    "small": "integer",
    "price": "decimal",
}


def view(pen: Pen) -> Query:
    """Write a whole view."""
    if pen.chance(0.03):
        return tied(pen)
    query = with_query(pen) if pen.chance(0.08) else body(pen, 2)
    sorts = {column.sort for column in query.columns}
    if sorts <= set(SORTABLE) and pen.chance(0.1):
        return Query(limited(pen, query.node), query.columns)
    if sorts <= set(SORTABLE) and pen.chance(0.06):
        first = pen.dice.choice(list(query.columns))
        node = Form(f"{{}} ORDER BY {first.text}", (query.node,), QUERY, "order by")
        return Query(node, query.columns)
    return query


def view_over(pen: Pen, source: Relation) -> Query:
    """Write a view over another one."""
    where = conjunction(pen, source.scope, 1)
    if pen.chance(0.5):
        return _grouped(pen, source, where)
    if pen.chance(0.4):
        two = joined(pen, source, table(pen, "dim"))
        return _selected(pen, two, conjunction(pen, two.scope, 1))
    return _selected(pen, source, where)


def body(pen: Pen, depth: int) -> Query:
    """Write a query with so many levels of queries inside."""
    shape = pen.choice(
        {"plain": 3, "groups": 4, "window": 1.5, "distinct": 1, "set": 1.5, "pivot": 0.6}
    )
    match shape:
        case "groups":
            return groups(pen, depth)
        case "window":
            return windows(pen, depth)
        case "distinct":
            return distinct(pen, depth)
        case "set":
            return set_operation(pen, depth)
        case "pivot":
            return pivot(pen) if pen.chance(0.7) else unpivot(pen)
        case _:
            return plain(pen, depth)


def inner(pen: Pen, depth: int) -> Query:
    """Write a query to stand in FROM; top-k now and then."""
    query = body(pen, depth)
    sorts = {column.sort for column in query.columns}
    if sorts <= set(SORTABLE) and pen.chance(0.06):
        return Query(limited(pen, query.node), query.columns)
    return query


def from_where(pen: Pen, depth: int) -> tuple[Relation, Several]:
    """Write FROM and WHERE."""
    source = lateral(pen, table(pen)) if pen.chance(0.05) else relation(pen, inner, depth)
    where = conjunction(pen, source.scope, 2)
    if pen.chance(0.15):
        conditions = (*where.children, membership(pen, source.scope))
        where = Several(conditions, " AND ", " WHERE ", least=0)
    return source, where


def plain(pen: Pen, depth: int) -> Query:
    """SELECT … FROM … WHERE …"""
    return _selected(pen, *from_where(pen, depth))


def _selected(pen: Pen, source: Relation, where: Several) -> Query:
    chosen = pen.dice.sample(list(source.scope), min(len(source.scope), pen.dice.randint(1, 4)))
    expressions: list[Node] = [column.leaf for column in chosen]
    domains = [column.domain for column in chosen]
    for _ in range(pen.dice.choice([0, 1, 2])):
        expressions.append(expression(pen, source.scope, pen.dice.choice(ORDERED)))
        domains.append("")
    if pen.chance(0.12):
        expressions.append(shown(pen, source.scope))
        domains.append("")
    items, columns = named(pen, expressions, domains)
    return Query(Form("SELECT {} FROM {}{}", (items, source.node, where), QUERY), columns)


def groups(pen: Pen, depth: int) -> Query:
    """SELECT … GROUP BY …, with ROLLUP and the like, HAVING, and without keys."""
    return _grouped(pen, *from_where(pen, depth))


def _grouped(pen: Pen, source: Relation, where: Several) -> Query:
    keys = _keys(pen, source.scope)
    values = [aggregate(pen, source.scope) for _ in range(pen.dice.randint(1, 3))]
    key_items, key_columns = named(pen, [k.leaf for k in keys], [k.domain for k in keys])
    value_items, value_columns = named(pen, values, [""] * len(values))
    grouping, has_sets = _grouping(pen, [Leaf(c.text, "key") for c in key_columns])
    more = () if not has_sets else (Leaf(f"grouping_id() AS {pen.name('x')}", "item"),)
    items = Several((*key_items.children, *value_items.children, *more))
    conditions = _having(pen, value_columns)
    construct = "having" if conditions else ""
    having = Several(conditions, " AND ", " HAVING ", least=0, construct=construct)
    node = Form("SELECT {} FROM {}{}{}{}", (items, source.node, where, grouping, having), QUERY)
    return Query(node, [*key_columns, *value_columns])


def _keys(pen: Pen, scope: Scope) -> Sequence[Column]:
    candidates = groupable(scope)
    few = [c for c in candidates if c.domain in {"k", "g", "day"}] or candidates
    pool = few if pen.chance(0.75) else candidates
    count = pen.dice.choice([0, 1, 1, 1, 2, 2, 3])
    chosen = pen.dice.sample(pool, min(len(pool), count))
    if chosen and pen.chance(0.2):
        made = expression(pen, scope, pen.dice.choice(["integer", "string", "boolean"]), 1)
        if made.children:
            return [*chosen[1:], Column(sql(made), made.sort)]
    return chosen


def _grouping(pen: Pen, keys: Sequence[Leaf]) -> tuple[Several, bool]:
    """GROUP BY, and whether there are several sets of keys."""
    if len(keys) >= 2 and pen.chance(0.3):
        listed = Several(tuple(keys))
        match pen.dice.choice(["ROLLUP", "CUBE", "GROUPING SETS"]):
            case "GROUPING SETS":
                sets = [*(f"({key.text})" for key in keys), f"({', '.join(k.text for k in keys)})"]
                sets += ["()"] * pen.chance(0.5)
                leaves = tuple(Leaf(text, "set") for text in sets)
                form: Node = Several(leaves, before="GROUPING SETS (", after=")")
                name = "grouping sets"
            case name:
                form, name = Form(f"{name}({{}})", (listed,), "grouping", name.lower()), ""
        return Several((form,), before=" GROUP BY ", construct=name), True
    construct = "group by" if keys else "global aggregate"
    return Several(tuple(keys), before=" GROUP BY ", least=0, construct=construct), False


def _having(pen: Pen, values: Scope) -> tuple[Node, ...]:
    counted = columns_of(values, ["integer", "decimal"])
    if not counted or not pen.chance(0.2):
        return ()
    column = pen.dice.choice(counted)
    condition = pen.dice.choice(["> 0", "> 1", "<> 2", "<= 40"])
    return (Form(f"({{}} {condition})", (column.leaf,), "boolean"),)


def windows(pen: Pen, depth: int) -> Query:
    """SELECT with calls over windows; the columns in scope have an order."""
    base = derived(pen, plain(pen, depth - 1)) if depth > 0 and pen.chance(0.5) else table(pen)
    if not columns_of(base.scope, ORDERED):
        base = table(pen)
    sortable = columns_of(base.scope, SORTABLE)
    complete = len(sortable) == len(base.scope)
    if not complete:
        base, sortable = _only(pen, base, sortable)
    chosen = pen.dice.sample(sortable, min(len(sortable), pen.dice.randint(1, 3)))
    calls = [window_call(pen, sortable)]
    if pen.chance(0.4):
        calls.append(window_call(pen, sortable, alike=True))
    items, columns = named(
        pen, [*(c.leaf for c in chosen), *calls], [*(c.domain for c in chosen), *[""] * len(calls)]
    )
    where = conjunction(pen, sortable, 1)
    return Query(Form("SELECT {} FROM {}{}", (items, base.node, where), QUERY), columns)


def _only(pen: Pen, base: Relation, columns: Sequence[Column]) -> tuple[Relation, list[Column]]:
    """The same relation with some of its columns."""
    items, named_columns = named(pen, [c.leaf for c in columns], [c.domain for c in columns])
    query = Form("SELECT {} FROM {}", (items, base.node), QUERY)
    kept = derived(pen, Query(query, named_columns))
    return kept, list(kept.scope)


def distinct(pen: Pen, depth: int) -> Query:
    """SELECT DISTINCT …"""
    source, where = from_where(pen, depth)
    columns = groupable(source.scope)
    chosen = pen.dice.sample(columns, min(len(columns), pen.dice.choice([1, 2, 2, 3, 4])))
    expressions: list[Node] = [c.leaf for c in chosen] or [Leaf("1", "integer")]
    domains = [c.domain for c in chosen] or [""]
    if pen.chance(0.3):
        expressions.append(expression(pen, source.scope, pen.dice.choice(ORDERED)))
        domains.append("")
    items, outputs = named(pen, expressions, domains)
    node = Form("SELECT DISTINCT {} FROM {}{}", (items, source.node, where), QUERY, "distinct")
    return Query(node, outputs)


def set_operation(pen: Pen, depth: int) -> Query:
    """Two queries of the same sorts, united, intersected or taken from each other."""
    kind = pen.choice(SETS)
    # One column of few values is the same set after nearly every batch.
    sources = [from_where(pen, depth - 1 if pen.chance(0.3) else 0) for _ in range(2)]
    both = [d for d in SET_DOMAINS if all(_has(source.scope, d) for source, _ in sources)]
    wanted = pen.dice.sample(both or ["k"], min(len(both) or 1, pen.dice.choice([1, 2, 2, 3])))
    left, right = (_side(pen, *source, wanted) for source in sources)
    node = Form(f"({{}}) {kind} ({{}})", (left.node, right.node), QUERY, kind.lower())
    return Query(node, left.columns)


def _has(scope: Scope, domain: str) -> bool:
    return any(column.domain == domain for column in scope)


def _side(pen: Pen, source: Relation, where: Several, domains: Sequence[str]) -> Query:
    expressions = [_of_domain(pen, source.scope, domain) for domain in domains]
    items, columns = named(pen, expressions, [""] * len(domains))
    return Query(Form("SELECT {} FROM {}{}", (items, source.node, where), QUERY), columns)


def _of_domain(pen: Pen, scope: Scope, domain: str) -> Node:
    columns = [c for c in scope if c.domain == domain]
    if columns and pen.chance(0.9):
        return pen.dice.choice(columns).leaf
    return expression(pen, scope, SET_DOMAINS[domain], 1)


def with_query(pen: Pen) -> Query:
    """A common table expression that is read once or twice."""
    common = body(pen, 1)
    name = pen.name("c")
    left, right = pen.name("t"), pen.name("t")
    scope = [Column(f"{left}.{c.text}", c.sort, c.domain) for c in common.columns]
    equal = columns_of(common.columns, GROUPABLE)
    if equal and pen.chance(0.6):
        by = pen.dice.choice(equal).text
        scope += [Column(f"{right}.{c.text}", c.sort, c.domain) for c in common.columns]
        kind = pen.dice.choice(["JOIN", "LEFT JOIN", "FULL OUTER JOIN"])
        source = f"{name} AS {left} {kind} {name} AS {right} ON {left}.{by} = {right}.{by}"
    else:
        source = f"{name} AS {left}"
    chosen = pen.dice.sample(scope, min(len(scope), 3))
    items, columns = named(pen, [c.leaf for c in chosen], [c.domain for c in chosen])
    where = Several((predicate(pen, scope),) if pen.chance(0.4) else (), before=" WHERE ", least=0)
    text = f"WITH {name} AS ({{}}) SELECT {{}} FROM {source}{{}}"
    return Query(Form(text, (common.node, items, where), QUERY, "common table expression"), columns)

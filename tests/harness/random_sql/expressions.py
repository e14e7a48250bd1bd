"""Scalar expressions of a wanted sort over the columns in scope."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.harness.random_sql.nodes import Form, Leaf, Node, Several
from tests.harness.random_sql.schema import KNOWN, MEETING, WIDE

ORDERED = ("integer", "decimal", "string", "date", "timestamp", "double", "quotient", "boolean")
NESTED = ("numbers", "texts", "items", "struct")
# Sorts that can be keys of groups, of set operations and of orders that decide something.
GROUPABLE = (*ORDERED, "signed", *NESTED)
SORTABLE = (*ORDERED, *NESTED)


@dataclass(frozen=True, slots=True)
class Column:
    """A column in scope.

    Attributes:
        text: how the text refers to it.
        sort: see `tests.harness.random_sql.schema`.
        domain: of a source's column, see `tests.harness.random_sql.schema`; empty for what is computed.
    """

    text: str
    sort: str
    domain: str = ""

    @property
    def leaf(self) -> Leaf:
        """The reference."""
        return Leaf(self.text, self.sort, is_column=True)


Scope = Sequence[Column]


def meeting(left: Scope, right: Scope) -> list[tuple[Column, Column]]:
    """The pairs of columns on which two relations may be joined."""
    return [(a, b) for a in left for b in right if a.domain in MEETING and a.domain == b.domain]


class Pen:
    """What the writer of one view carries: its dice, and names that are not taken."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311 - views, not secrets
        self._names = 0

    def name(self, prefix: str) -> str:
        """A name that nothing in the view has."""
        self._names += 1
        return f"{prefix}{self._names}"

    def chance(self, share: float) -> bool:
        """Whether something that happens so often happens."""
        return self.dice.random() < share

    def choice(self, weights: Mapping[str, float]) -> str:
        """One of some names, by weight."""
        return self.dice.choices([*weights], [*weights.values()])[0]


# By sort of the result: the text, the sorts of its parts, and what it is called. None fails on any row:
# products stay small, divisors are not zero, and no quotient is -0.0.
FORMS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "integer": (
        ("({} + {})", "integer integer", "arithmetic"),
        ("({} - {})", "integer integer", "arithmetic"),
        ("({} * 2)", "integer", "arithmetic"),
        ("pmod(CAST({} AS BIGINT) * {}, 97)", "integer integer", "arithmetic"),
        ("pmod({}, 3)", "integer", "arithmetic"),
        ("({} div nullif({}, 0))", "integer integer", "arithmetic"),
        ("abs({})", "integer", "arithmetic"),
        ("coalesce({}, {})", "integer integer", "coalesce"),
        ("greatest({}, {})", "integer integer", "greatest"),
        ("nullif({}, {})", "integer integer", "nullif"),
        ("if({}, {}, {})", "boolean integer integer", "case"),
        ("CASE {} WHEN 1 THEN {} WHEN 2 THEN 0 END", "integer integer", "case"),
        ("length({})", "string", "string function"),
        ("instr({}, 'a')", "string", "string function"),
        ("year({})", "date", "date function"),
        ("month({})", "date", "date function"),
        ("datediff({}, {})", "date date", "date function"),
        ("hour({})", "timestamp", "timestamp function"),
        ("CAST({} AS INT)", "boolean", "cast"),
        ("CAST(pmod(floor({}), 7) AS INT)", "decimal", "cast"),
        ("size({})", "numbers", "array function"),
        ("try_element_at({}, 1)", "numbers", "array function"),
        ("aggregate({}, 0L, (a, e) -> a + coalesce(e, 0))", "numbers", "higher-order function"),
        ("try_element_at({}, 'b')", "map", "map function"),
        ("try_element_at({}, 1).qty", "items", "nested field"),
    ),
    "decimal": (
        ("({} + {})", "decimal decimal", "arithmetic"),
        ("({} - {})", "decimal decimal", "arithmetic"),
        ("({} * {})", "decimal decimal", "arithmetic"),
        ("({} / nullif({}, 0))", "decimal decimal", "arithmetic"),
        ("({} * {})", "decimal integer", "arithmetic"),
        ("round({}, 1)", "decimal", "rounding"),
        ("coalesce({}, 0.00)", "decimal", "coalesce"),
        ("CAST({} AS DECIMAL(20,3))", "integer", "cast"),
        ("CASE WHEN {} THEN {} ELSE {} END", "boolean decimal decimal", "case"),
        ("greatest({}, {})", "decimal decimal", "greatest"),
    ),
    "string": (
        ("concat({}, '-', {})", "string string", "string function"),
        ("upper({})", "string", "string function"),
        ("substring({}, 1, 1)", "string", "string function"),
        ("trim({})", "string", "string function"),
        ("lpad({}, 3, '*')", "string", "string function"),
        ("coalesce({}, 'none')", "string", "coalesce"),
        ("CAST({} AS STRING)", "integer", "cast"),
        ("CAST({} AS STRING)", "decimal", "cast"),
        ("CAST({} AS STRING)", "date", "cast"),
        ("date_format({}, 'yyyy-MM')", "timestamp", "timestamp function"),
        ("CASE WHEN {} THEN {} ELSE 'z' END", "boolean string", "case"),
        ("regexp_replace({}, '[ab]', 'x')", "string", "string function"),
        ("array_join({}, '+', '?')", "texts", "array function"),
        ("try_element_at({}, 1).code", "items", "nested field"),
    ),
    "boolean": (
        ("({} > {})", "integer integer", "comparison"),
        ("({} <> {})", "string string", "comparison"),
        ("({} <= {})", "decimal decimal", "comparison"),
        ("({} >= {})", "date date", "comparison"),
        ("({} < {})", "timestamp timestamp", "comparison"),
        ("({} <=> {})", "integer integer", "null-safe equality"),
        ("({} BETWEEN 1 AND 6)", "integer", "between"),
        ("({} IN (0, 1, 3, 4, 7))", "integer", "in list"),
        ("({} NOT IN ('b', ''))", "string", "in list"),
        ("({} LIKE '%a%')", "string", "like"),
        ("({} IS NOT NULL)", "integer", "is null"),
        ("({} IS NULL)", "string", "is null"),
        ("({} OR {})", "boolean boolean", "or"),
        ("({} AND {})", "boolean boolean", "and"),
        ("(NOT {})", "boolean", "not"),
        ("({} IS NOT TRUE)", "boolean", "truth value"),
        ("array_contains({}, 3)", "numbers", "array function"),
        ("exists({}, e -> e > 4)", "numbers", "higher-order function"),
        ("({} > 0.5D)", "double", "comparison"),
        ("({} >= -0.0D)", "signed", "comparison"),
        ("isnan({})", "signed", "not a number"),
    ),
    "date": (
        ("date_add({}, 3)", "date", "date function"),
        ("trunc({}, 'MM')", "date", "date function"),
        ("last_day({})", "date", "date function"),
        ("add_months({}, 1)", "date", "date function"),
        ("CAST({} AS DATE)", "timestamp", "cast"),
        ("coalesce({}, DATE '2026-01-11')", "date", "coalesce"),
    ),
    "timestamp": (
        ("date_trunc('DAY', {})", "timestamp", "timestamp function"),
        ("({} + INTERVAL 1 DAY)", "timestamp", "timestamp function"),
        ("CAST({} AS TIMESTAMP)", "date", "cast"),
        ("coalesce({}, TIMESTAMP '2026-01-02 00:00:00')", "timestamp", "coalesce"),
    ),
    "double": (
        ("({} + {})", "double double", "double arithmetic"),
        ("({} * 0.5D)", "double", "double arithmetic"),
        ("coalesce({}, 0D)", "double", "coalesce"),
        ("CAST({} AS DOUBLE)", "integer", "cast"),
    ),
    "quotient": (
        ("({} / nullif({}, 0D) + 0D)", "double double", "double arithmetic"),
        ("sqrt(abs({}))", "double", "double arithmetic"),
        ("CAST({} AS DOUBLE)", "decimal", "cast"),
    ),
    "numbers": (
        ("transform({}, e -> e * 2)", "numbers", "higher-order function"),
        ("filter({}, e -> e > 2)", "numbers", "higher-order function"),
        ("array_sort({})", "numbers", "array function"),
        ("array({}, {})", "integer integer", "array function"),
        ("concat({}, {})", "numbers numbers", "array function"),
    ),
    "texts": (
        ("array_distinct({})", "texts", "array function"),
        ("array({}, {})", "string string", "array function"),
        ("split({}, 'a')", "string", "string function"),
        ("array_sort(map_keys({}))", "map", "map function"),
    ),
    "struct": (("named_struct('a', {}, 'b', {})", "integer string", "struct"),),
    "map": (("map_filter({}, (n, e) -> e > 3)", "map", "higher-order function"),),
    "items": (("filter({}, e -> e.qty > 2)", "items", "higher-order function"),),
}
LITERALS: Mapping[str, Sequence[str]] = {
    "integer": ("0", "1", "2", "3", "5", "CAST(NULL AS INT)"),
    "decimal": ("0.50", "10.00", "2.125", "-1.5"),
    "string": ("'a'", "'b'", "'c'", "''", "'z'"),
    "boolean": ("true", "true", "(1 = 0)"),
    "date": ("DATE '2026-01-11'", "DATE '2026-02-05'"),
    "timestamp": ("TIMESTAMP '2026-01-04 12:00:00'", "TIMESTAMP '2026-01-08 00:00:00'"),
    "double": ("0.5D", "2D", "-1.25D"),
    "quotient": ("0.5D", "2D"),
    "numbers": ("array(1, 2, 3)",),
    "texts": ("array('a', 'b')",),
    "struct": ("named_struct('a', 1, 'b', 'a')",),
    "map": ("map('a', 1, 'b', 5)",),
    "items": ("array(named_struct('code', 'a', 'qty', 1))",),
    "signed": ("-0.0D", "CAST('Infinity' AS DOUBLE)"),
}


def columns_of(scope: Scope, sorts: Iterable[str]) -> list[Column]:
    """The columns of some sorts."""
    wanted = set(sorts)
    return [column for column in scope if column.sort in wanted]


def expression(pen: Pen, scope: Scope, sort: str, depth: int = 2) -> Node:
    """Write an expression of a sort.

    Args:
        pen: the writer's.
        scope: columns that it may refer to.
        sort: any but ``inexact``, which is made by aggregates alone.
        depth: how many forms may stand inside each other.
    """
    columns = columns_of(scope, [sort])
    forms = FORMS.get(sort, ())
    if columns and (depth <= 0 or not forms or pen.chance(0.6)):
        return pen.dice.choice(columns).leaf
    if depth <= 0 or not forms or (not columns and pen.chance(0.15)):
        return Leaf(pen.dice.choice(LITERALS[sort]), sort)
    template, parts, construct = pen.dice.choice(_sensible(forms, scope))
    children: list[Node] = []
    for part in parts.split():
        child = expression(pen, scope, part, depth - 1)
        # A column beside itself says nothing.
        if children and part in LITERALS and (child == children[0] or pen.chance(0.5)):
            child = Leaf(pen.dice.choice(_beside(scope, children[0], part)), part)
        children.append(child)
    return Form(template, tuple(children), sort, construct)


def _sensible(
    forms: Sequence[tuple[str, str, str]], scope: Scope
) -> Sequence[tuple[str, str, str]]:
    """Forms whose first part has a column to begin with."""
    sorts = {column.sort for column in scope}
    return [form for form in forms if form[1].split()[0] in sorts] or forms


def _beside(scope: Scope, first: Node, sort: str) -> Sequence[str]:
    """Literals to stand beside a first part: values that it has, where that is a known column."""
    domains = [c.domain for c in columns_of(scope, [sort]) if c.leaf == first]
    return [*(KNOWN.get(domains[0], ()) if domains else ()), *LITERALS[sort]]


def predicate(pen: Pen, scope: Scope, *, share: float = 0.4) -> Node:
    """Write a condition that some rows meet and others do not, mostly.

    Args:
        pen: the writer's.
        scope: columns that it may refer to.
        share: of the conditions of any form that stand alone; the others stand beside one that many meet.
    """
    known = [column for column in scope if column.domain in KNOWN]
    if known and pen.chance(0.4):
        return selective(pen, pen.dice.choice(known))
    narrow = expression(pen, scope, "boolean", 2)
    if pen.chance(share / 2):
        return narrow
    if known:
        beside = selective(pen, pen.dice.choice(known))
    else:
        wide = pen.dice.choice(columns_of(scope, GROUPABLE) or [Column("1", "integer")])
        beside = Form("{} IS NOT NULL", (wide.leaf,), "boolean", "is null")
    return Form("({} OR {})", (narrow, beside), "boolean", "or")


def selective(pen: Pen, column: Column) -> Form:
    """Compare a column with values that it has, so that more than half of its rows remain, mostly."""
    known = KNOWN[column.domain]
    half = len(known) // 2
    low, high = pen.dice.choice(known[:half]), pen.dice.choice(known[half:])
    some = ", ".join(pen.dice.sample(known, len(known) - pen.dice.randint(1, 2)))
    few = ", ".join(pen.dice.sample(known, pen.dice.randint(1, 2)))
    ranges = [
        (f"({{}} >= {low})", "comparison"),
        (f"({{}} <= {high})", "comparison"),
        (f"({{}} BETWEEN {low} AND {high})", "between"),
    ]
    lists = [
        (f"({{}} <> {pen.dice.choice(known)})", "comparison"),
        (f"({{}} IN ({some}))", "in list"),
        (f"({{}} NOT IN ({few}))", "in list"),
    ]
    forms = ranges if column.domain in WIDE else ranges + lists
    template, construct = pen.dice.choice(forms)
    return Form(template, (column.leaf,), "boolean", construct)


def conjunction(pen: Pen, scope: Scope, most: int) -> Several:
    """Write a WHERE clause, which may be empty."""
    count = pen.dice.choice([0, 1, 1, most])
    conditions = tuple(predicate(pen, scope) for _ in range(count))
    return Several(conditions, " AND ", " WHERE ", least=0)


def total_order(scope: Scope) -> Leaf:
    """An order in which only rows that are equal tie.

    Raises:
        ValueError: a column has no order.
    """
    unordered = [column.text for column in scope if column.sort not in SORTABLE]
    if unordered:
        raise ValueError(f"no order for {unordered}")
    return Leaf(", ".join(column.text for column in scope), "order")

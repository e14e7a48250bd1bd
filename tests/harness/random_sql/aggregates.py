"""Calls of aggregate functions whose value does not depend on the order of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.harness.random_sql.expressions import (
    Pen,
    Scope,
    columns_of,
    expression,
    predicate,
)
from tests.harness.random_sql.nodes import Form, Leaf, Node, sql


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A form of call.

    Attributes:
        template: its text.
        parts: sorts of its parts.
        sort: of its value; empty for that of the first part.
        weight: how often it is taken.
    """

    template: str
    parts: str
    sort: str
    construct: str
    weight: float = 1.0


COUNT = Aggregate("count(*)", "", "integer", "count", 6)
# Sums of doubles in another order are the same only while they are multiples of a quarter.
AGGREGATES: Sequence[Aggregate] = (
    COUNT,
    Aggregate("count({})", "integer", "integer", "count", 3),
    Aggregate("count({})", "signed", "integer", "count", 0.5),
    Aggregate("sum({})", "integer", "integer", "sum", 5),
    Aggregate("sum({})", "decimal", "decimal", "sum", 5),
    Aggregate("sum({})", "double", "double", "sum of doubles", 2),
    Aggregate("sum({})", "quotient", "inexact", "sum of doubles", 0.5),
    Aggregate("avg({})", "integer", "quotient", "avg", 2),
    Aggregate("avg({})", "decimal", "decimal", "avg", 3),
    Aggregate("avg({})", "double", "quotient", "avg", 1),
    Aggregate("min({})", "integer", "", "min", 2),
    Aggregate("min({})", "decimal", "", "min", 1),
    Aggregate("min({})", "string", "", "min", 2),
    Aggregate("min({})", "date", "", "min", 1),
    Aggregate("min({})", "timestamp", "", "min", 1),
    Aggregate("max({})", "integer", "", "max", 2),
    Aggregate("max({})", "double", "", "max", 1),
    Aggregate("max({})", "string", "", "max", 1),
    Aggregate("max({})", "timestamp", "", "max", 1),
    Aggregate("max({})", "numbers", "", "max", 0.5),
    Aggregate("max({})", "struct", "", "max", 0.5),
    Aggregate("bool_and({})", "boolean", "boolean", "bool_and", 1),
    Aggregate("bool_or({})", "boolean", "boolean", "bool_or", 1),
    Aggregate("count_if({})", "boolean", "integer", "count_if", 1),
    Aggregate("bit_xor({})", "integer", "integer", "bit_xor", 0.5),
    Aggregate("stddev_samp({})", "double", "inexact", "stddev", 0.7),
    Aggregate("var_pop({})", "integer", "inexact", "variance", 0.7),
    Aggregate("stddev({})", "decimal", "inexact", "stddev", 0.5),
    Aggregate("corr({}, {})", "double integer", "inexact", "corr", 0.3),
    Aggregate("covar_samp({}, {})", "integer double", "inexact", "covar", 0.5),
    Aggregate("regr_slope({}, {})", "double integer", "inexact", "regr", 0.5),
    Aggregate("skewness({})", "integer", "inexact", "skewness", 0.3),
    Aggregate("count(DISTINCT {})", "integer", "integer", "count distinct", 2),
    Aggregate("count(DISTINCT {})", "string", "integer", "count distinct", 2),
    Aggregate("count(DISTINCT {}, {})", "integer string", "integer", "count distinct", 0.7),
    Aggregate("sum(DISTINCT {})", "integer", "integer", "sum distinct", 1),
    Aggregate("sum(DISTINCT {})", "decimal", "decimal", "sum distinct", 1),
    Aggregate("avg(DISTINCT {})", "integer", "quotient", "avg distinct", 0.5),
    Aggregate("median({})", "integer", "quotient", "median", 1),
    Aggregate("median({})", "decimal", "quotient", "median", 0.5),
    Aggregate("percentile({}, 0.25D)", "double", "quotient", "percentile", 0.7),
    Aggregate(
        "percentile_disc(0.5) WITHIN GROUP (ORDER BY {})", "integer", "quotient", "percentile", 0.7
    ),
    Aggregate("mode() WITHIN GROUP (ORDER BY {})", "integer", "", "mode", 0.7),
    Aggregate("mode() WITHIN GROUP (ORDER BY {} DESC)", "string", "", "mode", 0.7),
    Aggregate("array_sort(collect_list({}))", "integer", "numbers", "collect_list", 1),
    Aggregate("array_sort(collect_set({}))", "string", "texts", "collect_set", 1),
    Aggregate("array_sort(array_agg({}))", "string", "texts", "collect_list", 0.7),
    Aggregate("approx_count_distinct({})", "string", "integer", "approx_count_distinct", 0.3),
    Aggregate("try_sum({})", "integer", "integer", "try_sum", 0.3),
)


def aggregate(pen: Pen, scope: Scope) -> Node:
    """Write a call of an aggregate function, with a FILTER now and then."""
    if pen.chance(0.06):
        return _of_two(pen, scope)
    sorts = {column.sort for column in scope}
    there = [a for a in AGGREGATES if set(a.parts.split()) <= sorts | {"boolean"}]
    chosen = pen.dice.choices(there, [a.weight for a in there])[0]
    parts = tuple(expression(pen, scope, sort, 1) for sort in chosen.parts.split())
    sort = chosen.sort or parts[0].sort
    call = Form(chosen.template, parts, sort, chosen.construct) if parts else _count()
    if pen.chance(0.12) and not chosen.template.startswith("array_sort"):
        return filtered(pen, scope, call)
    return call


def filtered(pen: Pen, scope: Scope, call: Form) -> Node:
    """Put a FILTER clause behind a call."""
    condition = predicate(pen, scope, share=0.8)
    return Form("{} FILTER (WHERE {})", (call, condition), call.sort, "filter clause")


def _count() -> Form:
    return Form("count(*)", (), COUNT.sort, COUNT.construct)


def _of_two(pen: Pen, scope: Scope) -> Node:
    """A call whose ties are broken by what it gives, so that it is the same in any order."""
    given = expression(pen, scope, pen.dice.choice(["integer", "string"]), 0)
    by = pen.dice.choice(columns_of(scope, ["integer", "string", "date"]) or [None])
    order = Leaf("1", "integer") if by is None else by.leaf
    match pen.dice.choice(["max_by", "min_by", "listagg", "listagg distinct"]):
        case "listagg":
            template = "listagg({}, '|') WITHIN GROUP (ORDER BY {} DESC)"
            return _same_twice(template, given, "listagg")
        case "listagg distinct":
            template = "listagg(DISTINCT {}, '|') WITHIN GROUP (ORDER BY {})"
            return _same_twice(template, given, "listagg distinct")
        case name:
            first, second = (Leaf(sql(part), "part") for part in (given, order))
            template = f"{name}({{}}, struct({{}}, {{}}))"
            return Form(template, (first, second, first), given.sort, name)


def _same_twice(template: str, given: Node, construct: str) -> Node:
    """The order of a list is that of its items: both are shrunk as one, and so not at all."""
    text = Leaf(f"CAST({sql(given)} AS STRING)", "part")
    return Form(template, (text, text), "string", construct)

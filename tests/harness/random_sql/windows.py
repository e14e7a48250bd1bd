"""Calls of window functions, with frames and without, each the same whatever order rows come in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.harness.random_sql.expressions import (
    GROUPABLE,
    ORDERED,
    Pen,
    Scope,
    columns_of,
    expression,
    total_order,
)
from tests.harness.random_sql.nodes import Form, Leaf, Node, Several

# These need an order in which only equal rows tie.
NUMBERING: Sequence[tuple[str, str, str, str]] = (
    ("row_number()", "", "integer", "row_number"),
    ("ntile(3)", "", "integer", "ntile"),
    ("lag({}, 1)", "integer", "integer", "lag"),
    ("lead({}, 2)", "string", "string", "lead"),
    ("first_value({})", "string", "string", "first_value"),
    ("last_value({})", "integer", "integer", "last_value"),
    ("nth_value({}, 2)", "integer", "integer", "nth_value"),
)
# These treat rows that tie alike.
RANKING: Sequence[tuple[str, str, str, str]] = (
    ("rank()", "", "integer", "rank"),
    ("dense_rank()", "", "integer", "dense_rank"),
    ("percent_rank()", "", "quotient", "percent_rank"),
    ("cume_dist()", "", "quotient", "cume_dist"),
)
SUMMING: Sequence[tuple[str, str, str, str]] = (
    ("sum({})", "integer", "integer", "window sum"),
    ("sum({})", "decimal", "decimal", "window sum"),
    ("count(*)", "", "integer", "window count"),
    ("avg({})", "integer", "quotient", "window avg"),
    ("min({})", "decimal", "decimal", "window min"),
    ("max({})", "string", "string", "window max"),
    ("max({})", "date", "date", "window max"),
)
ROWS = (
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
)
RANGES = (
    "RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
)


@dataclass(frozen=True, slots=True)
class _Function:
    """A call before its OVER, without which it is not to stand, and the sort of its value."""

    call: Form
    sort: str


# Calls that treat equal rows alike, and those that tell one of them from another.
ALIKE: Mapping[str, float] = {"ranking": 2, "range": 1.5, "whole": 2}
APART: Mapping[str, float] = {"numbering": 3, "rows": 2}


def window_call(pen: Pen, scope: Scope, *, alike: bool = False) -> Node:
    """Write a call over a window; the scope must have an order.

    Args:
        pen: of the view.
        scope: the columns there are.
        alike: equal rows must get equal values. Of two calls in one SELECT only one may tell equal rows
            apart, as nothing says which value of the first goes with which of the second.
    """
    match pen.choice(ALIKE if alike else {**ALIKE, **APART}):
        case "numbering":
            function = _call(pen, scope, NUMBERING)
            return _over(pen, scope, function, _total(pen, scope), "")
        case "ranking":
            return _over(pen, scope, _call(pen, scope, RANKING), _partial(pen, scope), "")
        case "rows":
            function = _call(pen, scope, SUMMING)
            return _over(pen, scope, function, _total(pen, scope), pen.dice.choice(ROWS))
        case "range" if columns_of(scope, ["integer"]):
            function = _call(pen, scope, SUMMING)
            by = pen.dice.choice(columns_of(scope, ["integer"])).leaf
            return _over(pen, scope, function, by, pen.dice.choice(RANGES))
        case _:
            order = _partial(pen, scope) if pen.chance(0.4) else None
            return _over(pen, scope, _call(pen, scope, SUMMING), order, "")


def _call(pen: Pen, scope: Scope, functions: Sequence[tuple[str, str, str, str]]) -> _Function:
    sorts = {column.sort for column in scope}
    there = [function for function in functions if set(function[1].split()) <= sorts]
    template, part, sort, construct = pen.dice.choice(there or [("count(*)", "", "integer", "")])
    parts = (expression(pen, scope, part, 0),) if part else ()
    return _Function(Form(template, parts, "function", construct), sort)


def _total(pen: Pen, scope: Scope) -> Leaf:
    shuffled = pen.dice.sample(list(scope), len(scope))
    order = total_order(shuffled)
    return Leaf(f"{shuffled[0].text} DESC NULLS LAST, {order.text}", "order")


def _partial(pen: Pen, scope: Scope) -> Node:
    columns = columns_of(scope, ORDERED)
    return pen.dice.choice(columns).leaf


def _over(pen: Pen, scope: Scope, function: _Function, order: Node | None, frame: str) -> Node:
    keys = columns_of(scope, [s for s in GROUPABLE if s not in {"items", "struct"}])
    # What is computed may be the same for all rows, which is no partition at all.
    keys = [key for key in keys if key.domain] or keys
    few = pen.dice.sample(keys, min(len(keys), pen.dice.choice([0, *[1] * 10, *[2] * 4])))
    partition = Several(
        tuple(key.leaf for key in few),
        before="PARTITION BY ",
        least=0,
        construct="partition by" if few else "window without partition",
    )
    ordered = Several(() if order is None else (order,), before=" ORDER BY ", least=1)
    framed = Several((Leaf(frame, "frame"),) if frame else (), before=" ", least=0)
    construct = "window frame" if frame else "window"
    parts = (function.call, partition, ordered, framed)
    return Form("{} OVER ({}{}{})", parts, function.sort, construct)

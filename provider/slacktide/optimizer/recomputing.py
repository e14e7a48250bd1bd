"""The universal method: the keys that a change touched are computed anew (ADR 0004)."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.optimizer.recomputed import INPUT
from slacktide.optimizer.rule import Context, Near
from slacktide.program import operator as o
from slacktide.program.operator import Moment, Operator, Pair


def recompute_delta(rel: r.Aggregate | r.Window | r.Limit, context: Context) -> Operator | None:
    """What the touched keys give now, less what is stored of them."""
    how = context.recomputed(rel)
    if context.delta(how.rows) is None:
        return None
    kept = context.keep(how)
    rows, old = kept.after, context.result(rel)
    if how.keys:
        rows = o.Touched(rows, kept.change, tuple(Pair(key, key) for key, _ in how.keys))
        old = o.Touched(old, kept.change, tuple(Pair(given, key) for key, given in how.keys))
    new = o.Evaluate(how.query, (o.Input(INPUT, rows),))
    return context.keep_result(rel, o.Add((new, o.Negate(old)), rel.columns))


def recompute_at(
    rel: r.Aggregate | r.Window | r.Limit, moment: Moment, context: Context, _near: Near | None
) -> Operator:
    """The stored result, with what this run changed of it."""
    if context.builds_result(rel):
        how = context.recomputed(rel)
        rows = context.keep(how).after
        return context.keep_result(rel, o.Evaluate(how.query, (o.Input(INPUT, rows),)))
    stored = context.result(rel)
    change = context.delta(rel) if moment == "after" else None
    return stored if change is None else o.Add((stored, change), rel.columns)

"""Deltas by the universal method: the keys that a change touched are computed anew (ADR 0004).

Windows and aggregates that do not add up are recomputed by partition and by group; a limit keeps the
first rows of its input.
"""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.optimizer.rule_parts.additive import is_additive
from slacktide.optimizer.rule_parts.recomputed import INPUT
from slacktide.optimizer.rule_parts.rule import Context, DeltaRule, Near
from slacktide.program import operator as o
from slacktide.program.operator import Moment, Operator, Pair


def _delta(rel: r.Aggregate | r.Window | r.Limit, context: Context) -> Operator | None:
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


def _at(
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


RECOMPUTE_TOUCHED_GROUPS = DeltaRule(
    name="recompute_touched_groups",
    node=r.Aggregate,
    identity="Δγ(X) = γ(X'│K) − γ(X)│K, K the groups of ΔX",
    source="ADR 0004: touched keys",
    delta=_delta,
    at=_at,
    where=lambda rel, _: not is_additive(rel),
)
RECOMPUTE_TOUCHED_PARTITIONS = DeltaRule(
    name="recompute_touched_partitions",
    node=r.Window,
    identity="Δω(X) = ω(X'│K) − ω(X)│K, K the partitions of ΔX",
    source="ADR 0004: touched keys",
    delta=_delta,
    at=_at,
)
RECOMPUTE_LIMIT = DeltaRule(
    name="recompute_limit",
    node=r.Limit,
    identity="Δλ(X) = λ(F') − λ(X), F' = first(F + ΔX), or first(X') where that has run dry",
    source="ADR 0004: touched keys, of one group; ADR 0007: first rows",
    delta=_delta,
    at=_at,
)

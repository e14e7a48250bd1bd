"""Delta of an aggregate with additive states: the attribute perspective of Tempura.

The state of a group is a row of sums and counts. What a run adds to it is a segment: the partial
aggregates of the change. The change of the rows is that of the touched groups only.
"""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Assignment, reference
from slacktide.optimizer.rule_parts.additive import is_additive
from slacktide.optimizer.rule_parts.rule import Context, DeltaRule, Near
from slacktide.optimizer.rule_parts.states import AggregateState, finished, summarised
from slacktide.program import operator as o
from slacktide.program.operator import Moment, Operator, Pair


def _aggregate_delta(rel: r.Aggregate, context: Context) -> Operator | None:
    change = context.delta(rel.child)
    if change is None:
        return None
    state = context.state(rel)
    segment = _saved(rel, state, change, context)
    old: Operator = o.ReadState(state.chain, state.columns)
    if state.keys:
        same = tuple(Pair(reference(key), reference(key)) for key in state.keys)
        old = o.Touched(old, segment, same)
    new = o.Add((old, segment), state.columns)
    return o.Consolidate(
        o.Add(
            (
                finished(rel, state, o.Combine(new, state.keys)),
                o.Negate(finished(rel, state, o.Combine(old, state.keys))),
            ),
            rel.columns,
        )
    )


def _aggregate_at(
    rel: r.Aggregate, moment: Moment, context: Context, near: Near | None
) -> Operator:
    state = context.state(rel)
    if context.builds(state.chain):
        base = _saved(rel, state, context.at(rel.child, "after"), context)
        return finished(rel, state, o.Combine(base, state.keys))
    rows: Operator = o.ReadState(state.chain, state.columns)
    change = context.delta(rel.child) if moment == "after" else None
    if change is not None:
        rows = o.Add((rows, _saved(rel, state, change, context)), state.columns)
    wanted = near and near.over(tuple(key.column for key in rel.keys))
    if wanted:
        values = [
            Assignment(key.column, reference(column))
            for key, column in zip(rel.keys, state.keys, strict=True)
        ]
        rows = o.Touched(rows, wanted.by, wanted.through(values).pairs)
    return finished(rel, state, o.Combine(rows, state.keys))


def _saved(rel: r.Aggregate, state: AggregateState, bag: Operator, context: Context) -> o.ReadSaved:
    context.save(rel, state.chain, summarised(rel, state, bag))
    return o.ReadSaved(state.chain, state.columns, is_bag=False)


MAINTAIN_AGGREGATE = DeltaRule(
    name="maintain_aggregate",
    node=r.Aggregate,
    identity="Δγ(X) = Final(S + γ(ΔX))│K − Final(S)│K, K the groups of ΔX",
    source="Tempura: the attribute perspective",
    delta=_aggregate_delta,
    at=_aggregate_at,
    where=lambda rel, _: is_additive(rel),
)

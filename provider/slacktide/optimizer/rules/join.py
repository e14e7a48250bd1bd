"""Delta of the inner join, in the sequential form (`tempura.md` G-5 (b))."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.optimizer.rule import Context, DeltaRule, add
from slacktide.program import operator as o
from slacktide.program.operator import Moment, Operator


def _join_delta(rel: r.Join, context: Context) -> Operator | None:
    left, right = context.delta(rel.left), context.delta(rel.right)
    terms: list[Operator] = []
    if left is not None:
        terms.append(o.JoinBags(left, context.at(rel.right, "after"), rel.condition))
    if right is not None:
        terms.append(o.JoinBags(context.at(rel.left, "before"), right, rel.condition))
    return add(terms, rel.columns)


def _join_at(rel: r.Join, moment: Moment, context: Context) -> Operator:
    return o.JoinBags(context.at(rel.left, moment), context.at(rel.right, moment), rel.condition)


SPLIT_DELTA_OF_JOIN = DeltaRule(
    name="split_delta_of_join",
    node=r.Join,
    identity="Δ(L ⋈ R) = ΔL ⋈ R' + L ⋈ ΔR",
    source="Tempura, G-5 (b)",
    delta=_join_delta,
    at=_join_at,
)

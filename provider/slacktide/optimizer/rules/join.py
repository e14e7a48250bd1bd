"""Deltas of inner joins, and of those that are sums of an inner and an anti join (ADR 0004, decision 1).

An inner join is bilinear. Outer joins add the rows that meet none, padded with NULL; existence joins
mark which rows meet one.
"""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.types import BOOLEAN
from slacktide.optimizer.rule_parts.delta_join import joined_with
from slacktide.optimizer.rule_parts.distinct_keys import keep_distinct_keys
from slacktide.optimizer.rule_parts.padding import padded
from slacktide.optimizer.rule_parts.rule import Context, DeltaRule, Near, Terms, add, terms_of
from slacktide.program import operator as o
from slacktide.program.operator import INPUTS, Moment, Operator


def _inner_delta(rel: r.Join, context: Context) -> Operator | None:
    """ΔL ⋈ R' + L ⋈ ΔR: each side's change meets the new version of the one, the old of the other."""
    left, right = context.delta(rel.left), context.delta(rel.right)
    terms: Terms = []
    if left is not None:
        terms.append(joined_with(rel, rel.left, left, "after", context))
    if right is not None:
        terms.append(joined_with(rel, rel.right, right, "before", context))
    return add(terms, rel.columns)


def _inner_at(rel: r.Join, moment: Moment, context: Context, near: Near | None) -> Operator:
    left = context.at(rel.left, moment, near and near.over(rel.left.columns))
    right = context.at(rel.right, moment, near and near.over(rel.right.columns))
    return o.JoinBags(left, right, rel.condition)


def _outer_delta(rel: r.Join, context: Context) -> Operator | None:
    inner = context.delta(r.Join(rel.left, rel.right, "inner", rel.condition))
    lonely: Terms = []
    for side in _tested(rel):
        anti = r.Join(side.left, side.right, "anti", side.condition)
        lonely += terms_of(context.delta(anti))
    return add(terms_of(inner) + [padded(term, rel.columns) for term in lonely], rel.columns)


def _existence_delta(rel: r.Join, context: Context) -> Operator | None:
    semi = r.Join(rel.left, rel.right, "semi", rel.condition)
    anti = r.Join(rel.left, rel.right, "anti", rel.condition)
    met = _marked(rel, terms_of(context.delta(semi)), "true")
    return add(met + _marked(rel, terms_of(context.delta(anti)), "false"), rel.columns)


def _tested(rel: r.Join) -> list[r.Join]:
    """The semi joins that say which rows of a join meet none: of the left side, of the right one."""
    left = r.Join(rel.left, rel.right, "semi", rel.condition)
    right = r.Join(rel.right, rel.left, "semi", rel.condition)
    return {"right": [right], "full": [left, right]}.get(rel.kind, [left])


def _marked(rel: r.Join, terms: Terms, value: str) -> Terms:
    """Rows of the left side with the marker of an existence join."""
    kept = tuple(s.identity(column) for column in rel.left.columns)
    mark = s.Assignment(rel.columns[-1], s.Literal(value, BOOLEAN, nullable=False))
    return [o.Map(term, (*kept, mark)) for term in terms]


def _evaluated_at(rel: r.Join, moment: Moment, context: Context, near: Near | None) -> Operator:
    for side in _tested(rel) if context.rebuilds else ():
        keep_distinct_keys(side, context)
    near_left, near_right = _near_sides(rel, near)
    left = context.at(rel.left, moment, near_left)
    right = context.at(rel.right, moment, near_right)
    sides = tuple(
        r.Scan(name, o.by_id(side.columns))
        for name, side in zip(INPUTS, (rel.left, rel.right), strict=True)
    )
    query = r.Join(sides[0], sides[1], rel.kind, rel.condition, rel.marker)
    return o.Evaluate(query, (o.Input(INPUTS[0], left), o.Input(INPUTS[1], right)))


def _near_sides(rel: r.Join, near: Near | None) -> tuple[Near | None, Near | None]:
    """What is asked of each side: all of a side whose lack of a row gives one padded with NULL."""
    if near is None:
        return None, None
    left = None if rel.kind in {"right", "full"} else near.over(rel.left.columns)
    right = None if rel.kind in {"left", "full", "existence"} else near.over(rel.right.columns)
    return left, right


SPLIT_DELTA_OF_JOIN = DeltaRule(
    name="split_delta_of_join",
    node=r.Join,
    identity="Δ(L ⋈ R) = ΔL ⋈ R' + L ⋈ ΔR",
    source="Tempura: inner joins",
    delta=_inner_delta,
    at=_inner_at,
    where=lambda rel, _: rel.kind == "inner",
)
PAD_LONELY_ROWS = DeltaRule(
    name="pad_lonely_rows",
    node=r.Join,
    identity="Δ(L ⟕ R) = Δ(L ⋈ R) + pad(Δ(L ▷ R))",
    source="ADR 0004: outer joins",
    delta=_outer_delta,
    at=_evaluated_at,
    where=lambda rel, _: rel.kind in {"left", "right", "full"},
)
MARK_MET_ROWS = DeltaRule(
    name="mark_met_rows",
    node=r.Join,
    identity="Δ(L ⋉e R) = mark(Δ(L ⋉ R), true) + mark(Δ(L ▷ R), false)",
    source="ADR 0004: existence joins",
    delta=_existence_delta,
    at=_evaluated_at,
    where=lambda rel, _: rel.kind == "existence",
)

"""Deltas of semi and anti joins: which rows of one side meet another (ADR 0004, decisions 1 and 2).

The question whether a row meets another is not linear. Where rows meet by equal keys alone, the
distinct keys of the right side are a state, and the semi join is an inner join with it; where they
meet by keys and more, the rows with keys that a change has are tested before and after; where by no
keys, the rows that the change meets are.
"""

from __future__ import annotations

from collections.abc import Sequence

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import Condition, parts_of
from slacktide.optimizer.rule_parts.delta_join import joined_with
from slacktide.optimizer.rule_parts.distinct_keys import by_distinct_keys, keys_of_side
from slacktide.optimizer.rule_parts.rule import Context, DeltaRule, Near, Terms, add, bounded_by
from slacktide.program import operator as o
from slacktide.program.operator import Moment, Operator, Pair


def _delta(rel: r.Join, context: Context) -> Operator | None:
    terms = _semi(rel, context) if rel.kind == "semi" else _anti(rel, context)
    return add(terms, rel.columns)


def _anti(rel: r.Join, context: Context) -> Terms:
    """The change of L ▷ R."""
    parts = parts_of(rel)
    if parts.equalities and not parts.both:
        return _unmet(rel, parts, context)
    return _tested_again(rel, parts, context, negated=True)


def _unmet(rel: r.Join, parts: Condition, context: Context) -> Terms:
    """ΔL ▷ K' − L ⋈ ΔK, K the distinct keys of R; or ΔL − Δ(L ⋈ K).

    Of the latter a row that comes and meets one is three rows in the change of an outer join, which has the pairs
    besides: seven such joins one over the other make two thousand of it before they are added up. But it reads K beside ΔL,
    while Spark moves all of K for the former where nothing small tells which part of it ΔL asks for: so it is
    taken there, unless it would be multiplied.
    """
    left = context.delta(rel.left)
    keys, condition = keys_of_side(rel, parts, context)
    joined = r.Join(rel.left, keys, "inner", condition)
    kept = tuple(s.identity(column) for column in rel.left.columns)
    terms: Terms = []
    met: Terms = []
    if left is not None:
        pairs = [(equal.right, equal.left) for equal in parts_of(joined).equalities]
        near = _bounded(left, pairs)
        if near is None and not _multiplies(rel.left):
            terms.append(left)
            met.append(joined_with(joined, rel.left, left, "after", context))
        else:
            there = context.at(keys, "after", near)
            terms.append(o.SemiBags(left, there, condition, negated=True))
    came = context.delta(keys)
    if came is not None:
        met.append(joined_with(joined, keys, came, "before", context))
    return [*terms, *(o.Negate(o.Map(found, kept)) for found in met)]


def _multiplies(rel: r.Rel) -> bool:
    """Whether a relation stands on a join of which a row that comes may be several rows of the change: more of them would multiply."""
    stack = [rel]
    while stack:
        match stack.pop():
            case r.Join(kind="inner" | "semi", left=left, right=right):
                stack += [left, right]
            case r.Join():
                return True
            case r.Filter(child=child) | r.Project(child=child):
                stack.append(child)
            case _:
                pass
    return False


def _semi(rel: r.Join, context: Context) -> Terms:
    """The change of L ⋉ R, with the columns of L."""
    parts = parts_of(rel)
    if context.delta(rel.left) is None and context.delta(rel.right) is None:
        return []
    if parts.equalities and not parts.both:
        change = context.delta(by_distinct_keys(rel, parts, context))
        return [] if change is None else [change]
    return _tested_again(rel, parts, context, negated=False)


def _tested_again(rel: r.Join, parts: Condition, context: Context, *, negated: bool) -> Terms:
    """The change where rows do not meet by keys alone: those with a key of a change, or that a change may meet, are tested."""
    if parts.equalities and context.delta(rel.right) is not None:
        return _recomputed(rel, parts, context, negated=negated)
    return _met(rel, context, negated=negated)


def _recomputed(rel: r.Join, parts: Condition, context: Context, *, negated: bool) -> Terms:
    """(L'│K ⋉ R'│K) − (L│K ⋉ R│K), K the keys that some row of ΔL or ΔR has; or with ▷ for ⋉.

    Where L is such a join itself, the rows of both moments are tested once for all: the change of L
    is not needed, only its keys are.
    """
    lefts = tuple(equal.left for equal in parts.equalities)
    rights = tuple(equal.right for equal in parts.equalities)
    keys = _changed_keys(
        [(context.delta(rel.left), lefts), (context.delta(rel.right), rights)], context
    )
    own = tuple(map(s.reference, keys.columns))
    near_left = Near(keys, tuple(map(Pair, lefts, own)))
    near_right = Near(keys, tuple(map(Pair, rights, own)))

    def tested(moment: Moment) -> Operator:
        left = near_left.only(context.at(rel.left, moment, near_left))
        right = near_right.only(context.at(rel.right, moment, near_right))
        return o.SemiBags(left, right, rel.condition, negated=negated)

    return [tested("after"), o.Negate(tested("before"))]


def _changed_keys(
    sides: Sequence[tuple[Operator | None, tuple[s.Scalar, ...]]], context: Context
) -> Operator:
    """The keys that occur in the changes of the two sides of a join."""
    found: Terms = []
    for change, keys in sides:
        if change is None:
            continue
        near = _keys_of(change, list(zip(keys, keys, strict=True)))
        named = (context.fresh("key", key.type) for key in keys)
        outputs = map(s.Assignment, named, (pair.other for pair in near.pairs))
        found.append(o.Map(near.by, tuple(outputs)))
    return found[0] if len(found) == 1 else o.Add(tuple(found), found[0].columns)


def _met(rel: r.Join, context: Context, *, negated: bool) -> Terms:
    """ΔL ⋉ R' + (M ⋉ R' − M ⋉ R), M the rows of L that some row of ΔR may meet; or ΔL ▷ R' less that."""
    left, right = context.delta(rel.left), context.delta(rel.right)
    terms: Terms = []
    if left is not None:
        across = [(equal.right, equal.left) for equal in parts_of(rel).equalities]
        near = _keys_of(left, across) if across else None
        rows = context.at(rel.right, "after", near)
        there = near.only(rows) if near else rows
        terms.append(o.SemiBags(left, there, rel.condition, negated=negated))
    if right is not None:
        rows = o.SemiBags(context.at(rel.left, "before"), right, rel.condition, negated=False)
        old, new = context.at(rel.right, "before"), context.at(rel.right, "after")
        flips = o.Flips(rows, old, new, rel.condition)
        terms.append(o.Negate(flips) if negated else flips)
    return terms


def _delta_without_states(rel: r.Join, context: Context) -> Operator | None:
    """The change of a semi or anti join from the rows of its sides alone."""
    return add(_met(rel, context, negated=rel.kind == "anti"), rel.columns)


def _keys_of(change: Operator, pairs: Sequence[tuple[s.Scalar, s.Scalar]]) -> Near:
    """A bag that has the keys of a change: the small one that they stem from, or the change."""
    return _bounded(change, pairs) or Near(change, tuple(Pair(*pair) for pair in pairs))


def _bounded(change: Operator, pairs: Sequence[tuple[s.Scalar, s.Scalar]]) -> Near | None:
    """The small bag that the keys of a change stem from; None where there is none, or it is a state."""
    near = bounded_by(change, pairs)
    return None if near is None or near.by.is_state else near


def _at(rel: r.Join, moment: Moment, context: Context, near: Near | None) -> Operator:
    left = context.at(rel.left, moment, near and near.over(rel.left.columns))
    right, condition = _tested(rel, moment, context, near)
    return o.SemiBags(left, right, condition, negated=rel.kind == "anti")


def _tested(
    rel: r.Join, moment: Moment, context: Context, near: Near | None
) -> tuple[Operator, s.Scalar | None]:
    """What the rows of L are tested against: a state where one is kept, and the condition."""
    parts = parts_of(rel)
    if parts.equalities and not parts.both:
        keys, condition = keys_of_side(rel, parts, context)
        return context.at(keys, moment), condition
    across = near and near.across({equal.left: equal.right for equal in parts.equalities})
    rows = context.at(rel.right, moment, across)
    return across.only(rows) if across else rows, rel.condition


RETEST_TOUCHED_ROWS = DeltaRule(
    name="retest_touched_rows",
    node=r.Join,
    identity="L ⋉ R = L ⋈ δk(R), Δ(L ▷ R) = ΔL ▷ δk(R)' − L ⋈ Δδk(R) or ΔL − Δ(L ⋈ δk(R)), or Δ(L ⋉ R) = L'│K ⋉ R'│K − L│K ⋉ R│K",
    source="ADR 0004: semi and anti joins",
    delta=_delta,
    at=_at,
    where=lambda rel, _: rel.kind in {"semi", "anti"},
    alternatives=(_delta_without_states,),
)

"""Deltas of joins (ADR 0004, decisions 1 and 2).

An inner join is bilinear. Of every other kind only the question whether a row meets another is not
linear: outer, anti and existence joins are sums of an inner and a semi join. Where rows meet by
equal keys alone, the distinct keys of the right side are a state, and the semi join is an inner join
with it; where they meet by keys and more, the rows with keys that a change has are tested before and
after; where by no keys, the rows that the change meets are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import Condition, conjunction, take_apart
from slacktide.algebra.literals import null_sql
from slacktide.algebra.types import BOOLEAN
from slacktide.optimizer.referenced import referenced
from slacktide.optimizer.rule import Context, DeltaRule, Near, add, bounded_by
from slacktide.program import operator as o
from slacktide.program.operator import INPUTS, Moment, Operator, Pair

Terms = list[Operator]
Way = Callable[[r.Join, Context], Terms]


def _join_delta(rel: r.Join, context: Context) -> Operator | None:
    """The change of a join, by its kind."""
    return _by_kind(rel, context, _semi, _anti)


def _delta_without_states(rel: r.Join, context: Context) -> Operator | None:
    """The change of a join from the rows of its sides alone."""
    return _by_kind(rel, context, _met, _lonely)


def _by_kind(rel: r.Join, context: Context, semi: Way, anti: Way) -> Operator | None:
    flipped = r.Join(rel.right, rel.left, "semi", rel.condition)
    match rel.kind:
        case "inner":
            return add(_inner(rel, context), rel.columns)
        case "semi":
            return add(semi(rel, context), rel.columns)
        case "anti":
            return add(anti(rel, context), rel.columns)
        case "existence":
            met = _marked(rel, semi(rel, context), "true")
            return add(met + _marked(rel, anti(rel, context), "false"), rel.columns)
        case "left":
            return add(_inner(rel, context) + _padded(rel, anti(rel, context)), rel.columns)
        case "right":
            return add(_inner(rel, context) + _padded(rel, anti(flipped, context)), rel.columns)
        case "full":
            lonely = anti(rel, context) + anti(flipped, context)
            return add(_inner(rel, context) + _padded(rel, lonely), rel.columns)


def _inner(rel: r.Join, context: Context) -> Terms:
    """ΔL ⋈ R' + L ⋈ ΔR: each side's change meets the new version of the one, the old of the other."""
    by = context.referring(rel)
    if by is not None:
        return referenced(rel, by, context)
    left, right = context.delta(rel.left), context.delta(rel.right)
    equalities = _parts(rel).equalities
    terms: Terms = []
    if left is not None:
        wanted = bounded_by(left, [(equal.right, equal.left) for equal in equalities])
        rows = context.at(rel.right, "after", wanted)
        terms.append(o.JoinBags(left, rows, rel.condition))
    if right is not None:
        wanted = bounded_by(right, [(equal.left, equal.right) for equal in equalities])
        rows = context.at(rel.left, "before", wanted)
        terms.append(o.JoinBags(rows, right, rel.condition))
    return terms


def _anti(rel: r.Join, context: Context) -> Terms:
    """The change of L ▷ R, which is L less L ⋉ R."""
    left, right = context.delta(rel.left), context.delta(rel.right)
    parts = _parts(rel)
    if left is not None and right is not None and parts.equalities and parts.both:
        return _recomputed(rel, parts, context, negated=True)
    lost: Terms = [o.Negate(term) for term in _semi(rel, context)]
    return lost if left is None else [left, *lost]


def _semi(rel: r.Join, context: Context) -> Terms:
    """The change of L ⋉ R, with the columns of L."""
    parts = _parts(rel)
    left, right = context.delta(rel.left), context.delta(rel.right)
    if left is None and right is None:
        return []
    if parts.equalities and not parts.both:
        change = context.delta(by_distinct_keys(rel, parts, context))
        return [] if change is None else [change]
    if parts.equalities and right is not None:
        return _recomputed(rel, parts, context, negated=False)
    return _met(rel, context)


def by_distinct_keys(rel: r.Join, parts: Condition, context: Context) -> r.Rel:
    """L ⋉ R as an inner join with the distinct keys of R, where rows meet by these alone."""
    keys, condition = _keys(rel, parts, context)
    joined = r.Join(rel.left, keys, "inner", condition)
    return r.Project(joined, tuple(s.identity(column) for column in rel.left.columns))


def _keys(rel: r.Join, parts: Condition, context: Context) -> tuple[r.Rel, s.Scalar | None]:
    """The distinct keys of R, and the condition under which a row of L meets one of them."""
    right = rel.right
    own = conjunction(parts.right)
    met = right if own is None else r.Filter(right, own)
    keys = context.distinct(met, tuple(equal.right for equal in parts.equalities))
    tests: list[s.Scalar] = [
        s.Call(
            equal.operator,
            (equal.left, s.reference(key.column)),
            BOOLEAN,
            equal.operator == "=" and (equal.left.nullable or key.column.nullable),
        )
        for equal, key in zip(parts.equalities, keys.keys, strict=True)
    ]
    return keys, conjunction([*tests, *parts.left])


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


def _met(rel: r.Join, context: Context) -> Terms:
    """ΔL ⋉ R' + (M ⋉ R' − M ⋉ R), M the rows of L that some row of ΔR may meet."""
    left, right = context.delta(rel.left), context.delta(rel.right)
    terms: Terms = []
    if left is not None:
        across = [(equal.right, equal.left) for equal in _parts(rel).equalities]
        near = _keys_of(left, across) if across else None
        rows = context.at(rel.right, "after", near)
        terms.append(
            o.SemiBags(left, near.only(rows) if near else rows, rel.condition, negated=False)
        )
    if right is not None:
        rows = o.SemiBags(context.at(rel.left, "before"), right, rel.condition, negated=False)
        old, new = context.at(rel.right, "before"), context.at(rel.right, "after")
        terms.append(o.Flips(rows, old, new, rel.condition))
    return terms


def _lonely(rel: r.Join, context: Context) -> Terms:
    """The change of L ▷ R from the rows of both sides alone."""
    left = context.delta(rel.left)
    lost: Terms = [o.Negate(term) for term in _met(rel, context)]
    return lost if left is None else [left, *lost]


def _keys_of(change: Operator, pairs: Sequence[tuple[s.Scalar, s.Scalar]]) -> Near:
    """A bag that has the keys of a change: the small one that they stem from, or the change."""
    near = bounded_by(change, pairs)
    if near is not None and not near.by.is_state:
        return near
    return Near(change, tuple(Pair(*pair) for pair in pairs))


def _padded(rel: r.Join, terms: Terms) -> Terms:
    """Rows of one side as rows of the join, with NULL for the columns of the other."""
    padded: Terms = []
    for term in terms:
        there = {column.id: column for column in term.columns}
        outputs = tuple(
            s.Assignment(
                column,
                s.reference(there[column.id])
                if column.id in there
                else s.Literal(null_sql(column.type), column.type, nullable=True),
            )
            for column in rel.columns
        )
        padded.append(o.Map(term, outputs))
    return padded


def _marked(rel: r.Join, terms: Terms, value: str) -> Terms:
    """Rows of the left side with the marker of an existence join."""
    kept = tuple(s.identity(column) for column in rel.left.columns)
    mark = s.Assignment(rel.columns[-1], s.Literal(value, BOOLEAN, nullable=False))
    return [o.Map(term, (*kept, mark)) for term in terms]


def _parts(rel: r.Join) -> Condition:
    return take_apart(rel.condition, rel.left.columns, rel.right.columns)


def _join_at(rel: r.Join, moment: Moment, context: Context, near: Near | None) -> Operator:
    if context.rebuilds:
        _keep_keys(rel, context)
    near_left, near_right = _near_sides(rel, near)
    left = context.at(rel.left, moment, near_left)
    if rel.kind in {"semi", "anti"}:
        right, condition = _tested(rel, moment, context, near)
        return o.SemiBags(left, right, condition, negated=rel.kind == "anti")
    right = context.at(rel.right, moment, near_right)
    if rel.kind == "inner":
        return o.JoinBags(left, right, rel.condition)
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


def _tested(
    rel: r.Join, moment: Moment, context: Context, near: Near | None
) -> tuple[Operator, s.Scalar | None]:
    """What the rows of L are tested against: a state where one is kept, and the condition."""
    parts = _parts(rel)
    if parts.equalities and not parts.both:
        keys, condition = _keys(rel, parts, context)
        return context.at(keys, moment), condition
    across = near and near.across({equal.left: equal.right for equal in parts.equalities})
    rows = context.at(rel.right, moment, across)
    return across.only(rows) if across else rows, rel.condition


def _keep_keys(rel: r.Join, context: Context) -> None:
    """Have the states built that the next changes of the join will read."""
    tested = {
        "inner": [],
        "semi": [],
        "anti": [],
        "right": [r.Join(rel.right, rel.left, "semi", rel.condition)],
        "full": [rel, r.Join(rel.right, rel.left, "semi", rel.condition)],
    }.get(rel.kind, [rel])
    for join in tested:
        parts = _parts(join)
        if parts.equalities and not parts.both:
            context.at(by_distinct_keys(join, parts, context), "after")


SPLIT_DELTA_OF_JOIN = DeltaRule(
    name="split_delta_of_join",
    node=r.Join,
    identity="Δ(L ⋈ R) = ΔL ⋈ R' + L ⋈ ΔR, along a reference ΔL ⋈ (R' + R⁻) + L ⋈ ΔR⁼;"
    "  L ▷ R = L − L ⋉ R;  L ⟕ R = L ⋈ R + pad(L ▷ R)",
    source="Tempura: inner joins; ADR 0004: the other kinds; ADR 0006: references",
    delta=_join_delta,
    at=_join_at,
    alternatives=(_delta_without_states,),
)

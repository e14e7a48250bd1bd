"""Deltas of joins (ADR 0004, decisions 1 and 2).

An inner join is bilinear. Of every other kind only the question whether a row meets another is not
linear: outer, anti and existence joins are sums of an inner and a semi join. Where rows meet by
equal keys alone, the distinct keys of the right side are a state, and the semi join is an inner join
with it; else the rows that a change can have met are tested before and after.
"""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import Condition, conjunction, take_apart
from slacktide.algebra.literals import null_sql
from slacktide.algebra.types import BOOLEAN
from slacktide.optimizer.rule import Context, DeltaRule, Near, add, bounded_by
from slacktide.program import operator as o
from slacktide.program.operator import INPUTS, Moment, Operator, Pair

Terms = list[Operator]


def _join_delta(rel: r.Join, context: Context) -> Operator | None:
    """The change of a join, by its kind."""
    flipped = r.Join(rel.right, rel.left, "semi", rel.condition)
    match rel.kind:
        case "inner":
            return add(_inner(rel, context), rel.columns)
        case "semi":
            return add(_semi(rel, context), rel.columns)
        case "anti":
            return add(_anti(rel, context), rel.columns)
        case "existence":
            met = _marked(rel, _semi(rel, context), "true")
            return add(met + _marked(rel, _anti(rel, context), "false"), rel.columns)
        case "left":
            return add(_inner(rel, context) + _padded(rel, _anti(rel, context)), rel.columns)
        case "right":
            return add(_inner(rel, context) + _padded(rel, _anti(flipped, context)), rel.columns)
        case "full":
            lonely = _anti(rel, context) + _anti(flipped, context)
            return add(_inner(rel, context) + _padded(rel, lonely), rel.columns)


def _inner(rel: r.Join, context: Context) -> Terms:
    """ΔL ⋈ R' + L ⋈ ΔR: each side's change meets the new version of the one, the old of the other."""
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
    left = context.delta(rel.left)
    lost: Terms = [o.Negate(term) for term in _semi(rel, context)]
    return lost if left is None else [left, *lost]


def _semi(rel: r.Join, context: Context) -> Terms:
    """The change of L ⋉ R, with the columns of L."""
    parts = _parts(rel)
    if context.delta(rel.left) is None and context.delta(rel.right) is None:
        return []
    if parts.equalities and not parts.both:
        change = context.delta(by_distinct_keys(rel, parts, context))
        return [] if change is None else [change]
    return _met(rel, parts, context)


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


def _met(rel: r.Join, parts: Condition, context: Context) -> Terms:
    """ΔL ⋉ R' + (M ⋉ R' − M ⋉ R), M the rows of L that some row of ΔR may meet."""
    left, right = context.delta(rel.left), context.delta(rel.right)
    terms: Terms = []
    if left is not None:
        keys = tuple(Pair(equal.right, equal.left) for equal in parts.equalities)
        rows = context.at(rel.right, "after")
        rows = _touched(rows, left, keys)
        terms.append(o.SemiBags(left, rows, rel.condition, negated=False))
    if right is not None:
        across = tuple(Pair(equal.left, equal.right) for equal in parts.equalities)
        along = tuple(Pair(equal.right, equal.right) for equal in parts.equalities)
        wanted = bounded_by(right, [(equal.left, equal.right) for equal in parts.equalities])
        before = _touched(context.at(rel.left, "before", wanted), right, across)
        if not across:
            before = o.SemiBags(before, right, rel.condition, negated=False)
        new = _touched(context.at(rel.right, "after"), right, along)
        old = _touched(context.at(rel.right, "before"), right, along)
        terms.append(o.Flips(before, old, new, rel.condition))
    return terms


def _touched(rows: Operator, by: Operator, keys: tuple[Pair, ...]) -> Operator:
    if not keys:
        return rows
    near = bounded_by(by, [(pair.own, pair.other) for pair in keys]) or Near(by, keys)
    return o.Touched(rows, near.by, near.pairs)


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
    left = context.at(rel.left, moment, near and near.over(rel.left.columns))
    if rel.kind in {"semi", "anti"}:
        right, condition = _tested(rel, moment, context)
        return o.SemiBags(left, right, condition, negated=rel.kind == "anti")
    right = context.at(rel.right, moment, near and near.over(rel.right.columns))
    if rel.kind == "inner":
        return o.JoinBags(left, right, rel.condition)
    sides = tuple(
        r.Scan(name, o.by_id(side.columns))
        for name, side in zip(INPUTS, (rel.left, rel.right), strict=True)
    )
    query = r.Join(sides[0], sides[1], rel.kind, rel.condition, rel.marker)
    return o.Evaluate(query, (o.Input(INPUTS[0], left), o.Input(INPUTS[1], right)))


def _tested(rel: r.Join, moment: Moment, context: Context) -> tuple[Operator, s.Scalar | None]:
    """What the rows of L are tested against: a state where one is kept, and the condition."""
    parts = _parts(rel)
    if parts.equalities and not parts.both:
        keys, condition = _keys(rel, parts, context)
        return context.at(keys, moment), condition
    return context.at(rel.right, moment), rel.condition


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
    identity="Δ(L ⋈ R) = ΔL ⋈ R' + L ⋈ ΔR;  L ▷ R = L − L ⋉ R;  L ⟕ R = L ⋈ R + pad(L ▷ R)",
    source="Tempura: inner joins; ADR 0004: the other kinds",
    delta=_join_delta,
    at=_join_at,
)

"""Eager aggregation: sums and counts of one side of a join, joined in the place of its rows.

    γ_K;SUM(x)(X ⋈ Y) = γ_K;SUM(t)(γ_k;t:=SUM(x)(X) ⋈ Y)      k what Y and K ask of X
    γ_K;COUNT(x)(Y ⟕ X) = γ_K;SUM(t)(Y ⟕ γ_k;t:=COUNT(x)(X))  a sum of nothing counts as none

X is what all measures are over. Its rows with the same k meet the same rows of Y, whatever the kind of the join. What is
aggregated early is a relation like any other: it has a state, which is smaller than X, and where Y changes that is
read in its place. It is computed of rows that the join would have left out: so measures are over what has a value for
each row, and sums have digits to spare. After W. Yan and P. Larson, *Eager Aggregation and Lazy Aggregation*, VLDB 1995.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.relation import Rel
from slacktide.algebra.result_types import aggregate_type
from slacktide.algebra.totality import is_strict, is_total
from slacktide.algebra.tree import references, row_source, substitute
from slacktide.algebra.types import BIGINT, has_floating
from slacktide.errors import InvariantError
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding, Form
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.methods.disjunctive import Keys
from slacktide.optimizer.rule_parts.additive import SPARED, is_additive, never_overflows
from slacktide.optimizer.rule_parts.clusters import cluster_of, joined_by
from slacktide.optimizer.rule_parts.shapes import Shapes

Conditions = tuple[s.Scalar, ...]

_AFTER_OTHERS: Final = 2
"""Importance, less than that of all rules but those that subtract: where a search is cut short, the ways without it are there."""
_WHERE_OVERFLOW_FAILS: Final = 32
"""Digits of what is summed, as products of two decimals of TPC-H have. A million of the largest values overflow where only the
rows that are joined would not: the run fails then, and the author's text takes its place."""


def rules(shapes: Shapes, keys: Keys, conf: Mapping[str, str]) -> tuple[MemoRule, ...]:
    """The rules of this method.

    Args:
        shapes: columns that rules make.
        keys: the declared key of each table.
        conf: the SQL settings of the view.
    """
    fails = conf.get("spark.sql.ansi.enabled") == "true"
    most_digits = _WHERE_OVERFLOW_FAILS if fails else SPARED

    def aggregate(found: Binding, memo: Memo) -> None:
        for form in aggregated_early(found["rel"], shapes, keys, most_digits):
            memo.equate(found["q"], form)

    return (
        MemoRule(
            name="aggregate_before_join",
            identity="γ_K;SUM(x)(X ⋈ Y) = γ_K;SUM(t)(γ_k;t:=SUM(x)(X) ⋈ Y), COUNT alike",
            source="Yan and Larson: Eager Aggregation and Lazy Aggregation",
            pattern=(Form("q", "rel", r.Aggregate, is_additive),),
            apply=aggregate,
            importance=_AFTER_OTHERS,
        ),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a join.

    Attributes:
        rows: that are joined.
        conditions: that they are joined by.
        rejoined: gives the join with other rows in their place.
        is_padded: whether the join may give a row of NULLs in their place.
    """

    rows: Rel
    conditions: Conditions
    rejoined: Callable[[Rel], Rel]
    is_padded: bool = False


def aggregated_early(
    root: r.Aggregate, shapes: Shapes, keys: Keys, most_digits: int
) -> Iterator[Rel]:
    """Give an aggregate over a join anew, for each side of which sums and counts may be joined.

    Args:
        root: the aggregate.
        shapes: columns that rules make.
        keys: the declared key of each table; rows that it tells apart are not aggregated.
        most_digits: that a decimal may have of which a sum is made early.
    """
    rel = _over_join(root)
    for side in _sides(rel.child):
        early = _pre_aggregated(rel, side, shapes, most_digits)
        if early is not None and not _has_key(side.rows, early.keys, keys):
            yield _final(rel, side, early, shapes)


def _over_join(rel: r.Aggregate) -> r.Aggregate:
    """The same aggregate over what its columns were computed from."""
    while isinstance(rel.child, r.Project):
        values = {output.column.id: output.value for output in rel.child.outputs}
        keys = tuple(s.Assignment(key.column, substitute(key.value, values)) for key in rel.keys)
        measures = tuple(s.Measure(m.column, _over(m.call, values)) for m in rel.measures)
        rel = r.Aggregate(rel.child.child, keys, measures)
    return rel


def _over(call: s.AggregateCall, values: Mapping[int, s.Scalar]) -> s.AggregateCall:
    arguments = tuple(substitute(argument, values) for argument in call.arguments)
    condition = None if call.filter is None else substitute(call.filter, values)
    return replace(call, arguments=arguments, filter=condition)


def _sides(rel: Rel) -> Iterator[_Side]:
    """The members of an inner join, or the sides of another one of which rows are given."""
    if not isinstance(rel, r.Join) or rel.kind == "inner":
        yield from _members(rel)
        return
    conditions = () if rel.condition is None else (rel.condition,)
    is_left_padded = rel.kind in {"right", "full"}
    yield _Side(rel.left, conditions, lambda rows: replace(rel, left=rows), is_left_padded)
    if rel.kind in {"left", "right", "full"}:
        is_right_padded = rel.kind in {"left", "full"}
        yield _Side(rel.right, conditions, lambda rows: replace(rel, right=rows), is_right_padded)


def _members(root: Rel) -> Iterator[_Side]:
    """Each member of an inner join where it stands: conditions are asked in the order in which they were."""
    cluster = cluster_of(root)
    if len(cluster.members) < 2 or not cluster.is_distinct:
        return
    waiting: list[tuple[Rel, tuple[Rel, ...]]] = [(root, ())]
    while waiting:
        rel, above = waiting.pop()
        below = joined_by(rel)
        waiting += ((part, (*above, rel)) for part in reversed(below))
        if not below:

            def rejoined(rows: Rel, member: Rel = rel, above: tuple[Rel, ...] = above) -> Rel:
                return _in_place_of(member, rows, above)

            yield _Side(rel, cluster.conditions, rejoined)


def _in_place_of(member: Rel, rows: Rel, above: tuple[Rel, ...]) -> Rel:
    """What stands above a member of an inner join, outermost first, over other rows."""
    for rel in reversed(above):
        if isinstance(rel, r.Join):
            is_left = rel.left == member
            rows = replace(rel, left=rows) if is_left else replace(rel, right=rows)
        elif isinstance(rel, r.Filter):
            rows = replace(rel, child=rows)
        member = rel  # a projection that leaves columns out is left out itself
    return rows


def _pre_aggregated(
    rel: r.Aggregate, side: _Side, shapes: Shapes, most_digits: int
) -> r.Aggregate | None:
    """The measures of a side by all else that is asked of it; None where they may not be taken so early."""
    calls = [measure.call for measure in rel.measures]
    own = frozenset(column.id for column in side.rows.columns)
    over = (*side.conditions, *(key.value for key in rel.keys))
    asked = frozenset[int]().union(*map(references, over))
    grouped = tuple(column for column in side.rows.columns if column.id in asked)
    if not grouped or any(has_floating(column.type) for column in grouped):
        return None  # of nothing there would be one group; 0.0 and -0.0 would be one
    if not calls or not all(_is_decomposable(call, own, most_digits) for call in calls):
        return None
    if side.is_padded and not all(map(_ignores_padding, calls)):
        return None
    keys = tuple(map(s.identity, grouped))
    owner = r.Aggregate(side.rows, keys, rel.measures)
    measures = (
        s.Measure(
            replace(shapes.column(owner, "early", n, call.type), nullable=call.nullable), call
        )
        for n, call in enumerate(calls)
    )
    early = r.Aggregate(side.rows, keys, tuple(measures))
    return early if is_additive(early) else None


def _is_decomposable(call: s.AggregateCall, own: frozenset[int], most_digits: int) -> bool:
    """Whether a measure is the sum of itself over parts of the rows, of any of which it has a value."""
    over = call.arguments if call.filter is None else (*call.arguments, call.filter)
    if not all(references(value) <= own and is_total(value) for value in over):
        return False
    if call.function == "sum":
        return never_overflows(call.arguments[0].type, most_digits)
    return call.function == "count"


def _ignores_padding(call: s.AggregateCall) -> bool:
    """Whether a row of NULLs adds nothing to a measure."""
    return bool(call.arguments) and is_strict(call.arguments[0])


def _has_key(rel: Rel, grouped: tuple[s.Assignment, ...], keys: Keys) -> bool:
    """Whether some columns tell rows apart, so that each would be a group of its own."""
    below = row_source(rel)
    ids = frozenset(key.column.id for key in grouped)
    if isinstance(below, r.Aggregate):
        return frozenset(key.column.id for key in below.keys) <= ids
    if not isinstance(below, r.Scan) or not keys.get(below.source):
        return False
    return frozenset(keys[below.source]) <= {c.name for c in below.columns if c.id in ids}


def _final(rel: r.Aggregate, side: _Side, early: r.Aggregate, shapes: Shapes) -> Rel:
    """The aggregate over the join with what was aggregated early."""
    sums: list[s.Measure] = []
    outputs = [s.identity(key.column) for key in rel.keys]
    for place, (measure, part) in enumerate(zip(rel.measures, early.measures, strict=True)):
        given = s.reference(part.column)
        if side.is_padded:
            given = replace(given, nullable=True)
        found = aggregate_type("sum", (given,))
        if found is None:
            raise InvariantError(f"nothing is the sum of {given.type}")
        column = shapes.column(early, "late", place, found[0])
        added = s.AggregateCall(
            "sum", (given,), distinct=False, filter=None, type=found[0], nullable=True
        )
        sums.append(s.Measure(column, added))
        outputs.append(s.Assignment(measure.column, _as(measure.call, s.reference(column))))
    return r.Project(r.Aggregate(side.rejoined(early), rel.keys, tuple(sums)), tuple(outputs))


def _as(call: s.AggregateCall, total: s.Reference) -> s.Scalar:
    """A sum of sums or of counts in the type that the measure has."""
    if call.function == "count":
        zero = s.Literal("0L", BIGINT, nullable=False)
        return s.Call("coalesce", (total, zero), BIGINT, nullable=False)
    return total if total.type == call.type else s.Cast(total, call.type, nullable=True)

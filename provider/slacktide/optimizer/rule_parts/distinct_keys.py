"""The distinct keys of a side of a join: a state, where rows meet by equal keys alone (ADR 0004)."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import Condition, conjunction, parts_of
from slacktide.algebra.types import BOOLEAN
from slacktide.optimizer.rule_parts.rule import Context


def by_distinct_keys(rel: r.Join, parts: Condition, context: Context) -> r.Rel:
    """L ⋉ R as an inner join with the distinct keys of R, where rows meet by these alone."""
    keys, condition = keys_of_side(rel, parts, context)
    joined = r.Join(rel.left, keys, "inner", condition)
    return r.Project(joined, tuple(s.identity(column) for column in rel.left.columns))


def keys_of_side(rel: r.Join, parts: Condition, context: Context) -> tuple[r.Rel, s.Scalar | None]:
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


def keep_distinct_keys(rel: r.Join, context: Context) -> None:
    """Have the state built that the next changes of a semi join will read, where it reads one."""
    parts = parts_of(rel)
    if parts.equalities and not parts.both:
        context.at(by_distinct_keys(rel, parts, context), "after")

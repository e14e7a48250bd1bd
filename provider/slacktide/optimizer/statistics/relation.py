"""How many rows a relation has, from what is known of its sources.

Rows that a past run has counted take the place of an estimate. A column keeps the number of different
values that its relation has in all, through filters and in changes: the share of pairs that meet in an
equality is one over the larger of both numbers (containment of values, Selinger 1979 §4), so that a
change of a tenth of the rows meets a tenth of the pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import take_apart
from slacktide.algebra.tree import relations
from slacktide.optimizer.statistics.facts import (
    UNKNOWN_COLUMN,
    ColumnFacts,
    Figure,
    Statistics,
    worst,
)
from slacktide.optimizer.statistics.selectivity import selectivity

GROUPED: Final = 0.1
"""Groups for each row, where nobody knows how many different keys there are."""
GENERATED: Final = 3.0
"""Rows that a generator makes of one."""
Columns = Mapping[int, ColumnFacts]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Rows of a relation, copies counted, and what is known of its columns, by id."""

    rows: Figure
    columns: Columns


class Cardinality:
    """Estimates of relations over one set of statistics, each made once.

    Args:
        statistics: what is known.
        inputs: estimates of scans that read no source, by name.
    """

    def __init__(
        self, statistics: Statistics, inputs: Mapping[str, Estimate] = MappingProxyType({})
    ) -> None:
        self._statistics = statistics
        self._inputs = inputs
        self._done: dict[bytes, Estimate] = {}

    def of(self, root: r.Rel) -> Estimate:
        """The estimate of a relation."""
        if root.digest not in self._done:
            for rel in relations(root):
                if rel.digest not in self._done:
                    self._done[rel.digest] = self._estimate(rel)
        return self._done[root.digest]

    def _estimate(self, rel: r.Rel) -> Estimate:
        if isinstance(rel, r.Scan):
            return self._inputs.get(rel.source) or source_estimate(self._statistics, rel)
        found = _RULES[type(rel)](rel, lambda below: self._done[below.digest])
        counted = self._statistics.observed.get(rel.digest)
        return found if counted is None else replace(found, rows=Figure(counted, "observed"))


def source_estimate(statistics: Statistics, rel: r.Scan) -> Estimate:
    """The rows of a source; a column of which nothing is known may tell all of them apart."""
    known = statistics.source(rel.source)
    return Estimate(known.rows, source_columns(statistics, rel.source, rel.fields))


def source_columns(statistics: Statistics, source: str, fields: r.Columns) -> Columns:
    """What is known of columns of a source, by id."""
    known = statistics.source(source)
    guess = Figure(known.rows.value, "default")
    found: dict[int, ColumnFacts] = {}
    for column in fields:
        facts = known.columns.get(column.name, UNKNOWN_COLUMN)
        found[column.id] = facts if facts.distinct is not None else replace(facts, distinct=guess)
    return found


def assigned(items: tuple[s.Assignment, ...], columns: Columns) -> dict[int, ColumnFacts]:
    """What is known of computed columns: those that only pass a value on."""
    return {
        item.column.id: columns.get(item.value.column, UNKNOWN_COLUMN)
        if isinstance(item.value, s.Reference)
        else UNKNOWN_COLUMN
        for item in items
    }


def met(
    left: Estimate, right: Estimate, condition: s.Scalar | None, sides: tuple[r.Columns, r.Columns]
) -> Figure:
    """The pairs of rows for which a condition is true."""
    parts = take_apart(condition, *sides)
    columns = {**left.columns, **right.columns}
    share = 1.0
    domains: list[Figure] = []
    for equality in parts.equalities:
        domain = _domain(equality.left, equality.right, left, right)
        domains.append(domain)
        # Several columns of one key are no independent conditions.
        share = min(share, 1.0 / max(domain.value, 1.0))
    for part in (*parts.left, *parts.right, *parts.both):
        share *= selectivity(part, columns)
    return left.rows.scaled(right.rows.value * share, right.rows, *domains)


def _domain(one: s.Scalar, other: s.Scalar, left: Estimate, right: Estimate) -> Figure:
    """How many different values two keys that meet have."""
    known = [
        facts.distinct
        for key, side in ((one, left), (other, right))
        if isinstance(key, s.Reference)
        and (facts := side.columns.get(key.column, UNKNOWN_COLUMN)).distinct is not None
        and facts.distinct is not None
    ]
    sure = [figure for figure in known if figure.origin != "default"]
    if sure:
        return max(sure, key=lambda figure: figure.value)
    # A key is on the side that has fewer values, if on any.
    guesses = known or [left.rows, right.rows]
    return Figure(min(figure.value for figure in guesses), "default")


def meeting_share(
    left: Estimate, right: Estimate, condition: s.Scalar | None, sides: tuple[r.Columns, r.Columns]
) -> float:
    """The share of the left rows that meet some right row."""
    if not left.rows.value:
        return 0.0
    return min(met(left, right, condition, sides).value / left.rows.value, 1.0)


def groups(keys: tuple[s.Assignment, ...], child: Estimate) -> Figure:
    """The groups of equal keys among rows."""
    if not keys:
        return Figure(1.0, "observed")
    known = [columns.distinct for columns in assigned(keys, child.columns).values()]
    sure = [figure for figure in known if figure is not None and figure.origin != "default"]
    if len(sure) < len(known):
        return child.rows.scaled(GROUPED, Figure(0.0))
    product = 1.0
    for figure in sure:
        product = min(product * max(figure.value, 1.0), child.rows.value)
    return Figure(min(product, child.rows.value), worst(child.rows, *sure))


Below = Callable[[r.Rel], Estimate]


def _filter(rel: r.Filter, below: Below) -> Estimate:
    child = below(rel.child)
    share = selectivity(rel.predicate, child.columns)
    return Estimate(child.rows.scaled(share, Figure(0.0)), child.columns)


def _project(rel: r.Project, below: Below) -> Estimate:
    child = below(rel.child)
    return Estimate(child.rows, assigned(rel.outputs, child.columns))


def _join(rel: r.Join, below: Below) -> Estimate:
    left, right = below(rel.left), below(rel.right)
    sides = (rel.left.columns, rel.right.columns)
    columns = {**left.columns, **right.columns}
    rows = met(left, right, rel.condition, sides)
    share = meeting_share(left, right, rel.condition, sides)
    match rel.kind:
        case "inner":
            return Estimate(rows, columns)
        case "left" | "right" | "full":
            kept = {"left": (left,), "right": (right,), "full": (left, right)}[rel.kind]
            least = max(side.rows.value for side in kept)
            return Estimate(replace(rows, value=max(rows.value, least)), columns)
        case "semi":
            return Estimate(left.rows.scaled(share, rows), left.columns)
        case "anti":
            return Estimate(left.rows.scaled(1.0 - share, rows), left.columns)
        case "existence":
            return left


def _aggregate(rel: r.Aggregate, below: Below) -> Estimate:
    child = below(rel.child)
    return Estimate(groups(rel.keys, child), assigned(rel.keys, child.columns))


def added(children: list[Estimate], sides: list[r.Columns], fields: r.Columns) -> Estimate:
    """The rows of several relations one after another, columns by position."""
    rows = Figure(
        sum(child.rows.value for child in children), worst(*(child.rows for child in children))
    )
    columns: dict[int, ColumnFacts] = {}
    for at, field in enumerate(fields):
        known = [
            child.columns.get(side[at].id, UNKNOWN_COLUMN)
            for child, side in zip(children, sides, strict=True)
        ]
        figures = [facts.distinct for facts in known if facts.distinct is not None]
        largest = max(figures, key=lambda figure: figure.value, default=None)
        whole = largest is not None and len(figures) == len(known)
        columns[field.id] = ColumnFacts(
            Figure(largest.value, worst(*figures)) if whole and largest is not None else None
        )
    return Estimate(rows, columns)


def _union(rel: r.Union, below: Below) -> Estimate:
    children = [below(child) for child in rel.children]
    return added(children, [child.columns for child in rel.children], rel.fields)


def _limit(rel: r.Limit, below: Below) -> Estimate:
    child = below(rel.child)
    left = max(child.rows.value - rel.offset, 0.0)
    return replace(
        child,
        rows=replace(child.rows, value=left if rel.count is None else min(left, float(rel.count))),
    )


def _expand(rel: r.Expand, below: Below) -> Estimate:
    return Estimate(below(rel.child).rows.scaled(len(rel.projections)), {})


def _generate(rel: r.Generate, below: Below) -> Estimate:
    child = below(rel.child)
    return Estimate(child.rows.scaled(GENERATED, Figure(0.0)), child.columns)


def _values(rel: r.Values, _: Below) -> Estimate:
    return Estimate(Figure(float(len(rel.rows)), "observed"), {})


def _range(rel: r.Range, _: Below) -> Estimate:
    count = len(range(rel.start, rel.end, rel.step))
    return Estimate(Figure(float(count), "observed"), {})


def _same(rel: r.Sort | r.Window, below: Below) -> Estimate:
    return below(rel.child)


_RULES: Final[Mapping[type[Any], Callable[[Any, Below], Estimate]]] = {
    r.Values: _values,
    r.Range: _range,
    r.Filter: _filter,
    r.Project: _project,
    r.Join: _join,
    r.Aggregate: _aggregate,
    r.Union: _union,
    r.Sort: _same,
    r.Limit: _limit,
    r.Window: _same,
    r.Expand: _expand,
    r.Generate: _generate,
}

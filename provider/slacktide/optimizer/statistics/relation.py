"""How many rows a relation has, from what is known of its sources.

Rows that a past run has counted take the place of an estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from slacktide.algebra import relation as r
from slacktide.algebra.tree import relations
from slacktide.optimizer.statistics.estimate import (
    GENERATED,
    Columns,
    Estimate,
    assigned,
    expanded,
    groups,
    meeting_share,
    met,
    scan_estimate,
    source_estimate,
)
from slacktide.optimizer.statistics.facts import ColumnFacts, Figure, Statistics, total
from slacktide.optimizer.statistics.selectivity import NEVER, but
from slacktide.optimizer.statistics.unions import added
from slacktide.optimizer.statistics.widths import in_memory, joined, reshaped, summarised

Below = Callable[[r.Rel], Estimate]


class Cardinality:
    """Estimates of relations over one set of statistics, each made once.

    Args:
        statistics: what is known.
        inputs: estimates of scans that read no source, by name.
        instants: as of which sources are read, by name; those that are not named after all changes.
    """

    def __init__(
        self,
        statistics: Statistics,
        inputs: Mapping[str, Estimate] = MappingProxyType({}),
        instants: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self._statistics = statistics
        self._inputs = inputs
        self._instants = instants
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
            return self._inputs.get(rel.source) or self._source(rel)
        found = RULES[type(rel)](rel, lambda below: self._done[below.digest])
        counted = self._statistics.observed.get(rel.digest)
        return found if counted is None else replace(found, rows=Figure(counted, "observed"))

    def changed(self, rel: r.Scan, rows: Figure, size: float) -> Estimate:
        """The estimate of so many changes of a source, of so many bytes."""
        return scan_estimate(self._statistics, rel.source, rel.fields, rows, size)

    def _source(self, rel: r.Scan) -> Estimate:
        known, instant = self._statistics.source(rel.source), self._instants.get(rel.source)
        rows = known.rows if instant is None else known.rows_at(instant)
        return source_estimate(self._statistics, rel.source, rel.fields, rows)


def with_columns(statistics: Statistics, root: r.Rel) -> Statistics:
    """The same statistics, with what is known of the columns of a relation and all that it is made of."""
    estimates = Cardinality(statistics)
    estimates.of(root)  # and so, in one walk, all that it is made of
    columns: dict[int, ColumnFacts] = {}
    for rel in relations(root):
        columns |= estimates.of(rel).columns
    return replace(statistics, columns=columns)


def _filter(rel: r.Filter, below: Below) -> Estimate:
    return below(rel.child).filtered(rel.predicate)


def _project(rel: r.Project, below: Below) -> Estimate:
    child = below(rel.child)
    planned = reshaped(child.planned_bytes, rel.child.columns, rel.columns)
    return Estimate(child.rows, assigned(rel.outputs, child.columns), planned)


def _join(rel: r.Join, below: Below) -> Estimate:
    """Pairs; every row of a side that is kept has a row, too, as far as it meets none, with NULL in the other columns."""
    left, right = below(rel.left), below(rel.right)
    if rel.kind == "existence":
        return left
    sides = (rel.left.columns, rel.right.columns)
    pairs = met(left, right, rel.condition, sides)
    if rel.kind in {"semi", "anti"}:
        share = meeting_share(left, right, rel.condition, sides, pairs)
        return left.share(share if rel.kind == "semi" else but(share))
    of_left, of_right = NEVER, NEVER
    if rel.kind in {"left", "full"}:
        of_left = left.share(but(meeting_share(left, right, rel.condition, sides, pairs))).rows
    if rel.kind in {"right", "full"}:
        lonely = but(meeting_share(right, left, rel.condition, sides[::-1], pairs))
        of_right = right.share(lonely).rows
    rows = replace(pairs, value=pairs.value + of_left.value + of_right.value)
    columns = {**_padded(left, of_right, rows), **_padded(right, of_left, rows)}
    return Estimate(rows, columns, joined(left.planned_bytes, right.planned_bytes))


def _padded(side: Estimate, lonely: Figure, rows: Figure) -> Columns:
    """The columns of a side that so many rows of a join lack."""
    if not lonely.value:
        return side.columns
    share = replace(lonely, value=min(lonely.value / rows.value, 1.0))
    return {
        column: replace(facts, nulls=total([facts.nulls.scaled(1.0 - share.value), share]))
        for column, facts in side.columns.items()
    }


def _aggregate(rel: r.Aggregate, below: Below) -> Estimate:
    child = below(rel.child)
    rows = groups([key.value for key in rel.keys], child)
    sides = (rel.child.columns, rel.columns)
    planned = summarised(child.planned_bytes, *sides, has_keys=bool(rel.keys))
    return Estimate(rows, assigned(rel.keys, child.columns), planned)


def _union(rel: r.Union, below: Below) -> Estimate:
    children = [below(child) for child in rel.children]
    return added(children, [child.columns for child in rel.children], rel.fields)


def _limit(rel: r.Limit, below: Below) -> Estimate:
    child = below(rel.child)
    left = max(child.rows.value - rel.offset, 0.0)
    most = left if rel.count is None else min(left, float(rel.count))
    few = Figure(most)
    planned = child.planned_bytes if rel.count is None else in_memory(few, rel.columns)
    return replace(child, rows=replace(child.rows, value=most), planned_bytes=planned)


def _expand(rel: r.Expand, below: Below) -> Estimate:
    child, times = below(rel.child), len(rel.projections)
    planned = times * reshaped(child.planned_bytes, rel.child.columns, rel.columns)
    return Estimate(
        child.rows.scaled(times), expanded(rel.projections, child.columns, rel.fields), planned
    )


def _generate(rel: r.Generate, below: Below) -> Estimate:
    return below(rel.child).share(GENERATED)


def _values(rel: r.Values, _: Below) -> Estimate:
    rows = Figure(float(len(rel.rows)), "observed")
    return Estimate(rows, {}, in_memory(rows, rel.columns))


def _range(rel: r.Range, _: Below) -> Estimate:
    # len() of a range fails from 2**63 on; Spark's may be longer.
    count = max(-((rel.start - rel.end) // rel.step), 0)
    rows = Figure(float(count), "observed")
    return Estimate(rows, {}, in_memory(rows, rel.columns))


def _same(rel: r.Sort | r.Window, below: Below) -> Estimate:
    return below(rel.child)


LINEAR: Final[Mapping[type[Any], Callable[[Any, Below], Estimate]]] = {
    r.Filter: _filter,
    r.Project: _project,
    r.Union: _union,
    r.Sort: _same,
    r.Expand: _expand,
    r.Generate: _generate,
}
"""What works row by row, and so on a change as on all rows."""
RULES: Final[Mapping[type[Any], Callable[[Any, Below], Estimate]]] = {
    **LINEAR,
    r.Values: _values,
    r.Range: _range,
    r.Join: _join,
    r.Aggregate: _aggregate,
    r.Limit: _limit,
    r.Window: _same,
}

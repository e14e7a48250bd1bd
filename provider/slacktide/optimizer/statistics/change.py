"""How many rows of a relation change between two moments, both what comes and what goes.

What is linear has the share of the changes that it has of all rows. A join changes by ΔL ⋈ R' and L' ⋈ ΔR,
and an aggregate by twice the groups that the change below it touches: by their former and their new rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from slacktide.algebra import relation as r
from slacktide.algebra.tree import relations
from slacktide.optimizer.statistics.estimate import Estimate, assigned, groups, met
from slacktide.optimizer.statistics.facts import Figure, total, worst
from slacktide.optimizer.statistics.relation import LINEAR, Cardinality
from slacktide.optimizer.statistics.widths import joined, summarised


class Changes:
    """Estimates of what relations change by, each made once.

    Args:
        after: the relations as they are at the end.
        arrived: rows and bytes of the changes of a source.
    """

    def __init__(self, after: Cardinality, arrived: Callable[[str], tuple[Figure, float]]) -> None:
        self._after = after
        self._arrived = arrived
        self._done: dict[bytes, Estimate] = {}

    def of(self, root: r.Rel) -> Estimate:
        """The estimate of the change of a relation."""
        for rel in relations(root):
            if rel.digest not in self._done:
                self._done[rel.digest] = self._estimate(rel)
        return self._done[root.digest]

    def _estimate(self, rel: r.Rel) -> Estimate:
        if isinstance(rel, r.Scan):
            return self._after.changed(rel, *self._arrived(rel.source))
        if type(rel) in LINEAR:
            return LINEAR[type(rel)](rel, self._below)
        return _RULES[type(rel)](rel, self._below, self._after)

    def _below(self, rel: r.Rel) -> Estimate:
        return self._done[rel.digest]


Below = Callable[[r.Rel], Estimate]


def _nothing(_: r.Values | r.Range, __: Below, ___: Cardinality) -> Estimate:
    return Estimate(Figure(0.0, "observed"), {}, 0.0)


def _join(rel: r.Join, below: Below, after: Cardinality) -> Estimate:
    """Pairs that come and go; of what is kept of a side its own changes, and rows that meet another now, or no more.

    A row of a change is one pair at least or meets none, and no more rows of a side begin to meet another than it has.
    """
    changed, whole = ([find(side) for side in (rel.left, rel.right)] for find in (below, after.of))
    sides = (rel.left.columns, rel.right.columns)
    by_left = met(changed[0], whole[1], rel.condition, sides)
    by_right = met(whole[0], changed[1], rel.condition, sides)
    kept_left, kept_right = (
        max(pairs, side.rows, key=lambda one: one.value)
        for pairs, side in zip((by_left, by_right), changed, strict=True)
    )
    met_left, met_right = (
        min(pairs, side.rows, key=lambda one: one.value)
        for pairs, side in zip((by_right, by_left), whole, strict=True)
    )
    rows = {
        "inner": [by_left, by_right],
        "left": [kept_left, by_right, met_left],
        "right": [kept_right, by_left, met_right],
        "full": [kept_left, kept_right, met_left, met_right],
        "semi": [changed[0].rows, met_left],
        "anti": [changed[0].rows, met_left],
        "existence": [changed[0].rows, met_left, met_left],
    }[rel.kind]
    planned = changed[0].planned_bytes
    if rel.kind not in ("semi", "anti", "existence"):
        planned = joined(planned, whole[1].planned_bytes)
        planned += joined(whole[0].planned_bytes, changed[1].planned_bytes)
    return Estimate(total(rows), {**changed[0].columns, **changed[1].columns}, planned)


def _aggregate(rel: r.Aggregate, below: Below, _: Cardinality) -> Estimate:
    child = below(rel.child)
    touched = groups([key.value for key in rel.keys], child)
    most = min(touched.value, child.rows.value)
    rows = Figure(2.0 * most, worst(touched, child.rows))
    sides = (rel.child.columns, rel.columns)
    planned = 2.0 * summarised(child.planned_bytes, *sides, has_keys=bool(rel.keys))
    return Estimate(rows, assigned(rel.keys, child.columns), planned)


def _limit(rel: r.Limit, below: Below, _: Cardinality) -> Estimate:
    """At most all first rows go, and others come; how many of a change are first, nobody knows."""
    child = below(rel.child)
    most = child.rows.value if rel.count is None else min(child.rows.value, 2.0 * rel.count)
    return replace(child, rows=Figure(most))


def _window(rel: r.Window, below: Below, after: Cardinality) -> Estimate:
    """All rows of the partitions that are touched, before and after: as many as rows change, or all."""
    child, whole = below(rel.child), after.of(rel.child)
    partitions = groups(rel.partition, whole)
    touched = min(child.rows.value / max(partitions.value, 1.0), 1.0)
    return replace(child, rows=whole.rows.scaled(2.0 * touched, child.rows, partitions))


_RULES: Final[Mapping[type[Any], Callable[[Any, Below, Cardinality], Estimate]]] = {
    r.Values: _nothing,
    r.Range: _nothing,
    r.Join: _join,
    r.Aggregate: _aggregate,
    r.Limit: _limit,
    r.Window: _window,
}

"""How many rows the groups of a memo give: snapshots and changes of relations at their versions.

A group that is something to a relation has the size which follows from that relation, so that all its
expressions agree. One that stands between has that of its first expression.
"""

from __future__ import annotations

from dataclasses import replace

from slacktide.algebra import relation as r
from slacktide.errors import InvariantError
from slacktide.optimizer.memo.hole import ChangesBetween, Hole, SnapshotAt
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.trait import SetDelta, SetSnap, ValDelta, ValSnap
from slacktide.optimizer.memo.versions import Version
from slacktide.optimizer.statistics.change import Changes
from slacktide.optimizer.statistics.estimate import Estimate, scan_estimate, source_estimate
from slacktide.optimizer.statistics.facts import UNKNOWN_COLUMN, Figure, Statistics, total
from slacktide.optimizer.statistics.operators import operator_estimate
from slacktide.optimizer.statistics.relation import Cardinality
from slacktide.program.operator import Operator, operator_inputs

HALF = Figure(0.5, "observed")


class GroupSizes:
    """Estimates of the groups of one memo.

    Args:
        memo: the plan space.
        statistics: what is known of its sources, with what comes by each instant.
    """

    def __init__(self, memo: Memo, statistics: Statistics) -> None:
        self.statistics = statistics
        self._memo = memo
        self._snapshots: dict[Version, Cardinality] = {}
        self._changes: dict[tuple[Version, Version], Changes] = {}
        self._known: dict[int, Estimate] = {}

    def snapshot(self, version: Version) -> Cardinality:
        """Estimates of relations at a version."""
        if version not in self._snapshots:
            named = zip(self._memo.tables.names, version, strict=True)
            instants = {name: number for name, number in named if number}
            self._snapshots[version] = Cardinality(self.statistics, instants=instants)
        return self._snapshots[version]

    def change(self, start: Version, end: Version) -> Changes:
        """Estimates of what relations change by between two versions."""
        if (start, end) not in self._changes:

            def arrived(source: str) -> tuple[Figure, float]:
                first, last = (
                    self._memo.tables.number(version, source) for version in (start, end)
                )
                return self.arrived(source, first, last)

            self._changes[start, end] = Changes(self.snapshot(end), arrived)
        return self._changes[start, end]

    def arrived(self, source: str, start: int, end: int) -> tuple[Figure, float]:
        """Rows and bytes of the changes of a source after an instant, up to another."""
        known = self.statistics.source(source)
        changes = [known.change(instant) for instant in range(start + 1, end + 1)]
        return total(one.rows for one in changes), sum(one.bytes for one in changes)

    def of(self, number: int) -> Estimate:
        """The estimate of a group."""
        root = self._memo.groups.find(number)
        stack = [root]
        while root not in self._known:
            group = stack[-1]
            found = self._linked(group)
            if found is None:
                flat = self._memo.groups.expressions(group)[0]
                below = [self._memo.groups.find(part.group) for part in holes(flat)]
                missing = [part for part in below if part not in self._known]
                if missing:
                    stack.extend(missing)
                    continue
                found = self.gives(flat)
            self._known[group] = found
            stack.pop()
        return self._known[root]

    def gives(self, flat: Operator) -> Estimate:
        """The estimate of an expression, from those of the groups that it reads."""
        match flat:
            case SnapshotAt():
                known = self.statistics.source(flat.source)
                rows = known.rows_at(flat.version) if flat.version else known.rows
                return source_estimate(self.statistics, flat.source, flat.fields, rows)
            case ChangesBetween():
                rows, size = self.arrived(flat.source, flat.start, flat.end)
                return scan_estimate(self.statistics, flat.source, flat.fields, rows, size)
            case _:
                return operator_estimate(flat, self._below, self.statistics)

    def _below(self, operator: Operator) -> Estimate:
        if not isinstance(operator, Hole):
            raise InvariantError(f"an expression reads groups, not {operator.tag}")
        return self.of(operator.group)

    def _linked(self, group: int) -> Estimate | None:
        for tvr, trait in sorted(
            self._memo.linked(group), key=lambda link: (link[0], repr(link[1]))
        ):
            rel = self._memo.relation(tvr)
            match trait:
                case SetSnap():
                    return self.snapshot(trait.version).of(rel)
                case SetDelta():
                    return self.change(trait.start, trait.end).of(rel)
                case ValSnap():
                    rows = self.snapshot(trait.version).of(rel)
                    return self._as_state(group, tvr, trait.layout, rows)
                case ValDelta():
                    # A group that is touched adds one partial aggregate, where it takes back its row
                    # and gives another.
                    rows = self.change(trait.start, trait.end).of(rel).share(HALF)
                    return self._as_state(group, tvr, trait.layout, rows)
                case _:
                    continue
        return None

    def _as_state(self, group: int, tvr: int, layout: bytes, rows: Estimate) -> Estimate:
        """Groups as their partial aggregates: the keys stand first, under ids of the state's own."""
        form = next(form for form in self._memo.forms(tvr) if form.digest == layout)
        keys = form.keys if isinstance(form, r.Aggregate) else ()
        own = self._memo.groups.hole(group).columns
        columns = {
            mine.id: rows.columns.get(key.column.id, UNKNOWN_COLUMN)
            for mine, key in zip(own, keys, strict=False)
        }
        return replace(rows, columns=columns)


def holes(flat: Operator) -> list[Hole]:
    """The groups that an expression reads."""
    return [part for part in operator_inputs(flat) if isinstance(part, Hole)]

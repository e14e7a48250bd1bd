"""How many rows relations have, and how many change, at versions of their sources.

A change has the rows that come and those that go. What joins, joins with what is known of keys: a
row meets |R| / max(distinct values of either side) rows of R. Changes of an aggregate are twice the
groups that they touch. Estimates are never less than nothing and say whether they follow from facts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import conjunction, take_apart
from slacktide.algebra.relation import Columns, Rel
from slacktide.algebra.tree import relations
from slacktide.errors import InvariantError
from slacktide.optimizer.estimation.known import DEFAULT_WIDTH, ColumnStatistics, Statistics
from slacktide.optimizer.estimation.origins import origin
from slacktide.optimizer.estimation.selectivity import Share, share_of
from slacktide.optimizer.memo.versions import Tables, Version


@dataclass(frozen=True, slots=True)
class Size:
    """How large something is.

    Attributes:
        rows: how many there are, of a change both what comes and what goes.
        width: bytes of a row.
        is_known: whether it follows from what is known, not from defaults.
    """

    rows: float
    width: float
    is_known: bool = True

    @property
    def bytes(self) -> float:
        """How many bytes that is."""
        return self.rows * self.width


class Sizes:
    """Sizes of relations.

    Args:
        statistics: what is known.
        tables: that change.
    """

    def __init__(self, statistics: Statistics, tables: Tables) -> None:
        self._statistics = statistics
        self._tables = tables
        self._rows: dict[tuple[bytes, Version], tuple[float, bool]] = {}
        self._changes: dict[tuple[bytes, Version, Version], tuple[float, bool]] = {}

    def snapshot(self, rel: Rel, version: Version) -> Size:
        """The size of a relation at a version."""
        for below in relations(rel):
            key = (below.digest, version)
            if key not in self._rows:
                rows, is_known = self._at(below, version)
                self._rows[key] = max(0.0, rows), is_known
        rows, is_known = self._rows[rel.digest, version]
        return Size(rows, self.width(rel, rel.columns), is_known)

    def change(self, rel: Rel, start: Version, end: Version) -> Size:
        """The size of the change of a relation between two versions."""
        for below in relations(rel):
            key = (below.digest, start, end)
            if key not in self._changes:
                rows, is_known = self._between(below, start, end)
                self._changes[key] = max(0.0, rows), is_known
        rows, is_known = self._changes[rel.digest, start, end]
        return Size(rows, self.width(rel, rel.columns), is_known)

    def width(self, rel: Rel, columns: Columns) -> float:
        """Bytes of a row of some columns of a relation."""
        widths = (self.column(rel, column.id).width for column in columns)
        return sum(DEFAULT_WIDTH if width is None else width for width in widths) or 1.0

    def column(self, rel: Rel, column: int) -> ColumnStatistics:
        """What is known of a column of a relation."""
        found = origin(rel, column)
        if found is None:
            return ColumnStatistics()
        scan, name = found
        return self._statistics.column(scan.source, name)

    # ------------------------------------------------------------ rows

    def _at(self, rel: Rel, version: Version) -> tuple[float, bool]:
        def of(child: Rel) -> tuple[float, bool]:
            return self._rows[child.digest, version]

        match rel:
            case r.Scan():
                number = self._tables.number(version, rel.source) or 1
                return self._statistics.rows(rel.source, number)
            case r.Values():
                return float(len(rel.rows)), True
            case r.Range():
                return float(max(0, (rel.end - rel.start) // rel.step)), True
            case r.Join():
                return self._joined(rel, of(rel.left), of(rel.right))
            case r.Aggregate():
                return self._groups(rel, of(rel.child))
            case r.Limit():
                rows, is_known = of(rel.child)
                return (rows if rel.count is None else min(rows, rel.count)), is_known
            case _:
                return self._linear(rel, of)

    def _linear(self, rel: Rel, of: Callable[[Rel], tuple[float, bool]]) -> tuple[float, bool]:
        """Rows of what works row by row, of all rows and of changes alike."""
        match rel:
            case r.Filter():
                rows, is_known = of(rel.child)
                share = share_of(rel.predicate, lambda column: self.column(rel.child, column))
                return rows * share.value, is_known and share.is_known
            case r.Union():
                found = [of(child) for child in rel.children]
                return sum(rows for rows, _ in found), all(is_known for _, is_known in found)
            case r.Expand():
                rows, is_known = of(rel.child)
                return rows * len(rel.projections), is_known
            case r.Generate():
                return 3 * of(rel.child)[0], False
            case r.Project() | r.Sort() | r.Window():
                return of(rel.child)
            case _:
                raise InvariantError(f"nobody says how many rows {rel.tag} has")

    def _joined(
        self, rel: r.Join, left: tuple[float, bool], right: tuple[float, bool]
    ) -> tuple[float, bool]:
        met = self._met(rel, left[0], right[0])
        inner = left[0] * right[0] * met.value
        is_known = left[1] and right[1] and met.is_known
        paired = min(1.0, right[0] * met.value), min(1.0, left[0] * met.value)
        lonely = left[0] * (1 - paired[0]), right[0] * (1 - paired[1])
        match rel.kind:
            case "inner":
                return inner, is_known
            case "left":
                return inner + lonely[0], is_known
            case "right":
                return inner + lonely[1], is_known
            case "full":
                return inner + lonely[0] + lonely[1], is_known
            case "semi":
                return left[0] * paired[0], is_known
            case "anti":
                return lonely[0], is_known
            case "existence":
                return left[0], left[1]

    def _met(self, rel: r.Join, left: float, right: float) -> Share:
        """The share of pairs that meet."""
        parts = take_apart(rel.condition, rel.left.columns, rel.right.columns)
        rest = share_of(
            conjunction([*parts.left, *parts.right, *parts.both]),
            lambda column: self._of_side(rel, column),
        )
        value, is_known = rest.value, rest.is_known
        for equal in parts.equalities:
            one = self._distinct(rel.left, equal.left, left)
            other = self._distinct(rel.right, equal.right, right)
            value /= max(1.0, one[0], other[0])
            is_known = is_known and one[1] and other[1]
        return Share(value, is_known)

    def _of_side(self, rel: r.Join, column: int) -> ColumnStatistics:
        in_left = any(own.id == column for own in rel.left.columns)
        return self.column(rel.left if in_left else rel.right, column)

    def _distinct(self, rel: Rel, value: s.Scalar, rows: float) -> tuple[float, bool]:
        """How many values an expression has over so many rows."""
        if not isinstance(value, s.Reference):
            return max(1.0, rows * 0.1), False
        known = self.column(rel, value.column).distinct
        return (max(1.0, rows * 0.1), False) if known is None else (min(known, rows), True)

    def _groups(self, rel: r.Aggregate, below: tuple[float, bool]) -> tuple[float, bool]:
        rows, is_known = below
        if not rel.keys:
            return 1.0, True
        groups = 1.0
        for key in rel.keys:
            distinct, is_sure = self._distinct(rel.child, key.value, rows)
            groups *= distinct
            is_known = is_known and is_sure
        return min(groups, rows), is_known

    # ------------------------------------------------------------ changes

    def _between(self, rel: Rel, start: Version, end: Version) -> tuple[float, bool]:
        def of(child: Rel) -> tuple[float, bool]:
            return self._changes[child.digest, start, end]

        match rel:
            case r.Scan():
                return self._arrived(rel.source, start, end)
            case r.Values() | r.Range():
                return 0.0, True
            case r.Join():
                return self._join_change(rel, start, end)
            case r.Aggregate():
                changed, is_known = of(rel.child)
                if not rel.keys:
                    return min(2.0, 2 * changed), is_known
                touched, is_sure = self._groups(rel, (changed, is_known))
                return 2 * touched, is_sure
            case r.Limit():
                changed, _ = of(rel.child)
                return min(changed, 2.0 * (rel.count or changed)), False
            case r.Window():
                changed, _ = of(rel.child)
                rows = self.snapshot(rel.child, end).rows
                return min(2 * rows, 10 * changed), False
            case _:
                return self._linear(rel, of)

    def _arrived(self, source: str, start: Version, end: Version) -> tuple[float, bool]:
        rows, is_known = 0.0, True
        first, last = (self._tables.number(version, source) for version in (start, end))
        for instant in range(first + 1, last + 1):
            change, is_sure = self._statistics.change(source, instant)
            rows += change.inserted + change.deleted
            is_known = is_known and is_sure
        return rows, is_known

    def _join_change(self, rel: r.Join, start: Version, end: Version) -> tuple[float, bool]:
        """ΔL with R', L with ΔR; of the other kinds, what is padded may change as well."""
        left, right = (self.snapshot(side, end) for side in (rel.left, rel.right))
        changes = [self._changes[side.digest, start, end] for side in (rel.left, rel.right)]
        met = self._met(rel, left.rows, right.rows)
        is_known = met.is_known and all(is_known for _, is_known in changes)
        from_left = changes[0][0] * right.rows * met.value
        from_right = changes[1][0] * left.rows * met.value
        match rel.kind:
            case "inner":
                return from_left + from_right, is_known
            case "semi" | "anti" | "existence":
                return changes[0][0] + from_right, is_known
            case _:
                return changes[0][0] + changes[1][0] + from_left + 2 * from_right, is_known

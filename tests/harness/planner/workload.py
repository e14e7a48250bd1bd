"""A benchmark as the planner sees it: relations of views, what is known of tables, patterns of arrival."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.engine.planning.sizes import column_facts
from slacktide.optimizer.expand import Problem
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.statistics import ChangeFacts, ColumnFacts, Figure, SourceFacts, Statistics
from slacktide.store.record import ColumnStatistics


@dataclass(frozen=True, slots=True)
class Pattern:
    """How rows arrive.

    Attributes:
        share: of what is there at the first instant, inserted by each later one.
        retracting: the tables from which rows go, too: one for four that come.
        changing: the tables to which rows come after the first instant; None: all that have a key.
    """

    share: float
    retracting: frozenset[str] = frozenset()
    changing: frozenset[str] | None = None


def patterns(some: frozenset[str], more: frozenset[str]) -> dict[str, Pattern]:
    """The patterns of tempura.md §7.2: with rows that go from some tables, or from more of them."""
    return {
        "delta-big": Pattern(1.0),
        "delta-small": Pattern(0.25),
        "delta-R": Pattern(0.5, some),
        "delta-RS": Pattern(0.5, more),
    }


@dataclass(frozen=True, slots=True)
class Workload:
    """Views of a benchmark, at scale 1.

    Attributes:
        folder: texts of relations that the plan reader gave; see `slacktide.algebra.textual`.
        queries: names of the views.
        rows: of each table.
        distinct: how many different values a column has.
        keys: of the tables that may change; all others are constant.
        patterns: by name.
        reach: the share of a table in which the keys of any change lie; None where nobody knows.
        told: what files tell of the columns of each table, in place of `distinct`.
        row_bytes: bytes of a row of each table in a file, where they are known.
        widths: and of all its columns in memory.
    """

    folder: Path
    queries: tuple[str, ...]
    rows: Mapping[str, int]
    distinct: Mapping[str, int]
    keys: Mapping[str, tuple[str, ...]]
    patterns: Mapping[str, Pattern]
    reach: float | None = None
    told: Mapping[str, Mapping[str, ColumnStatistics]] = field(default_factory=dict)
    row_bytes: Mapping[str, float] = field(default_factory=dict)
    widths: Mapping[str, float] = field(default_factory=dict)

    def view(self, query: str) -> Maintainability:
        """What is said of a view, in normal form."""
        return Maintainability(from_text((self.folder / f"{query}.plan").read_text()))

    def relation(self, query: str) -> Rel:
        """The relation of a view, in normal form."""
        return self.view(query).root

    def problem(self, query: str, instants: int, pattern: str = "delta-big") -> Problem:
        """The planning problem of a view; tables from which the pattern takes nothing only grow, or stay as they are."""
        root = self.relation(query)
        changing = tuple(name for name in sources(root) if name in self.changing(pattern))
        return Problem(
            root,
            changing,
            instants,
            append_only=frozenset(changing) - self.patterns[pattern].retracting,
            conf={"spark.sql.ansi.enabled": "true"},
            keys={name: self.keys[name] for name in sources(root) if name in self.keys},
        )

    def changing(self, pattern: str) -> frozenset[str]:
        """The tables that change under a pattern."""
        named = self.patterns[pattern].changing
        return frozenset(self.keys) if named is None else named

    def patterns_of(self, query: str) -> tuple[str, ...]:
        """The patterns under which some table of a view changes."""
        read = frozenset(sources(self.relation(query)))
        return tuple(name for name in self.patterns if read & self.changing(name))

    def statistics(self, instants: int, pattern: str = "delta-big") -> Statistics:
        """What is known at scale 1 under a pattern."""
        return Statistics({name: self._facts(name, instants, pattern) for name in self.rows})

    def _facts(self, name: str, instants: int, pattern: str) -> SourceFacts:
        """What is known of a table: at the first instant it has the rows of scale 1."""
        arriving = self.patterns[pattern]
        changes = name in self.changing(pattern)
        inserted = self.rows[name] * arriving.share if changes else 0.0
        deleted = inserted / 4 if name in arriving.retracting else 0.0
        size = self.row_bytes.get(name, 0.0)
        change = ChangeFacts(
            Figure(inserted + deleted, "declared"),
            size * (inserted + deleted),
            Figure(deleted, "declared"),
        )
        later = instants - 1
        reach = SourceFacts().reach if self.reach is None else Figure(self.reach, "declared")
        rows = Figure(self.rows[name] + later * (inserted - deleted), "declared")
        return SourceFacts(
            rows,
            size * rows.value,
            changes=(change,) * later,
            reach=reach,
            width=self.widths.get(name, 0.0),
            columns=self._columns(name, rows),
        )

    def _columns(self, name: str, rows: Figure) -> Mapping[str, ColumnFacts]:
        if name in self.told:
            return column_facts(self.told[name], self.keys.get(name, ()), rows)
        return {
            column: ColumnFacts(Figure(float(distinct), "declared"))
            for column, distinct in self.distinct.items()
        }

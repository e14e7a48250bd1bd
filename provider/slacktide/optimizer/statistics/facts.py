"""Facts of statistics, each marked by where it comes from.

A figure is *observed* where a run or an arrival has counted it, *declared* where a user has said it, and
a *default* where nobody has: a wide guess, which a reader may see for what it is. What is made of
several figures is as good as the worst of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from types import MappingProxyType
from typing import Final, Literal

Origin = Literal["observed", "declared", "default"]
_WORSE: Final[tuple[Origin, ...]] = ("observed", "declared", "default")

UNKNOWN_ROWS: Final = 1_000_000.0
"""As many rows has a source of which nothing is known."""
UNKNOWN_NULLS: Final = 0.05
"""The share of NULL in a column that may have them."""
UNKNOWN_DISTINCT: Final = 10.0
"""The different values of a computed column: an equality is true of a tenth of the rows."""
UNKNOWN_REACH: Final = 0.5
"""The share of a large table that is read for the keys of a change of which nobody knows how they lie."""
UNKNOWN_SHARE: Final = 0.1
"""The share of a source that comes between two instants, and the share that goes, where nobody knows."""
END: Final = 2
"""The instant at which a single run ends; it starts at instant 1."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that is not negative, and where it comes from."""

    value: float
    origin: Origin = "default"

    def scaled(self, factor: float, *others: Figure) -> Figure:
        """The number times a factor, as good as the worst of itself and others."""
        return Figure(max(self.value * factor, 0.0), worst(self, *others))


def worst(*figures: Figure) -> Origin:
    """Where the least certain of some figures comes from."""
    return max((figure.origin for figure in figures), key=_WORSE.index, default="observed")


def total(figures: Iterable[Figure]) -> Figure:
    """The sum of some figures."""
    found = list(figures)
    return Figure(sum(figure.value for figure in found), worst(*found))


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """The column of a source whose values a column has.

    Attributes:
        source: its name.
        column: the name of the column.
        rows: of the source, so at most as many combinations of its columns.
        key: the declared columns by which its rows are told apart; empty where none are.
    """

    source: str
    column: str
    rows: Figure
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What is known of the values of a column.

    Attributes:
        distinct: how many different values its relation has in all, so of a part or a change of it those
            of the whole: rows meet by that; None where nobody knows.
        low: the least value, as a number; None where nobody knows, or it is none.
        high: the greatest.
        nulls: the share of rows that have NULL.
        covered: of a change, the share of the range of all values in which its own lie, as few ranges; None
            where nobody knows.
        source_column: that it is; None of one that is computed.
        kept: how many different values filters over the column itself have left; None where none has.
    """

    distinct: Figure | None = None
    low: float | None = None
    high: float | None = None
    nulls: Figure = Figure(UNKNOWN_NULLS)
    covered: Figure | None = None
    source_column: SourceColumn | None = None
    kept: Figure | None = None

    @property
    def values(self) -> Figure | None:
        """How many different values rows have, after filters; None where nobody knows."""
        return self.distinct if self.kept is None else self.kept

    @property
    def sure(self) -> Figure | None:
        """The same, where somebody has counted or declared it."""
        return None if self.values is None or self.values.origin == "default" else self.values

    @property
    def ends(self) -> tuple[float, float] | None:
        """The least and the greatest value; None where nobody knows them, or no number says how far they are apart."""
        if self.low is None or self.high is None or not 0.0 <= self.high - self.low < inf:
            return None
        return self.low, self.high


UNKNOWN_COLUMN: Final = ColumnFacts()


def comparable(one: ColumnFacts, other: ColumnFacts) -> tuple[ColumnFacts, ColumnFacts]:
    """What is known of two columns that are compared: how many values filters have left counts where that is known of both.

    Rows of few values meet a part of the other column's: a filter would make a join larger.
    """
    if one.sure is not None and other.sure is not None:
        return one, other
    return replace(one, kept=None), replace(other, kept=None)


@dataclass(frozen=True, slots=True)
class ChangeFacts:
    """What comes to a source between two instants.

    Attributes:
        rows: of the changes, inserts and deletes.
        bytes: of the files of these.
        deleted: how many of the rows take a row away.
        covered: by column, the share of the range of the source's values in which those of the change lie; of
            the columns alone of which that is known.
        files: in how many they are: one for each version.
    """

    rows: Figure
    bytes: float = 0.0
    deleted: Figure = Figure(0.0)
    covered: Mapping[str, Figure] = field(default_factory=lambda: MappingProxyType({}))
    files: float = 1.0

    def scaled(self, factor: float) -> ChangeFacts:
        """So many times as much, over the same share of each range."""
        rows, deleted = self.rows.scaled(factor), self.deleted.scaled(factor)
        size, files = self.bytes * factor, max(self.files * factor, 1.0)
        return replace(self, rows=rows, bytes=size, deleted=deleted, files=files)


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What is known of a source.

    Attributes:
        rows: after all of `changes`.
        bytes: of the files that a snapshot is read from.
        files: how many these are.
        changes: what comes by each instant after the first, in order; of a single run its own alone.
        reach: the share of the source that is read where a change bounds it by ranges of keys.
        width: bytes of a row of all its columns in memory; 0 where nobody knows.
        columns: by name.
        sorted_by: the leading column by which its mirror is sorted; empty where there is none, or no ranges are read of its type.
        key: the declared columns by which its rows are told apart; empty where none are.
    """

    rows: Figure = Figure(UNKNOWN_ROWS)
    bytes: float = 0.0
    files: int = 1
    changes: tuple[ChangeFacts, ...] = ()
    reach: Figure = Figure(UNKNOWN_REACH)
    width: float = 0.0
    columns: Mapping[str, ColumnFacts] = field(default_factory=lambda: MappingProxyType({}))
    sorted_by: str = ""
    key: tuple[str, ...] = ()

    def is_scattered(self, column: str) -> bool:
        """Whether rows of equal values of a column lie anywhere, as they are sorted by another one."""
        return self.sorted_by not in {"", column}

    def change(self, instant: int) -> ChangeFacts:
        """What comes by an instant; a wide guess where nobody knows."""
        if instant - END < len(self.changes):
            return self.changes[instant - END]
        share = UNKNOWN_SHARE * self.rows.value
        return ChangeFacts(Figure(2 * share), 2 * UNKNOWN_SHARE * self.bytes, Figure(share))

    def rows_at(self, instant: int) -> Figure:
        """The rows at an instant: those after all changes, without what comes later."""
        later = self.changes[instant - 1 :]
        grown = sum(change.rows.value - 2 * change.deleted.value for change in later)
        told = [figure for change in later for figure in (change.rows, change.deleted)]
        if instant - END >= len(self.changes):
            told.append(self.change(instant).rows)
        return Figure(max(self.rows.value - grown, 0.0), worst(self.rows, *told))


@dataclass(frozen=True, slots=True)
class Extension:
    """What the newest run that extended a chain read for that, and how many changes it took in, both in rows."""

    read: float
    changes: float


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """What the log knows of a state or an answer: its rows, bytes and files, base and segments.

    Attributes:
        rows: of all pieces.
        bytes: of these.
        files: in how many they are: one for each version.
        extension: by the newest run; None where nothing was added, or nobody knows what that took.
    """

    rows: float
    bytes: float
    files: int = 1
    extension: Extension | None = None


@dataclass(frozen=True, slots=True)
class Statistics:
    """All that is known; without anything it is legal, and all estimates are defaults.

    Attributes:
        sources: by name.
        stored: by chain.
        observed: rows of a relation that past runs have counted, by its digest.
        columns: what is known of the columns of a view, by id, for chains that store them.
    """

    sources: Mapping[str, SourceFacts] = field(default_factory=lambda: MappingProxyType({}))
    stored: Mapping[str, StoredFacts] = field(default_factory=lambda: MappingProxyType({}))
    observed: Mapping[bytes, float] = field(default_factory=lambda: MappingProxyType({}))
    columns: Mapping[int, ColumnFacts] = field(default_factory=lambda: MappingProxyType({}))

    def source(self, name: str) -> SourceFacts:
        """What is known of a source; defaults of one that nobody knows."""
        return self.sources.get(name, SourceFacts())

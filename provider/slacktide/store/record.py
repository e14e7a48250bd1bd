"""Records: what a workspace knows, as plain immutable data.

Fields of type Mapping hold JSON values and are never changed after the record is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from slacktide.store.arrivals import Arrivals, Totals

Json = Any


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """What is known of the values of a column over all rows that files have brought, or that a mirror has left.

    Attributes:
        rows: of the files, those that take rows away included; or of the newest mirror, where that told what is left.
        nulls: how many of these have NULL; None where a file does not say.
        low: the least value as a number, a date as its day, an instant as its day and the part of it that has passed; None
            where it is none of them or not known.
        high: the greatest.
        distinct: about how many different values there are; None where nobody knows.
    """

    rows: int
    nulls: int | None = None
    low: float | None = None
    high: float | None = None
    distinct: float | None = None


MOST_SPANS: Final = 64
"""Arrivals of a source of which it is kept where keys lie: what takes in more reads tables whole, as a rule."""


@dataclass(frozen=True, slots=True)
class KeySpans:
    """Where the values of a column lie in one arrival.

    Attributes:
        count: how many different values there are; None where they were not counted.
        bounds: the least and the greatest value of each of a few ranges, in ascending order; a date as its day.
    """

    count: int | None
    bounds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ArrivalSpans:
    """Where the values of some columns lie in the arrival of a version, by name."""

    version: int
    columns: Mapping[str, KeySpans]


@dataclass(frozen=True, slots=True)
class Source:
    """A relation that changes from outside.

    Attributes:
        schema: its columns, each ``{"name", "type", "nullable"}`` with the type as Spark DDL; one that
            was added later is marked ``"added"``, and NULL where a file lacks it.
        arrivals: reads like a tuple; version v is ``arrivals[v - 1]``.
        skipped: versions left out for good by the user.
        held: new versions are not to be taken.
        complete: the marks up to which all data has come, oldest first.
        epoch: the log number that added or last reset the source; versions compare within one.
        defined: the log number that gave it its columns.
        extra: columns of accepted files that nobody declared, each ``{"name", "type", "version"}``
            with the first version that has it.
        examined: up to this version, rows that do not fit the schema are kept apart and counted.
        quarantined: how many rows of a version are kept apart, by the version as text, where any are.
        statistics: what footers of accepted files tell of columns, by name.
        spans: where keys lie in the newest arrivals, the oldest first; not each arrival has one.
    """

    name: str
    kind: str
    arguments: Mapping[str, Json]
    schema: tuple[Mapping[str, Json], ...]
    arrivals: Arrivals = field(default_factory=Arrivals)
    skipped: frozenset[int] = frozenset()
    held: bool = False
    complete: tuple[str, ...] = ()
    epoch: int = 0
    defined: int = 0
    extra: tuple[Mapping[str, Json], ...] = ()
    examined: int = 0
    quarantined: Mapping[str, int] = field(default_factory=dict)
    statistics: Mapping[str, ColumnStatistics] = field(default_factory=dict)
    spans: tuple[ArrivalSpans, ...] = ()

    @property
    def version(self) -> int:
        """The newest accepted version; 0 is empty."""
        return len(self.arrivals)

    @property
    def key(self) -> tuple[str, ...]:
        """The declared columns by which its rows are told apart; empty where none are."""
        return tuple(self.arguments.get("key") or ())

    @property
    def is_feed(self) -> bool:
        """Whether each of its rows says what change it is."""
        return self.kind == "change-feed"

    @property
    def only_grows(self) -> bool:
        """Whether no row is ever taken away: rows of plain files come, and nothing else."""
        return self.kind == "files" or bool(self.arguments.get("append_only"))

    def totals(self, start: int, end: int) -> Totals:
        """The sums over the arrivals from one version to another that are not left out."""
        found = Totals()
        ends = [skipped - 1 for skipped in sorted(self.skipped) if start < skipped <= end]
        for last, first in zip([*ends, end], [start, *(one + 1 for one in ends)], strict=True):
            found = found.plus(self.arrivals.totals(first, last))
        return found

    def rows_at(self, version: int) -> int | None:
        """Rows of the relation as of a version; None where a file's rows are not known."""
        totals = self.totals(0, version)
        if totals.rows is None or totals.deletes is None:
            return None
        return max(totals.rows - 2 * totals.deletes, 0)


@dataclass(frozen=True, slots=True)
class ForeignKeyRecord:
    """Columns of a source that refer to the key of another, and what was found of that.

    Attributes:
        name: the foreign key as text.
        source: the referring source.
        columns: of it, in the order of `key`.
        target: the source referred to.
        key: columns by which its rows are told apart.
        versions: of both sources, as of which all rows were checked.
        broken: why nothing goes by it, in words; empty where it holds.
        token: the log number that said so; set by the store.
    """

    name: str
    source: str
    columns: tuple[str, ...]
    target: str
    key: tuple[str, ...]
    versions: Mapping[str, int]
    broken: str = ""
    token: int = 0


@dataclass(frozen=True, slots=True)
class FunctionRecord:
    """A function that views may call."""

    name: str
    target: str
    returns: str
    declaration: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Seal:
    """What the end of a file was when it was written.

    Attributes:
        bytes: how many there are up to the end of the file.
        digest: of them.
    """

    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that we wrote; the path is relative to the root of the workspace.

    Attributes:
        seal: by which its end is known again; None where nobody has looked at it, as in a listing.
    """

    path: str
    size: int
    rows: int | None = None
    seal: Seal | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """Signed rows that lead from the previous version vector to `versions`.

    Attributes:
        run: the run that wrote it; of several that were compacted into one, the newest.
        runs: how many runs it tells of.
        read: the rows that were read to make it; None where they were not measured.
    """

    run: int | str
    files: tuple[StoredFile, ...]
    rows: int
    bytes: int
    versions: Mapping[str, int]
    runs: int = 1
    read: int | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """A base and the segments since: a state, a mirror or an answer.

    Attributes:
        id: see `slacktide.common.chain_ids`.
        columns: each ``{"name", "type", "nullable"}``.
        token: the log number of its last change; set by the store.
        origin: the run that wrote it whole; merging its pieces makes it no other one.
        over: by state below it, the `origin` of the one that it was made from; of states that follow from the rows
            of the sources alone, nothing.
    """

    id: str
    columns: tuple[Mapping[str, Json], ...]
    base: Segment | None
    segments: tuple[Segment, ...] = ()
    token: int = 0
    origin: int = 0
    over: Mapping[str, int] = field(default_factory=dict)

    @property
    def versions(self) -> Mapping[str, int] | None:
        """The version vector of the newest segment, or None where nothing is stored."""
        if self.segments:
            return self.segments[-1].versions
        return None if self.base is None else self.base.versions

    def before(self, source: str, version: int) -> Chain | None:
        """What is older than a version of a source; None where nothing is."""
        if self.base is None or self.base.versions[source] >= version:
            return None
        older = tuple(one for one in self.segments if one.versions[source] < version)
        return replace(self, segments=older)


@dataclass(frozen=True, slots=True)
class FormerText:
    """What a view was before another text took its place, as far as readers need it.

    Attributes:
        since: the first run that answered this text.
        run: the last one; it names the chains of the answers and of their changes.
        definition: the view as it was read.
    """

    since: int
    run: int
    definition: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Period:
    """What refreshes of a view have done since its answer, where the next one is due later.

    Attributes:
        turn: how many refreshes there were.
        reached: the version vectors of those that have stored something, oldest first.
        chains: what they have stored; it goes with the next answer.
        seen: the versions up to which the newest of them has looked, whether or not it has stored something.
    """

    turn: int
    reached: tuple[Mapping[str, int], ...] = ()
    chains: tuple[str, ...] = ()
    seen: Mapping[str, int] = field(default_factory=dict)


def policy_of(settings: Mapping[str, Json]) -> str:
    """The policy among the settings of a view."""
    return str(settings.get("policy", "auto"))


@dataclass(frozen=True, slots=True)
class ViewRecord:
    """A view and how far its answer has come.

    Attributes:
        conf: the SQL settings its text was read under.
        definition: the view as read, or empty where it is maintained in full.
        reasons: why it is not incremental, or not in part.
        token: the log number of the last change of its definition or versions.
        versions: the vector of its answer; None before this text has one, and where the next one is made
            anew: after a source was reset, or a version that was taken in was skipped.
        run: the run that wrote the answer.
        states: chains it maintains.
        since: the first run that answered this text; None before it.
        former: what the view was before, oldest first.
        defined: the log number of its text.
        former_versions: how far the last answer had come, by source, while there are no `versions`; without
            sources that were reset since, as versions compare within one epoch.
        forgotten_run: the last run that answered a former text of which nothing is kept; None for none.
        doubted: a foreign key that its answer went by and that does not hold; empty once it is made anew.
        outlived: the Spark and Java that made its answer, where others have taken their place; empty once it is made anew.
        remembers: chains of joins that it keeps besides what its operators need.
        period: what refreshes have done since the answer, where that is due only now and then.
        origins: by state that its answer goes with, the `Chain.origin` of that; None where nobody has noted it. A state
            of its versions and of another origin was made by another query than the answer.
    """

    name: str
    sql: str
    settings: Mapping[str, Json]
    conf: Mapping[str, Json]
    definition: Mapping[str, Json]
    reasons: tuple[Json, ...] = ()
    token: int = 0
    versions: Mapping[str, int] | None = None
    run: int | None = None
    paused: bool = False
    states: tuple[str, ...] = ()
    since: int | None = None
    former: tuple[FormerText, ...] = ()
    defined: int = 0
    former_versions: Mapping[str, int] = field(default_factory=dict)
    forgotten_run: int | None = None
    doubted: str = ""
    outlived: str = ""
    remembers: tuple[str, ...] = ()
    period: Period | None = None
    origins: Mapping[str, int] | None = None

    @property
    def policy(self) -> str:
        """What is told of how it is to be maintained: `auto`, `incremental` or `full`."""
        return policy_of(self.settings)

    @property
    def kept(self) -> tuple[str, ...]:
        """All chains that it keeps: what its operators need, what it remembers, and what its period has stored."""
        stored = () if self.period is None else self.period.chains
        return (*self.states, *self.remembers, *stored)

    @property
    def reached(self) -> Mapping[str, int]:
        """How far its answers have come, of whatever text, or a refresh since: a new one does not go back."""
        if self.versions is None:
            return self.former_versions
        return self.period.reached[-1] if self.period and self.period.reached else self.versions


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run that was committed.

    Attributes:
        report: empty once 200 newer runs are known; `Store.report` reads it from the log then.
        number: the log entry that recorded it.
    """

    run: int
    plan_id: str
    report: Mapping[str, Json]
    number: int

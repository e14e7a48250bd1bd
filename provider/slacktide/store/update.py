"""Updates: all that a log entry may do to a workspace, as one closed union.

The meaning of each stands in `slacktide.store.fold`; the tag that names it on disk stands in
`slacktide.store.serde` and outlives renames of the class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slacktide.store.arrivals import Arrival, PinnedFile
from slacktide.store.record import (
    ArrivalSpans,
    Chain,
    ColumnStatistics,
    ForeignKeyRecord,
    FunctionRecord,
    Json,
    Period,
    Segment,
)


@dataclass(frozen=True, slots=True)
class CreateWorkspace:
    """The first update of entry 0, and of no other."""

    settings: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class AddSource:
    """A new source without arrivals."""

    name: str
    kind: str
    arguments: Mapping[str, Json]
    schema: tuple[Mapping[str, Json], ...]


@dataclass(frozen=True, slots=True)
class DropSource:
    """Remove a source, its mirror and all states that were made from it."""

    name: str


@dataclass(frozen=True, slots=True)
class AcceptArrivals:
    """Append versions to a source."""

    source: str
    arrivals: Sequence[Arrival]


@dataclass(frozen=True, slots=True)
class RepinFiles:
    """Say by which marks accepted files are known now, whose content was found to be what it was."""

    source: str
    files: tuple[PinnedFile, ...]


@dataclass(frozen=True, slots=True)
class NoteColumns:
    """Say which columns that nobody declared the files of a source have, and from which version on."""

    source: str
    columns: tuple[Mapping[str, Json], ...]


@dataclass(frozen=True, slots=True)
class NoteStatistics:
    """Say what is known of columns of a source; of others stays what is known."""

    source: str
    columns: Mapping[str, ColumnStatistics]


@dataclass(frozen=True, slots=True)
class NoteSpans:
    """Say where keys lie in newly accepted arrivals of a source, the oldest first."""

    source: str
    spans: tuple[ArrivalSpans, ...]


@dataclass(frozen=True, slots=True)
class AlterSource:
    """Give a source more columns, at the end of those that it has. Its history stays."""

    name: str
    arguments: Mapping[str, Json]
    schema: tuple[Mapping[str, Json], ...]


@dataclass(frozen=True, slots=True)
class SkipArrival:
    """Leave one version of a source out for good."""

    source: str
    version: int


@dataclass(frozen=True, slots=True)
class ExamineArrivals:
    """Say how many rows of each version were kept apart, as they do not fit the schema.

    Attributes:
        until: all versions up to this one are known now.
        rows: by the version as text, where any are.
    """

    source: str
    until: int
    rows: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class HoldSource:
    """Stop a source, or let it go on."""

    source: str
    held: bool


@dataclass(frozen=True, slots=True)
class MarkComplete:
    """Say that all data of a source up to a point has come."""

    source: str
    until: str


@dataclass(frozen=True, slots=True)
class ResetSource:
    """Forget the history of a source, and with it its mirror and all states made from it.

    Answers made from it stay readable, with `versions` None: the next refresh makes them anew.
    """

    source: str


@dataclass(frozen=True, slots=True)
class AddFunction:
    """A new function."""

    function: FunctionRecord


@dataclass(frozen=True, slots=True)
class DropFunction:
    """Remove a function."""

    name: str


@dataclass(frozen=True, slots=True)
class AddView:
    """A new view without an answer."""

    name: str
    sql: str
    settings: Mapping[str, Json]
    conf: Mapping[str, Json]
    definition: Mapping[str, Json]
    reasons: tuple[Json, ...] = ()
    states: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplaceView:
    """Another text for a view. Readers keep the answers of the former one, until a run answers it."""

    name: str
    sql: str
    settings: Mapping[str, Json]
    conf: Mapping[str, Json]
    definition: Mapping[str, Json]
    reasons: tuple[Json, ...] = ()
    states: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RestateView:
    """Another text, or other settings, for a view that means what it meant: its answer stays."""

    name: str
    sql: str
    settings: Mapping[str, Json]
    conf: Mapping[str, Json]
    definition: Mapping[str, Json]
    reasons: tuple[Json, ...] = ()
    states: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForgetFormer:
    """Forget the answers of a former text of a view, by the last run that answered it."""

    view: str
    run: int


@dataclass(frozen=True, slots=True)
class DropView:
    """Remove a view and its answers; its states stay until they are dropped."""

    name: str


@dataclass(frozen=True, slots=True)
class PauseView:
    """Take a view out of refreshes, or in again. A refresh under way is not disturbed."""

    name: str
    paused: bool


@dataclass(frozen=True, slots=True)
class NoteForeignKeys:
    """Say of foreign keys that they hold as of their versions, or why nothing goes by them any more.

    Answers stay. Tokens are set by the store.
    """

    foreign_keys: tuple[ForeignKeyRecord, ...]


@dataclass(frozen=True, slots=True)
class NoteCalibration:
    """Note what units of work were measured to cost, in place of what was measured before.

    Attributes:
        measured: ``coefficients`` in seconds of CPU by kind of work, and how they were found.
    """

    measured: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class NoteEngine:
    """Say which Spark and Java make answers from now on; what becomes of those that another made is told beside it."""

    engine: str


@dataclass(frozen=True, slots=True)
class DoubtAnswer:
    """Have the next refresh make an answer anew.

    Attributes:
        view: its name.
        foreign_key: by which the answer went and which does not hold; empty where that is not why.
        engine: the one that made the answer, where another has taken its place; empty where that is not why.
    """

    view: str
    foreign_key: str = ""
    engine: str = ""


@dataclass(frozen=True, slots=True)
class SetChain:
    """Write a chain, in place of one that is there; its token is set by the store."""

    chain: Chain


@dataclass(frozen=True, slots=True)
class ExtendChain:
    """Append a segment to a chain."""

    id: str
    segment: Segment


@dataclass(frozen=True, slots=True)
class DropChain:
    """Remove a chain."""

    id: str


@dataclass(frozen=True, slots=True)
class AdvancePeriod:
    """A refresh has left the answer of a view as it is, and this is what has been stored since.

    Attributes:
        view: its name.
        period: with this refresh; None where it was the due one and nothing had changed, so that another begins.
    """

    view: str
    period: Period | None


@dataclass(frozen=True, slots=True)
class AdvanceView:
    """Say how far the answer of a view has come, and by which run.

    Attributes:
        view: its name.
        versions: of each source that the answer is made of.
        run: number of the run.
        remembers: the chains of joins that the view keeps from then on besides what its operators need.
        origins: by state that the answer goes with, the run that has written that one whole; none of an answer that
            was made without states.
    """

    view: str
    versions: Mapping[str, int]
    run: int
    remembers: tuple[str, ...] = ()
    origins: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class RecordRun:
    """Record a run and the plan it executed."""

    run: int
    plan_id: str
    report: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Collect:
    """Move the collection point: no run that began before this entry may commit from now on."""

    point: int


Update = (
    CreateWorkspace
    | AddSource
    | DropSource
    | AcceptArrivals
    | RepinFiles
    | NoteColumns
    | NoteStatistics
    | NoteSpans
    | AlterSource
    | SkipArrival
    | ExamineArrivals
    | HoldSource
    | MarkComplete
    | ResetSource
    | AddFunction
    | DropFunction
    | AddView
    | ReplaceView
    | RestateView
    | ForgetFormer
    | DropView
    | PauseView
    | NoteForeignKeys
    | NoteCalibration
    | NoteEngine
    | DoubtAnswer
    | SetChain
    | ExtendChain
    | DropChain
    | AdvancePeriod
    | AdvanceView
    | RecordRun
    | Collect
)

"""What a run says of itself, per view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload


def ways_without(predicted: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The ways that a run was priced by, without what its period had stored."""
    period = predicted.get("period") or {}
    found: Sequence[Mapping[str, Any]] = period.get("alternatives") or predicted.get(
        "alternatives", ()
    )
    return found


def was_at_work(method: str, actual: Mapping[str, Any] | None) -> bool:
    """Whether a run computed a view, failed over it, or gave up what it had begun, by what its report says of the view."""
    return method != "unchanged" or bool(actual)


@dataclass(frozen=True, slots=True)
class ViewReport:
    """What one run did for one view.

    Attributes:
        method: ``incremental``, ``full``, ``unchanged``, ``states-only`` or ``failed``.
        reasons: codes of why, with their details.
        predicted: cost that the planner expected of the program, and the price of each way that it
            weighed, in seconds of CPU; empty where it cannot tell.
        actual: cost that Spark measured; see `slacktide.spark.measures.cost.Cost`.
        state_bytes: bytes of the states that the view keeps.
        switched: whether the runtime guard changed the method during the run.
        error: code, message and hint where the view failed and others went on.
        versions: versions of the sources that the answer is made of.
        rows: rows of all the view's sources at these versions, where known: what full would read.
    """

    method: str
    reasons: tuple[str, ...] = ()
    predicted: Mapping[str, Any] = field(default_factory=dict)
    actual: Mapping[str, Any] = field(default_factory=dict)
    state_bytes: int = 0
    switched: bool = False
    error: Mapping[str, str] | None = None
    versions: Mapping[str, int] = field(default_factory=dict)
    rows: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the stored form."""
        return {
            "method": self.method,
            "reasons": list(self.reasons),
            "predicted": dict(self.predicted),
            "actual": dict(self.actual),
            "state_bytes": self.state_bytes,
            "switched": self.switched,
            "error": None if self.error is None else dict(self.error),
            "versions": dict(self.versions),
            "rows": self.rows,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> ViewReport:
        """Read the stored form."""
        return cls(**{**document, "reasons": tuple(document["reasons"])})


@dataclass(frozen=True, slots=True)
class CompactionReport:
    """What one run did to a chain whose pieces had grown many.

    Attributes:
        reason: code of why, with the figures.
        first: the first piece that was merged; 0 is the base.
        pieces: how many were.
        predicted: the cost that the planner expected.
        actual: the cost that Spark measured.
        rows: rows before and after; None after an error.
        bytes: the same in bytes.
        error: code, message and hint where it failed; the chain is then as it was.
    """

    reason: str
    first: int
    pieces: int
    predicted: Mapping[str, Any]
    actual: Mapping[str, Any]
    rows: tuple[int, int | None]
    bytes: tuple[int, int | None]
    error: Mapping[str, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the stored form."""
        return {
            "reason": self.reason,
            "first": self.first,
            "pieces": self.pieces,
            "predicted": dict(self.predicted),
            "actual": dict(self.actual),
            "rows": list(self.rows),
            "bytes": list(self.bytes),
            "error": None if self.error is None else dict(self.error),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> CompactionReport:
        """Read the stored form."""
        pairs = {"rows": tuple(document["rows"]), "bytes": tuple(document["bytes"])}
        return cls(**{**document, **pairs})


@dataclass(frozen=True, slots=True)
class MirrorReport:
    """What one run wrote to the mirror of a source, which all views that read the source share.

    Attributes:
        piece: ``base``, all current rows, or ``segment``, what came since the mirror was written last.
        version: the version of the source that the mirror tells of.
        rows: rows of the piece.
        bytes: the same in bytes.
        actual: cost that Spark measured; no view's cost holds it.
    """

    piece: str
    version: int
    rows: int
    bytes: int
    actual: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Give the stored form."""
        return {
            "piece": self.piece,
            "version": self.version,
            "rows": self.rows,
            "bytes": self.bytes,
            "actual": dict(self.actual),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> MirrorReport:
        """Read the stored form."""
        return cls(**document)


@dataclass(frozen=True, slots=True)
class Report:
    """What one run did.

    Attributes:
        run: number of the run; None when there was nothing to do, and so nothing was committed.
        plan_id: the plan that was executed.
        versions: the newest version of each source that the run took in.
        started: instant in UTC, ISO 8601.
        ended: the same.
        views: by name of the view.
        compactions: by chain, what was done to those whose pieces had grown many.
        notices: in words, what its plan has noticed; see `Plan`.
        sinks: by name, the views whose answers were published after the commit, or should have been:
            ``path``, and ``error`` with code, message and hint. The log does not hold it.
        quarantined: rows that did not fit the schema and were kept apart by this run, by source.
        mirrors: by source, what was written to its mirror.
        asked: cost of what the run asked of Spark without writing it, which no view's cost holds: whether
            foreign keys go on to hold, what became of keys, which rows of text files do not fit.
    """

    run: int | None
    plan_id: str
    versions: Mapping[str, int]
    started: str
    ended: str
    views: Mapping[str, ViewReport]
    compactions: Mapping[str, CompactionReport] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    sinks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    quarantined: Mapping[str, int] = field(default_factory=dict)
    mirrors: Mapping[str, MirrorReport] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Give the stored form."""
        return {
            "run": self.run,
            "plan_id": self.plan_id,
            "versions": dict(self.versions),
            "started": self.started,
            "ended": self.ended,
            "views": {name: view.to_dict() for name, view in self.views.items()},
            "compactions": {chain: done.to_dict() for chain, done in self.compactions.items()},
            "notices": list(self.notices),
            "sinks": {name: dict(sink) for name, sink in self.sinks.items()},
            "quarantined": dict(self.quarantined),
            "mirrors": {source: mirror.to_dict() for source, mirror in self.mirrors.items()},
            "asked": dict(self.asked),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Report:
        """Read the stored form."""
        views = {name: ViewReport.from_dict(view) for name, view in document["views"].items()}
        given = document.get("compactions", {})
        compactions = {chain: CompactionReport.from_dict(done) for chain, done in given.items()}
        written = document.get("mirrors", {})
        stored = {
            "views": views,
            "compactions": compactions,
            "notices": tuple(document.get("notices", ())),
            "mirrors": {name: MirrorReport.from_dict(mirror) for name, mirror in written.items()},
        }
        return cls(**{**document, **stored})


class History(Sequence[Report]):
    """Reports of runs, oldest first; each is read when it is looked at.

    Args:
        runs: their numbers.
        read: gives the report of one.
    """

    def __init__(self, runs: Sequence[int], read: Callable[[int], Mapping[str, Any]]) -> None:
        self._runs = runs
        self._read = read

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, index: int) -> Report: ...
    @overload
    def __getitem__(self, index: slice) -> History: ...
    def __getitem__(self, index: int | slice) -> Report | History:
        if isinstance(index, slice):
            return History(self._runs[index], self._read)
        return Report.from_dict(self._read(self._runs[index]))

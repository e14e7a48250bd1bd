"""Comparing stored answers with a batch run over the same versions, as multisets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from slacktide.algebra.relation import Aggregate, Window
from slacktide.algebra.types import has_floating
from slacktide.algebra.view import ReadView
from slacktide.common.clock import parse_instant
from slacktide.common.tree import of_type
from slacktide.engine.answers.instants import instant_of
from slacktide.engine.answers.reading import stored_columns
from slacktide.engine.checking.matching import Magnitudes, unmatched
from slacktide.engine.checking.ties import is_legal_cut
from slacktide.engine.definitions.expansion import query_of, views_below
from slacktide.engine.intake.pinning import check_windows, snapshot_windows
from slacktide.engine.planning.mirrors_due import mirror_versions
from slacktide.engine.work import is_of_all
from slacktide.errors import SlacktideError, SourceError
from slacktide.store.record import ViewRecord
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession
    from slacktide.spark.sessions.shelf import Shelves
    from slacktide.spark.verification.comparison import Comparison, Plain
    from slacktide.store.store import Store

_SAMPLE = 5


@dataclass(frozen=True, slots=True)
class ViewVerification:
    """How one answer compares.

    Attributes:
        equal: the same schema and the same bag.
        missing: rows that batch has and the answer has not; of those that were looked at.
        extra: rows that the answer has and batch has not; of those that were looked at.
        is_cut: whether more rows differ than were looked at, so that doubles which differ in their last digits
            alone are counted, too.
        sample: some of these rows, each with its sign: positive for extra.
        schema: how the schemas differ; empty where they do not.
        batch: what the batch run cost.
        incomparable: why rows were not compared, in words: a query that gives other rows each time
            it runs has no answer to compare with, nor has one of an instant that is not known. Empty
            where they were.
        error: code, message and hint where the batch run, or reading the answer, failed; it is not equal then.
    """

    equal: bool
    missing: int
    extra: int
    sample: tuple[Mapping[str, Any], ...] = ()
    schema: str = ""
    batch: Mapping[str, Any] = field(default_factory=dict)
    incomparable: str = ""
    is_cut: bool = False
    error: Mapping[str, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the form that is printed."""
        return {
            "equal": self.equal,
            "missing": self.missing,
            "extra": self.extra,
            "is_cut": self.is_cut,
            "sample": [{key: str(value) for key, value in row.items()} for row in self.sample],
            "schema": self.schema,
            "batch": dict(self.batch),
            "incomparable": self.incomparable,
            "error": None if self.error is None else dict(self.error),
        }


@dataclass(frozen=True, slots=True)
class Verification:
    """How the answers of a workspace compare, by view."""

    views: Mapping[str, ViewVerification]

    @property
    def equal(self) -> bool:
        """Whether all are equal."""
        return all(view.equal for view in self.views.values())

    def to_dict(self) -> dict[str, Any]:
        """Give the form that is printed."""
        views = {name: view.to_dict() for name, view in self.views.items()}
        return {"equal": self.equal, "views": views}


class Verifier:
    """Verifies the answers of one world."""

    def __init__(self, store: Store, world: World, spark: SparkSession, plain: Plain) -> None:
        self._store = store
        self._world = world
        self._spark = spark
        self._plain = plain
        self._mirrors = mirror_versions(world)

    def verify(self, names: Sequence[str]) -> Verification:
        """Compare the answers of some views; those without an answer are left out.

        What fails for one view is told of it, and the others are compared.

        Raises:
            SourceError: a file that batch would read is not as it was accepted.
            StorageError: a mirror that batch would read is damaged, or the store cannot be reached.
        """
        from slacktide.spark.sessions.shelf import Shelves

        shelves = Shelves(self._spark, self._store.spark_settings)
        records = [self._world.views[name] for name in names]
        answered = [record for record in records if record.versions]
        self._check_pinned(record for record in answered if not self._lags(record))
        return Verification({record.name: self._told(record, shelves) for record in answered})

    def _lags(self, record: ViewRecord) -> bool:
        """Whether an answer is older than a mirror, so that batch reads files which may have been removed since."""
        versions = record.versions or {}
        return any(self._mirrors.get(name, 0) > version for name, version in versions.items())

    def _check_pinned(self, records: Iterable[ViewRecord]) -> None:
        """Check that what batch reads is what was accepted."""
        read = [
            {n: at for n, at in (record.versions or {}).items() if n not in self._plain.sources}
            for record in records
            if record.name not in self._plain.answers
        ]
        windows = [one for versions in read for one in snapshot_windows(self._world, versions)]
        check_windows(self._store, self._world, windows)

    def _told(self, record: ViewRecord, shelves: Shelves) -> ViewVerification:
        lags = self._lags(record)
        try:
            if lags:
                self._check_pinned([record])
            return self._one(record, shelves)
        except SourceError as error:
            if not lags:
                raise
            hint = (
                "its answer is older than what is kept of the source: refresh it, then verify again"
            )
            return _failed({**error.to_dict(), "hint": hint})
        except SlacktideError as error:
            if is_of_all(error):
                raise
            return _failed(error.to_dict())

    def _one(self, record: ViewRecord, shelves: Shelves) -> ViewVerification:
        from slacktide.spark.verification.comparison import Comparison

        view = ReadView.from_dict(record.definition)
        query = query_of(record.sql, view, views_below(self._world, record))
        comparison = Comparison(shelves, self._store, self._world, view, self._plain)
        told = instant_of(self._store, self._world, record)
        now = None if told is None else parse_instant(told)
        why = _incomparable(record, view, now)
        if why:
            schema = comparison.schema(record.name, query)
            return ViewVerification(not schema, 0, 0, schema=schema, incomparable=why)
        columns = stored_columns(view)
        found = comparison.differences(
            record.name, query, columns, dict(record.versions or {}), now
        )
        rows = found.rows
        if rows and not found.is_cut:
            rows = unmatched(rows, _inexact(view))
            if rows and any(_inexact(view)):
                rows = unmatched(rows, _inexact(view), _magnitudes(comparison, record, view, rows))
        if rows and _is_free_choice(comparison, record, view):
            rows = []
        extra = sum(weight for *_, weight in rows if weight > 0)
        missing = -sum(weight for *_, weight in rows if weight < 0)
        names = [column.name for column in view.outputs]
        sample = tuple({**dict(zip(names, row, strict=False)), "__m": row[-1]} for row in rows)
        return ViewVerification(
            equal=not rows and not found.schema,
            missing=missing,
            extra=extra,
            sample=sample[:_SAMPLE],
            schema=found.schema,
            batch=found.cost.to_dict(),
            is_cut=found.is_cut,
        )


def _failed(error: Mapping[str, Any]) -> ViewVerification:
    return ViewVerification(equal=False, missing=0, extra=0, error=error)


def _incomparable(record: ViewRecord, view: ReadView, now: datetime | None) -> str:
    """Say why the answer of a view cannot be compared with another run of its text; empty where it can."""
    if not view.deterministic:
        return "; ".join(reason.sentence for reason in view.reasons)
    if view.clock and now is None:
        return f"the text asks for the time, and the instant of run {record.run} is not kept"
    return ""


def _is_free_choice(comparison: Comparison, record: ViewRecord, view: ReadView) -> bool:
    """Whether a LIMIT may choose what the answer has instead of what batch chose."""
    from slacktide.spark.texts.ties import cut_of

    cut = None if view.relation is None else cut_of(view.relation)
    if cut is None:
        return False
    versions = dict(record.versions or {})
    choice = comparison.choice(record.name, cut, stored_columns(view), versions)
    if choice is None:
        return False
    return is_legal_cut(choice.answer, choice.ranked, choice.sizes, cut.first, cut.last)


def _magnitudes(
    comparison: Comparison, record: ViewRecord, view: ReadView, rows: list[tuple[Any, ...]]
) -> Magnitudes:
    from slacktide.spark.verification.magnitudes import magnified

    larger = None if view.relation is None else magnified(view.relation)
    if larger is None:
        return Magnitudes()
    found: dict[tuple[str, ...], list[float]] = {}
    width = len(view.outputs)
    for row in comparison.magnitudes(record.name, larger, dict(record.versions or {}), rows):
        key, sizes = tuple(map(repr, row[:-width])), row[-width:]
        known = found.setdefault(key, [math.inf] * width)
        # Groups that nothing tells apart are all given the least.
        found[key] = [min(a, b or 0.0) for a, b in zip(known, sizes, strict=True)]
    return Magnitudes(comparison.plain(), found)


def _inexact(view: ReadView) -> list[bool]:
    """Which columns hold doubles, or values with doubles in them, that an aggregate may have added up in another order."""
    adds = view.relation is None or any(of_type(view.relation, (Aggregate, Window)))
    return [adds and has_floating(column.type) for column in view.outputs]

"""What the updates of sources do."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slacktide.errors import InvariantError
from slacktide.store import update as u
from slacktide.store.fold.draft import Draft, Steps, free, known
from slacktide.store.fold.forgetting import (
    forget,
    forget_foreign_keys,
    forget_history,
    was_taken_in,
)
from slacktide.store.fold.reading import unread
from slacktide.store.record import MOST_SPANS, Source


def _add_source(draft: Draft, number: int, update: u.AddSource) -> None:
    free("source", update.name, draft.seen().relation(update.name))
    draft.sources[update.name] = Source(
        update.name,
        update.kind,
        update.arguments,
        update.schema,
        epoch=number,
        defined=number,
    )


def _alter_source(draft: Draft, number: int, update: u.AlterSource) -> None:
    source = known(draft.sources, "source", update.name)
    if list(update.schema[: len(source.schema)]) != list(source.schema):
        raise InvariantError(f"an update gives source {source.name} other columns than it has")
    names = {column["name"] for column in update.schema}
    draft.sources[source.name] = replace(
        source,
        arguments=update.arguments,
        schema=update.schema,
        extra=tuple(column for column in source.extra if column["name"] not in names),
        defined=number,
    )


def _drop_source(draft: Draft, number: int, update: u.DropSource) -> None:
    known(draft.sources, "source", update.name)
    unread(draft, "source", update.name)
    forget_history(draft, number, update.name)
    del draft.sources[update.name]


def _accept(draft: Draft, _: int, update: u.AcceptArrivals) -> None:
    source = known(draft.sources, "source", update.source)
    draft.sources[source.name] = replace(source, arrivals=source.arrivals.appended(update.arrivals))


def _repin(draft: Draft, _: int, update: u.RepinFiles) -> None:
    source = known(draft.sources, "source", update.source)
    arrivals = source.arrivals.repinned(update.files)
    draft.sources[source.name] = replace(source, arrivals=arrivals)


def _note(draft: Draft, _: int, update: u.NoteColumns) -> None:
    source = known(draft.sources, "source", update.source)
    seen = {(column["name"], column["type"]) for column in source.extra}
    fresh = tuple(c for c in update.columns if (c["name"], c["type"]) not in seen)
    draft.sources[source.name] = replace(source, extra=source.extra + fresh)


def _note_statistics(draft: Draft, _: int, update: u.NoteStatistics) -> None:
    source = known(draft.sources, "source", update.source)
    statistics = {**source.statistics, **update.columns}
    draft.sources[source.name] = replace(source, statistics=statistics)


def _note_spans(draft: Draft, _: int, update: u.NoteSpans) -> None:
    source = known(draft.sources, "source", update.source)
    spans = (*source.spans, *update.spans)[-MOST_SPANS:]
    draft.sources[source.name] = replace(source, spans=spans)


def _skip(draft: Draft, number: int, update: u.SkipArrival) -> None:
    source = known(draft.sources, "source", update.source)
    if not 1 <= update.version <= source.version:
        raise InvariantError(
            f"an update skips version {update.version} of source {source.name}, "
            f"which has {source.version}"
        )
    draft.sources[source.name] = replace(source, skipped=source.skipped | {update.version})
    forget_foreign_keys(draft, source.name, update.version)
    if was_taken_in(draft, source.name, update.version):
        forget(draft, number, source.name, since=update.version)


def _examine(draft: Draft, _: int, update: u.ExamineArrivals) -> None:
    source = known(draft.sources, "source", update.source)
    if update.until > source.version:
        raise InvariantError(
            f"an update examines version {update.until} of source {source.name}, "
            f"which has {source.version}"
        )
    draft.sources[source.name] = replace(
        source,
        examined=max(source.examined, update.until),
        quarantined={**source.quarantined, **update.rows},
    )


def _hold(draft: Draft, _: int, update: u.HoldSource) -> None:
    source = known(draft.sources, "source", update.source)
    draft.sources[source.name] = replace(source, held=update.held)


def _complete(draft: Draft, _: int, update: u.MarkComplete) -> None:
    source = known(draft.sources, "source", update.source)
    if update.until not in source.complete:
        complete = (*source.complete, update.until)
        draft.sources[source.name] = replace(source, complete=complete)


def _reset(draft: Draft, number: int, update: u.ResetSource) -> None:
    source = known(draft.sources, "source", update.source)
    forget_history(draft, number, source.name)
    draft.sources[source.name] = Source(
        source.name,
        source.kind,
        source.arguments,
        source.schema,
        held=source.held,
        epoch=number,
        defined=source.defined,
    )


STEPS: Final[Steps] = {
    u.AddSource: _add_source,
    u.DropSource: _drop_source,
    u.AcceptArrivals: _accept,
    u.RepinFiles: _repin,
    u.NoteColumns: _note,
    u.NoteStatistics: _note_statistics,
    u.NoteSpans: _note_spans,
    u.AlterSource: _alter_source,
    u.SkipArrival: _skip,
    u.ExamineArrivals: _examine,
    u.HoldSource: _hold,
    u.MarkComplete: _complete,
    u.ResetSource: _reset,
}

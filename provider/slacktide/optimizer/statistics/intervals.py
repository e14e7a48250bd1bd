"""What is known over several intervals, as what is known over one of them or over all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from slacktide.optimizer.statistics.facts import ChangeFacts, SourceFacts, Statistics, total


def united(statistics: Statistics, first: int = 0) -> Statistics:
    """Take intervals from one on for a single one: what comes in them comes at once."""

    def of(source: SourceFacts) -> SourceFacts:
        changes = source.changes
        return replace(source, changes=(*changes[:first], together(changes[first:])))

    return _mapped(statistics, of)


def newest(statistics: Statistics) -> Statistics:
    """Leave out what came before the last interval: a run has of a source what came since the one before."""
    return _mapped(statistics, lambda source: replace(source, changes=source.changes[-1:]))


def before_last(statistics: Statistics) -> Statistics:
    """Leave out the last interval, and what it brings."""

    def of(source: SourceFacts) -> SourceFacts:
        instants = len(source.changes)
        size = max(source.bytes - source.changes[-1].bytes, 0.0)
        return replace(
            source, rows=source.rows_at(instants), bytes=size, changes=source.changes[:-1]
        )

    return _mapped(statistics, of)


def together(changes: Sequence[ChangeFacts]) -> ChangeFacts:
    """Several changes as one."""
    return ChangeFacts(
        rows=total(change.rows for change in changes),
        bytes=sum(change.bytes for change in changes),
        deleted=total(change.deleted for change in changes),
        files=sum(change.files for change in changes),
    )


def _mapped(statistics: Statistics, of: Callable[[SourceFacts], SourceFacts]) -> Statistics:
    return replace(
        statistics, sources={name: of(known) for name, known in statistics.sources.items()}
    )

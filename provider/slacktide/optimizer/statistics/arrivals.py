"""What will arrive, by what has: a model of recurring intervals (tempura.md §5, statistics).

Runs recur: what comes by 14:00 today is like what came by 14:00 on the days before, newer days more so. An interval is
expected to bring the weighted mean of its past, and to take rows away at the weighted rate of its past. A figure
of the past is what a source's log has counted; where there is none, the wide guess of `SourceFacts` stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from slacktide.errors import InvalidSettingError
from slacktide.optimizer.statistics.facts import ChangeFacts, Figure, SourceFacts, worst

FADING: Final = 0.7
"""What a period weighs, of what the one after it weighs."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """What came to a source in one interval.

    Attributes:
        rows: of the changes, inserts and deletes.
        deleted: how many of the rows take a row away.
        bytes: of the files of these.
        files: how many they are: one for each version.
    """

    rows: float
    deleted: float = 0.0
    bytes: float = 0.0
    files: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.deleted <= self.rows:
            raise InvalidSettingError(
                f"{self.deleted:g} of {self.rows:g} rows take one away",
                hint="the rows of a change are its inserts and its deletes",
            )


def expected(periods: Sequence[Sequence[Arrived]]) -> tuple[ChangeFacts, ...]:
    """What each interval of the next period brings.

    Args:
        periods: of the past, the oldest first; each has its intervals in order, the last one maybe not all.
    """
    intervals = max(map(len, periods), default=0)
    return tuple(_interval(periods, place) for place in range(intervals))


def _interval(periods: Sequence[Sequence[Arrived]], place: int) -> ChangeFacts:
    past = [period[place] for period in reversed(periods) if place < len(period)]
    weights = [FADING**age for age in range(len(past))]

    def mean(of: Callable[[Arrived], float]) -> float:
        return sum(w * of(one) for w, one in zip(weights, past, strict=True)) / sum(weights)

    return ChangeFacts(
        rows=Figure(mean(lambda one: one.rows), "observed"),
        bytes=mean(lambda one: one.bytes),
        deleted=Figure(mean(lambda one: one.deleted), "observed"),
        files=mean(lambda one: one.files),
    )


def foreseen(now: SourceFacts, changes: Sequence[ChangeFacts]) -> SourceFacts:
    """What is known of a source after changes that have not come yet.

    Args:
        now: what is known of it at the first instant; its own changes are none of the plan's.
        changes: that are expected by each later instant.
    """
    grown = sum(change.rows.value - 2 * change.deleted.value for change in changes)
    told = [figure for change in changes for figure in (change.rows, change.deleted)]
    rows = Figure(max(now.rows.value + grown, 0.0), worst(now.rows, *told))
    size = now.bytes + sum(change.bytes for change in changes)
    return replace(now, rows=rows, bytes=size, changes=tuple(changes))

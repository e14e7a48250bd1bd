"""What the planner is told of a view whose answer is due only now and then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from statistics import median
from typing import Final

from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.engine.definitions.goal_setting import weights_of
from slacktide.engine.planning.knowledge import Knowledge, current_joins
from slacktide.engine.planning.lessons import off_by
from slacktide.engine.planning.sizes import changed_rows, deleted_rows
from slacktide.optimizer.periods.progress import Progress
from slacktide.optimizer.programs.join_bags import present
from slacktide.optimizer.statistics import ChangeFacts, SourceFacts, Statistics
from slacktide.optimizer.statistics.arrivals import Arrived, expected, foreseen
from slacktide.optimizer.statistics.intervals import together
from slacktide.optimizer.ways.situation import Situation
from slacktide.store.record import Period, Source, ViewRecord

VersionVector = Mapping[str, int]

PERIODS: Final = 4
"""Newest periods whose refreshes tell how far off the model is of such."""


def progress_of(
    known: Knowledge,
    record: ViewRecord,
    view: ReadView,
    end: VersionVector,
    facts: Statistics,
    *,
    is_due: bool = False,
) -> Progress | None:
    """Where a view stands between two answers; None where each refresh answers, or there is no answer yet.

    Args:
        known: what the log teaches.
        record: of the view.
        view: as read.
        end: the versions up to which the refresh at hand goes.
        facts: what is known as of these, whatever the intervals.
        is_due: whether it answers wherever the period stands.
    """
    weights = weights_of(record.settings)
    if not weights or record.versions is None:
        return None
    period = record.period or Period(0)
    if not known.world.chains.keys() >= {*period.chains}:
        period = Period(period.turn)  # a file was damaged, or a source was reset
    turn = len(weights) if is_due else period.turn + 1
    reached = (dict(record.versions), *map(dict, period.reached))
    instants = [*reached, end]
    sources = {name: Past(known.world.sources[name], facts.source(name)) for name in view.sources}
    told = {name: past.over(instants) for name, past in sources.items()}
    if turn < len(weights):
        past_periods = _periods(known, record, len(weights))
        told = {
            name: followed(told[name], past.rest(past_periods, instants, turn, len(weights)))
            for name, past in sources.items()
        }
    return Progress(
        weights=weights,
        turn=turn,
        period=f"{record.name}@{record.run}",
        reached=reached,
        stored=period.chains,
        keeps=(*record.states, *current_joins(known.world, record)),
        statistics=replace(facts, sources=told),
        off=how_far_off(known, record, len(weights)),
        quiet=frozenset(
            (name, instant)
            for instant, (start, until) in enumerate(pairwise(instants), 2)
            for name in view.sources
            if start[name] == until[name]
        ),
    )


def imagined_progress(
    record: ViewRecord,
    view: ReadView,
    weights: tuple[Fraction, ...],
    so_far: Situation,
    rest: Statistics,
    off: float | None,
) -> Progress:
    """Where a view would stand at the refresh before the due one, had nothing been stored by then.

    Args:
        record: of the view.
        view: as read.
        weights: of the refreshes of a period.
        so_far: a run that takes in what has come since the answer.
        rest: what comes until the answer is due.
        off: as of `Progress`.
    """
    known = so_far.statistics
    told = {
        name: replace(
            known.source(name),
            changes=(*known.source(name).changes, *rest.source(name).changes),
        )
        for name in view.sources
    }
    start, end = so_far.start, so_far.end
    return Progress(
        weights=weights,
        turn=len(weights) - 1,
        period=f"{record.name}@{record.run}",
        reached=(start,),
        stored=(),
        keeps=(*record.states, *present(record.remembers, start, so_far.states)),
        statistics=replace(known, sources=told),
        quiet=frozenset((name, 2) for name in view.sources if start[name] == end[name]),
        off=off,
    )


@dataclass(frozen=True, slots=True)
class Past:
    """What has come to a source, interval by interval.

    Attributes:
        source: with its arrivals.
        facts: what is known of it now.
    """

    source: Source
    facts: SourceFacts

    def over(self, instants: Sequence[VersionVector]) -> SourceFacts:
        """What is known of it over several intervals."""
        return replace(self.facts, changes=tuple(map(_facts, self.intervals(instants))))

    def intervals(self, instants: Sequence[VersionVector]) -> list[Arrived]:
        """What came in each interval."""
        name = self.source.name
        return [self._arrived(one[name], other[name]) for one, other in pairwise(instants)]

    def rest(
        self,
        periods: Sequence[list[VersionVector]],
        now: Sequence[VersionVector],
        turn: int,
        of: int,
    ) -> ChangeFacts:
        """What comes after a refresh until the due one, as in the periods before.

        Where there were none, as much in each refresh to come as in those of this period so far.

        Args:
            periods: versions at the ends of the intervals of each.
            now: the same of this period.
            turn: the place of the refresh in its period.
            of: how many refreshes a period has.
        """
        name = self.source.name
        seen = [self.intervals(one) for one in periods if all(name in ends for ends in one)]
        if seen:
            return together(expected(seen)[turn:])
        so_far = together([_facts(one) for one in self.intervals(now)])
        return so_far.scaled((of - turn) / turn)

    def _arrived(self, start: int, end: int) -> Arrived:
        totals = self.source.totals(start, end)
        whole = self.source.totals(0, self.source.version)
        rows = changed_rows(totals.rows, totals.bytes, whole.bytes, self.facts.rows)
        deleted = min(deleted_rows(self.source, totals.deletes, rows).value, rows.value)
        return Arrived(rows.value, deleted, float(totals.bytes), float(end - start))


def followed(facts: SourceFacts, later: ChangeFacts) -> SourceFacts:
    """What is known of a source with one more interval, which has not come yet."""
    return replace(foreseen(facts, [later]), changes=(*facts.changes, later))


def how_far_off(known: Knowledge, record: ViewRecord, of: int) -> float | None:
    """How far off the model was of refreshes of periods of the present text: the median of those in the newest `PERIODS`.

    Where they were dear, none comes that could tell that they no longer are: so older ones are forgotten.

    Args:
        known: what the log teaches.
        record: of the view.
        of: how many refreshes a period has.
    """
    since = record.since or 0
    told = [
        views[record.name]
        for number, views in known.told
        if number >= since and record.name in views
    ]
    found = [off_by(one, known.coefficients) for one in told[-PERIODS * of :]]
    seen = [off for off in found if off is not None]
    return median(seen) if seen else None


def _periods(known: Knowledge, record: ViewRecord, of: int) -> list[list[VersionVector]]:
    """The versions at the ends of the intervals of whole periods of the present text, the oldest first."""
    found: list[list[VersionVector]] = []
    ends: list[VersionVector] = []
    for number, views in known.told:
        told = views.get(record.name)
        if told is None or number < (record.since or 0) or told.get("method") == "failed":
            continue
        at = known.world.runs[number].report.get("versions") or {}
        if ends and any(at.get(name, 0) < version for name, version in ends[-1].items()):
            found, ends = [], []  # a source was reset: its versions compare with none before
        ends.append(at)
        if not any(Reason.parse(one).code == "NOT_DUE" for one in told.get("reasons", ())):
            if len(ends) == of + 1:
                found.append(ends)
            ends = ends[-1:]
    return found


def _facts(arrived: Arrived) -> ChangeFacts:
    return expected([[arrived]])[0]

"""What the planner is told of a view whose answer is due only now and then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from slacktide.algebra.view import ReadView
from slacktide.engine.goal_setting import weights_of
from slacktide.engine.knowledge import Knowledge
from slacktide.optimizer.progress import Progress
from slacktide.optimizer.statistics import ChangeFacts, SourceFacts
from slacktide.optimizer.statistics.arrivals import Arrived, expected, foreseen
from slacktide.optimizer.statistics.intervals import together
from slacktide.store.record import Period, Source, ViewRecord
from slacktide.store.world import World

Vector = Mapping[str, int]


def progress_of(
    known: Knowledge, record: ViewRecord, view: ReadView, end: Vector
) -> Progress | None:
    """Where a view stands between two answers; None where each refresh answers, or there is no answer yet.

    Args:
        known: what the log teaches.
        record: of the view.
        view: as read.
        end: the versions up to which the refresh at hand goes.
    """
    weights = weights_of(record.settings)
    if not weights or record.versions is None:
        return None
    period = record.period or Period(0)
    if not known.world.chains.keys() >= {*period.chains}:
        period = Period(period.turn)  # a file was damaged, or a source was reset
    turn = period.turn + 1
    reached = (dict(record.versions), *map(dict, period.reached))
    instants = [*reached, end]
    facts = known.statistics(view, reached[-1], end)
    is_due = turn >= len(weights)
    later = {} if is_due else _expected(known.world, record, view, turn, len(weights), end)
    return Progress(
        weights=weights,
        turn=turn,
        period=f"{record.name}@{record.run}",
        reached=reached,
        stored=period.chains,
        keeps=(*record.states, *record.remembers),
        statistics=replace(
            facts,
            sources={
                name: _over(known.world.sources[name], source, instants, later.get(name))
                for name, source in facts.sources.items()
            },
        ),
    )


def _over(
    source: Source, facts: SourceFacts, instants: Sequence[Vector], later: ChangeFacts | None
) -> SourceFacts:
    """What is known of a source over several intervals, and one that is to come."""
    spans = pairwise(versions[source.name] for versions in instants)
    changes = [_facts(_arrived(source, *span)) for span in spans]
    whole = replace(facts, changes=tuple(changes))
    if later is None:
        return whole
    return replace(foreseen(whole, [later]), changes=(*changes, later))


def _expected(
    world: World, record: ViewRecord, view: ReadView, turn: int, of: int, end: Vector
) -> dict[str, ChangeFacts]:
    """What comes to each source after a refresh until the due one, as in the periods before.

    Where there were none, as much in each refresh to come as in those of this period so far.
    """
    past = list(_periods(world, record, of))
    found: dict[str, ChangeFacts] = {}
    for name in view.sources:
        source = world.sources[name]
        seen = [
            [_arrived(source, *span) for span in pairwise(one[name] for one in period)]
            for period in past
            if all(name in one for one in period)
        ]
        if seen:
            found[name] = together(expected(seen)[turn:])
        else:
            here = _facts(_arrived(source, (record.versions or {}).get(name, 0), end[name]))
            found[name] = _scaled(here, (of - turn) / turn)
    return found


def _periods(world: World, record: ViewRecord, of: int) -> Iterator[list[Vector]]:
    """The versions at the ends of the intervals of whole periods of the present text, the oldest first."""
    ends: list[Vector] = []
    for number, run in sorted(world.runs.items()):
        told = (run.report.get("views") or {}).get(record.name)
        if told is None or number < (record.since or 0) or told.get("method") == "failed":
            continue
        ends.append(run.report.get("versions") or {})
        if not any(reason.startswith("NOT_DUE") for reason in told.get("reasons", ())):
            if len(ends) == of + 1:
                yield ends
            ends = ends[-1:]


def _arrived(source: Source, start: int, end: int) -> Arrived:
    totals = source.arrivals.totals(start, end)
    rows = float(totals.rows or 0)
    return Arrived(rows, min(float(totals.deletes or 0), rows), float(totals.bytes))


def _facts(arrived: Arrived) -> ChangeFacts:
    return expected([[arrived]])[0]


def _scaled(change: ChangeFacts, factor: float) -> ChangeFacts:
    return ChangeFacts(
        change.rows.scaled(factor), change.bytes * factor, change.deleted.scaled(factor)
    )

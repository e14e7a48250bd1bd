"""What a run would be told in other circumstances, for those who ask what it would cost.

The change that is reckoned with is what waits to be taken in; where nothing does, what the last run of the
view took in, as if it came again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slacktide.algebra.view import ReadView
from slacktide.engine.definitions.goal_setting import weights_of
from slacktide.engine.planning.foreign_keys import foreign_keys_at
from slacktide.engine.planning.how_far import next_ends
from slacktide.engine.planning.knowledge import Knowledge
from slacktide.engine.planning.situating import situation_of
from slacktide.optimizer.plan import Versions
from slacktide.optimizer.statistics import SourceFacts
from slacktide.optimizer.ways.situation import Situation
from slacktide.store.record import ViewRecord


def next_situation(
    knowledge: Knowledge, record: ViewRecord, view: ReadView, policy: str
) -> Situation | None:
    """What the next run of a view is told; None where nothing has come, and nobody knows what comes.

    Of a view whose answer is due only now and then, a run that takes in what comes from one refresh to the next.

    Args:
        knowledge: what the log teaches.
        record: of the view.
        view: as read.
        policy: that it would have.
    """
    window = _window(knowledge, record, view)
    if window is None:
        return None
    since, until, refreshes = window
    told = _situation(knowledge, record, view, policy, (since, until))
    return at_pace(told, refreshes) if refreshes > 1 else told


def at_pace(situation: Situation, pace: float) -> Situation:
    """The same run with the change of a shorter time, or a longer one."""
    if not situation.start:
        return situation
    statistics = situation.statistics
    scaled = {name: _scaled(facts, 1.0 / pace) for name, facts in statistics.sources.items()}
    evidence = situation.evidence
    changed = None if evidence.changed is None else round(evidence.changed / pace)
    return replace(
        situation,
        share=situation.share / pace,
        statistics=replace(statistics, sources=scaled),
        evidence=replace(evidence, changed=changed),
    )


def _window(
    knowledge: Knowledge, record: ViewRecord, view: ReadView
) -> tuple[Versions, Versions, int] | None:
    """From where to where an answer takes in, and in how many refreshes: what waits, or else what the last one took in."""
    start, ends = dict(record.versions or {}), next_ends(knowledge.world, [record])
    newest = {name: max(ends[name], start.get(name, 0)) for name in view.sources}
    if start != newest:
        return start, newest, 1 + (record.period.turn if record.period else 0)
    since = record.since or 0
    told = (views.get(record.name) for run, views in knowledge.told if run >= since)
    taken = [one["versions"] for one in told if one is not None and _answers(one)]
    if len(taken) < 2 or not taken[-2].keys() == taken[-1].keys() == newest.keys():
        return None
    is_rising = all(taken[-2][name] <= at <= newest[name] for name, at in taken[-1].items())
    if not is_rising:
        return None  # a source that was reset begins anew
    return taken[-2], taken[-1], max(len(weights_of(record.settings)), 1)


def _answers(told: Mapping[str, Any]) -> bool:
    return bool(told["actual"]) and told["method"] in ("incremental", "full")


def _situation(
    knowledge: Knowledge,
    record: ViewRecord,
    view: ReadView,
    policy: str,
    window: tuple[Versions, Versions],
) -> Situation:
    """A run that takes in what came in a window, from where the view is now."""
    since, until = window
    start = dict(record.versions or {})
    found = situation_of(knowledge, record, view, since, until, policy)
    if since == start:
        return found
    end = {name: at + (since[name] != until[name]) for name, at in start.items()}
    keys = foreign_keys_at(knowledge.world, start, start)
    return replace(found, start=start, end=end, foreign_keys=keys)


def _scaled(facts: SourceFacts, factor: float) -> SourceFacts:
    return replace(facts, changes=tuple(one.scaled(factor) for one in facts.changes))

"""What runs would cost in other circumstances: a question over the log, which writes nothing.

The change that is reckoned with is what waits to be taken in; where nothing does, what the last run of the
view took in, as if it came again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from slacktide.algebra.view import ReadView
from slacktide.engine.definitions import POLICIES, known
from slacktide.engine.foreign_keys import foreign_keys_at
from slacktide.engine.knowledge import Knowledge
from slacktide.engine.planning import next_ends, situation_of
from slacktide.errors import InvalidSettingError
from slacktide.optimizer.api import Situation, plan_view
from slacktide.optimizer.plan import Versions
from slacktide.optimizer.statistics import ChangeFacts, SourceFacts
from slacktide.store.record import ViewRecord
from slacktide.store.world import World

_FASTEST = 10_000.0


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a run is expected to do for a view.

    Attributes:
        method: as in reports.
        seconds: of CPU, tasks and the rest of Java together; None where nobody can tell.
        reasons: codes of why, with their details.
    """

    method: str
    seconds: float | None
    reasons: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the form that is printed."""
        return {
            "method": self.method,
            "cpu_seconds": None if self.seconds is None else round(self.seconds, 3),
            "reasons": list(self.reasons),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs as they are and as they would be.

    Attributes:
        pace: how many times as often runs would come.
        now: by view, as it is.
        then: by view, as it would be; without those that would be dropped.
    """

    pace: float
    now: Mapping[str, Outlook]
    then: Mapping[str, Outlook]

    def to_dict(self) -> dict[str, Any]:
        """Give the form that is printed; totals are of the time between two runs as they come now."""
        return {
            "pace": self.pace,
            "now": {name: one.to_dict() for name, one in self.now.items()},
            "then": {name: one.to_dict() for name, one in self.then.items()},
            "cpu_seconds_now": _total(self.now, 1.0),
            "cpu_seconds_then": _total(self.then, self.pace),
        }


def _total(outlooks: Mapping[str, Outlook], pace: float) -> float | None:
    """The seconds of all; None where those of one are not known."""
    known_ones = [one.seconds for one in outlooks.values() if one.seconds is not None]
    return round(pace * sum(known_ones), 3) if len(known_ones) == len(outlooks) else None


def compare(
    world: World,
    *,
    pace: float = 1.0,
    policy: str | None = None,
    without: Sequence[str] = (),
    states_lost: bool = False,
) -> Comparison:
    """Compare the next run of all views with what it would be.

    Args:
        world: the log as it is.
        pace: how many times as often runs would come, each with as much less to take in.
        policy: of all views instead of their own.
        without: views that would not be there.
        states_lost: whether no state would be there.

    Raises:
        InvalidSettingError: the pace is none, or there is no such policy.
        UnknownObjectError: there is no view of a name.
    """
    if not 1 / _FASTEST <= pace <= _FASTEST:
        raise InvalidSettingError(
            f"a pace of {pace:g} is none", hint="2 is twice as often as now, 0.5 half as often"
        )
    if policy is not None and policy not in POLICIES:
        raise InvalidSettingError(
            f"there is no policy {policy!r}", hint=f"policies are {', '.join(POLICIES)}"
        )
    for name in without:
        known("view", name, world.views)
    kept = {name: one for name, one in world.views.items() if name not in without}
    here, other = Knowledge(world), Knowledge(replace(world, views=kept))
    now, then = {}, {}
    for name, record in sorted(world.views.items()):
        if record.paused:
            continue
        now[name] = _outlook(here, record, record.policy, 1.0, states_lost=False)
        if name in kept:
            chosen = policy or record.policy
            then[name] = _outlook(other, record, chosen, pace, states_lost=states_lost)
    return Comparison(pace, now, then)


def _outlook(
    knowledge: Knowledge, record: ViewRecord, policy: str, pace: float, *, states_lost: bool
) -> Outlook:
    view = ReadView.from_dict(record.definition)
    window = _window(knowledge.world, record, view)
    if window is None:
        return Outlook("unchanged", 0.0, ("NO_CHANGE",))
    found = _at(_situation(knowledge, record, view, policy, window), pace)
    found = replace(found, states={}, kept={}) if states_lost else found
    plan = plan_view(record.name, view, found)
    priced = plan.predicted.get("alternatives", ())
    seconds = next((one["price"] for one in priced if one["way"] == plan.predicted["way"]), None)
    return Outlook(plan.method, seconds, tuple(map(str, plan.reasons)))


def _window(world: World, record: ViewRecord, view: ReadView) -> tuple[Versions, Versions] | None:
    """From where to where a run takes in: what waits, or else what the last one took in."""
    start, ends = dict(record.versions or {}), next_ends(world, [record])
    newest = {name: max(ends[name], start.get(name, 0)) for name in view.sources}
    if start != newest:
        return start, newest
    since = record.since or 0
    told = (world.runs[run].report.get("views", {}) for run in sorted(world.runs) if run >= since)
    taken = [one["versions"] for views in told if (one := views.get(record.name)) and _answers(one)]
    if len(taken) < 2 or not taken[-2].keys() == taken[-1].keys() == newest.keys():
        return None
    is_rising = all(taken[-2][name] <= at <= newest[name] for name, at in taken[-1].items())
    return (taken[-2], taken[-1]) if is_rising else None  # a source that was reset begins anew


def _answers(told: Mapping[str, Any]) -> bool:
    return bool(told["actual"]) and told["method"] != "states-only"


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


def _at(situation: Situation, pace: float) -> Situation:
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


def _scaled(facts: SourceFacts, factor: float) -> SourceFacts:
    changes = tuple(
        ChangeFacts(one.rows.scaled(factor), factor * one.bytes, one.deleted.scaled(factor))
        for one in facts.changes
    )
    return replace(facts, changes=changes)

"""What runs would cost in other circumstances: a question over the log, which writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from slacktide.algebra.view import ReadView
from slacktide.engine.definitions.drafts import POLICIES, check_known
from slacktide.engine.definitions.goal_setting import check_weights, weights_of
from slacktide.engine.planning.knowledge import Knowledge
from slacktide.engine.planning.plan_making import time_for_search
from slacktide.engine.planning.progressing import how_far_off, imagined_progress
from slacktide.engine.telling.circumstances import at_pace, next_situation
from slacktide.errors import InvalidSettingError
from slacktide.optimizer.api import plan_view
from slacktide.optimizer.costs import Vector
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.periods.planning import plan_turn
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.ways.situation import Situation
from slacktide.store.record import ViewRecord
from slacktide.store.world import World

_FASTEST = 10_000.0


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a run is expected to do for a view.

    Attributes:
        method: as in reports; of a period ``states-only`` where something is stored before the due refresh, else
            that of the due one.
        seconds: of CPU, tasks and the rest of Java together; None where nobody can tell. Of a period those of all
            its refreshes over how many there are, each by its weight over that of the due one.
        reasons: codes of why, with their details.
        works: the share of refreshes that have something to compute for it, and so need Spark; by weight, as above.
    """

    method: str
    seconds: float | None
    reasons: tuple[str, ...] = ()
    works: float = 1.0

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
        session: seconds of CPU that it takes to start Spark, which each refresh does that computes something.
    """

    pace: float
    now: Mapping[str, Outlook]
    then: Mapping[str, Outlook]
    session: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Give the form that is printed; totals are of the time between two runs as they come now."""
        return {
            "pace": self.pace,
            "now": {name: one.to_dict() for name, one in self.now.items()},
            "then": {name: one.to_dict() for name, one in self.then.items()},
            "cpu_seconds_now": self._total(self.now, 1.0),
            "cpu_seconds_then": self._total(self.then, self.pace),
            "session_seconds": round(self.session, 3),
        }

    def _total(self, outlooks: Mapping[str, Outlook], pace: float) -> float | None:
        """The seconds of all, and of starting Spark for them; None where those of one are not known."""
        known = [one.seconds for one in outlooks.values() if one.seconds is not None]
        if len(known) < len(outlooks):
            return None
        starts = max((one.works for one in outlooks.values()), default=0.0)
        return round(pace * (sum(known) + starts * self.session), 3)


def compare(
    world: World,
    *,
    pace: float = 1.0,
    policy: str | None = None,
    without: Sequence[str] = (),
    states_lost: bool = False,
    weights: Sequence[float] = (),
) -> Comparison:
    """Compare the next run of all views with what it would be.

    Args:
        world: the log as it is.
        pace: how many times as often runs would come, each with as much less to take in.
        policy: of all views instead of their own.
        without: views that would not be there.
        states_lost: whether no state would be there.
        weights: the price of work in each refresh of a period, at the last of which all answers would be due,
            instead of when they are due now.

    Raises:
        InvalidSettingError: the pace is none, the weights are none, or there is no such policy.
        UnknownObjectError: there is no view of a name.
    """
    if not 1 / _FASTEST <= pace <= _FASTEST:
        raise InvalidSettingError(
            f"the pace is {pace:g}, which is not from {1 / _FASTEST:g} to {_FASTEST:g}",
            hint="2 is twice as often as now, 0.5 half as often",
        )
    if policy is not None and policy not in POLICIES:
        raise InvalidSettingError(
            f"there is no policy {policy!r}", hint=f"policies are {', '.join(POLICIES)}"
        )
    if weights:
        check_weights(weights)
    for name in without:
        check_known("view", name, world.views)
    kept = {name: one for name, one in world.views.items() if name not in without}
    here, other = Knowledge(world), Knowledge(replace(world, views=kept))
    now, then = {}, {}
    for name, record in sorted(world.views.items()):
        if record.paused:
            continue
        own = weights_of(record.settings)
        now[name] = _outlook(here, record, record.policy, 1.0, own, states_lost=False)
        if name in kept:
            chosen = policy or record.policy
            asked = weights_of({"goal": {"weights": list(weights)}}) or own
            then[name] = _outlook(other, record, chosen, pace, asked, states_lost=states_lost)
    return Comparison(pace, now, then, here.coefficients.price(Vector(sessions=1)))


def _outlook(
    knowledge: Knowledge,
    record: ViewRecord,
    policy: str,
    pace: float,
    weights: tuple[Fraction, ...],
    *,
    states_lost: bool,
) -> Outlook:
    view = ReadView.from_dict(record.definition)
    told = next_situation(knowledge, record, view, policy)
    if told is None:
        return Outlook("unchanged", None, ("NO_CHANGE",), works=0.0)
    found = at_pace(told, pace)
    found = replace(found, states={}, kept={}, caught=None) if states_lost else found
    if weights and found.start:
        off = how_far_off(knowledge, record, len(weights))
        return _of_period(record, view, found, weights, off, knowledge.rules)
    return _of_run(plan_view(record.name, view, found))


def _of_run(plan: ViewPlan) -> Outlook:
    priced = plan.predicted.get("alternatives", ())
    seconds = next((one["price"] for one in priced if one["way"] == plan.predicted["way"]), None)
    works = 0.0 if plan.program is None else 1.0
    return Outlook(plan.method, seconds, tuple(map(str, plan.reasons)), works)


def _of_period(
    record: ViewRecord,
    view: ReadView,
    each: Situation,
    weights: tuple[Fraction, ...],
    off: float | None,
    rules: tuple[MemoRule, ...],
) -> Outlook:
    """A refresh of a period, on average: what all of them cost, over how many there are.

    A second counts by the weight of its refresh over that of the due one.

    Args:
        record: of the view.
        view: as read.
        each: a refresh that takes in what comes from one to the next.
        weights: of the refreshes of a period.
        off: as of `Progress`.
        rules: of users.
    """
    many = len(weights)
    due = _of_run(plan_view(record.name, view, at_pace(each, 1 / many)))
    so_far = at_pace(each, 1 / (many - 1))
    progress = imagined_progress(record, view, weights, so_far, each.statistics, off)
    early = plan_turn(record.name, view, so_far, progress, time_for_search(), rules)
    period = early.predicted["period"] if early.program else None
    # What is stored early takes as much off what the due refresh would cost as it is expected to.
    gain = period["planned"] / period["instead"] if period and period["instead"] else 1.0
    starts = due.works + (float(weights[-2] / weights[-1]) if early.program else 0.0)
    return Outlook(
        early.method if early.program else due.method,
        None if due.seconds is None else gain * due.seconds / many,
        tuple(map(str, early.reasons)),
        starts / many,
    )

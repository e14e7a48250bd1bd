"""What would be done for a view or by a plan, as text for people and as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from slacktide.algebra.textual import to_text
from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.engine.plan import Plan
from slacktide.engine.planning.knowledge import current_joins
from slacktide.engine.planning.plan_making import plan_next
from slacktide.engine.planning.sizes import stored_facts
from slacktide.engine.reports import Report, ways_without
from slacktide.engine.telling.plan_tree import plan_tree
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.upkeep import state_sources, verdict
from slacktide.program.textual import program_text
from slacktide.store.record import ViewRecord
from slacktide.store.world import World

StoredPlan = Callable[[str], Plan | None]
_WAYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "incremental": "by increments",
        "rebuild": "in full with its states",
        "text": "in full without states",
    }
)
_BASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "observed": "as it took before",
        "modelled": "by the model",
        "doubted": "by the model, to be found out",
    }
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation.

    Attributes:
        text: for people, several lines.
        is_incremental: whether the view is maintained by changes and states; None for a plan.
        reasons: why it is not, as codes.
    """

    text: str
    is_incremental: bool | None
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give the form that is printed."""
        return {
            "text": self.text,
            "is_incremental": self.is_incremental,
            "reasons": list(self.reasons),
        }


def explain_read(name: str, view: ReadView) -> Explanation:
    """Explain a view as read."""
    reasons = verdict(view)
    head = f"view {name} is {'recomputed in full' if reasons else 'maintained incrementally'}"
    lines = [head, *_sentences(reasons), f"reads: {', '.join(view.sources)}"]
    if view.relation is not None:
        lines += ["", to_text(view.relation)]
    return Explanation("\n".join(lines), not reasons, tuple(str(reason) for reason in reasons))


def explain_view(world: World, name: str, stored: StoredPlan) -> Explanation:
    """Explain a view of a workspace: what its last run did, and what its next one would do.

    Args:
        world: the log as it is; what has been accepted is what the next run would take in.
        name: of the view.
        stored: gives the plan of an id, as it was executed.
    """
    found = explain_read(name, ReadView.from_dict(world.views[name].definition))
    lines = _remembered(world, world.views[name])
    lines += _last_run(world, name, stored)
    if world.views[name].paused:
        lines += ["", f"next run: none, as the view is paused: slacktide view resume {name}"]
    else:
        coming = plan_next(world, name)
        lines += ["", f"next run: {coming.method}", *_told(coming)]
    return replace(found, text="\n".join([found.text.rstrip("\n"), *lines]))


def _last_run(world: World, name: str, stored: StoredPlan) -> list[str]:
    """The newest run that took anything for a view, beside what was expected of it; nothing where none is known."""
    since = world.views[name].since
    for number, run in sorted(world.runs.items(), reverse=True):
        report = run.report or {}
        if since is None or number < since:
            return []  # of a view before it that had its name
        view = report.get("views", {}).get(name)
        if not view or not view["actual"]:
            continue
        planned = stored(report["plan_id"])
        if planned is None:
            return []
        actual = view["actual"]
        took = f"{actual['cpu_seconds']:.2f} s of CPU in tasks, {actual['rows_read']:,} rows read"
        lines = ["", f"run {number}: {view['method']}, {took}"]
        return lines + [
            line for one in planned.views if one.view == name for line in _told(one, actual)
        ]
    return []


def explain_plan(plan: Plan, report: Report | None = None) -> Explanation:
    """Explain a plan: what it does for each view, and with which program.

    Args:
        plan: what is explained.
        report: of the run that executed it, if one has.
    """
    lines = list(plan.summary)
    if report is not None:
        lines.append(f"executed by run {report.run}")
    reasons: list[str] = []
    for view in plan.views:
        reasons += [str(reason) for reason in view.reasons]
        done = None if report is None else report.views.get(view.view)
        lines += ["", f"view {view.view}: {view.method}"]
        lines += _told(view, None if done is None else done.actual)
    for one in plan.compactions:
        reasons.append(str(one.reason))
        lines += ["", f"chain {one.chain}: compacted", *_sentences((one.reason,))]
        lines.append(program_text(one.program))
    for item in plan.register:
        lines += ["", f"view {item.name}: new, planned by the run that creates it"]
    return Explanation("\n".join(lines), None, tuple(dict.fromkeys(reasons)))


def _told(plan: ViewPlan, actual: Mapping[str, Any] | None = None) -> list[str]:
    """Why a view is computed in that way, what it is expected to cost, and its program."""
    lines = [*_sentences(plan.reasons), *_prices(plan), *_remembering(plan), *_limits(plan)]
    return lines + plan_tree(plan, actual)


def _prices(plan: ViewPlan) -> list[str]:
    """What each way is expected to cost, and how anyone knows."""
    period = plan.predicted.get("period")
    if not period:
        ways = ", ".join(map(_price, plan.predicted.get("alternatives", ())))
        return [f"  expected CPU: {ways}"] if ways else []
    weighed = "" if plan.is_due else ", each second at the weight of its refresh"
    planned, instead = f"{period['planned']:.2f} s", f"{period['instead']:.2f} s"
    told = [f"  expected CPU: {planned} by what is stored early, {instead} without{weighed}"]
    ways = ", ".join(map(_price, ways_without(plan.predicted)))
    return [*told, *([f"  the ways without: {ways}"] if ways else [])]


def _price(way: Mapping[str, Any]) -> str:
    return f"{_WAYS[way['way']]} {way['price']:.2f} s ({_BASES[way['basis']]})"


def _remembering(plan: ViewPlan) -> list[str]:
    """Which join a run starts or stops to remember, or gives up as it builds the states, and why."""
    given_up = [
        f"  gives up {_join_of(one['join_of'])}: building it took {one['cost']:.2f} s of CPU, more than it saves"
        for one in plan.predicted.get("given_up", ())
    ]
    told = plan.predicted.get("remembering")
    if not told:
        return given_up
    how = "starts to remember" if told["starts"] else "stops remembering"
    cost = f", for {told['cost']:.2f} s once" if told["starts"] else ""
    what = _join_of(told["join_of"])
    return [*given_up, f"  {how} {what}: {told['saving']:.2f} s of CPU less in a run{cost}"]


def _limits(plan: ViewPlan) -> list[str]:
    """Past what a run leaves its program for a full one, or for the due refresh."""
    limits = plan.guard
    told = [f"{rows:,} rows written to {chain}" for chain, rows in limits.rows.items()]
    if limits.cpu_seconds is not None:
        told.append(f"{limits.cpu_seconds:.2f} s of CPU in tasks")
    what = "turns back to a full run" if plan.is_due else "leaves all to the due refresh"
    return [f"  {what} past {' or '.join(told)}"] if told else []


def _join_of(sources: Sequence[str]) -> str:
    return f"the join of {', '.join(sources[:-1])} and {sources[-1]}"


def _remembered(world: World, record: ViewRecord) -> list[str]:
    """The joins that a view keeps besides what its operators need, and how large they are."""
    there = current_joins(world, record)
    if not there:
        return []
    made_of = state_sources(ReadView.from_dict(record.definition), there)
    lines = []
    for chain in there:
        facts = stored_facts(world.chains[chain])
        size = f"{facts.rows:,.0f} rows in {facts.bytes:,.0f} bytes"
        lines.append(f"remembers {_join_of(made_of[chain])}: {size}")
    return lines


def _sentences(reasons: Sequence[Reason]) -> list[str]:
    return [f"  because {reason.sentence} [{reason}]" for reason in reasons]

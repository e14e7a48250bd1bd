"""The planner's door: the plan of one run of a view, with what each node of it is expected to take.

A pure function of what it is given; it opens no store, reads no clock and needs no JVM.
"""

from __future__ import annotations

from dataclasses import replace

from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.optimizer.costs import Coefficients, work_by_node
from slacktide.optimizer.estimates import estimates_of, reads_of
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.derivation import Premises
from slacktide.optimizer.programs.maintenance import resume
from slacktide.optimizer.programs.upkeep import analysis_of, passed_snapshot, state_sources
from slacktide.optimizer.statistics import Statistics
from slacktide.optimizer.ways.candidates import predicted_of
from slacktide.optimizer.ways.case import LARGEST_SHARE
from slacktide.optimizer.ways.decision import choose_method, first_run
from slacktide.optimizer.ways.situation import Situation


def plan_view(name: str, view: ReadView, situation: Situation) -> ViewPlan:
    """Plan one run of one view."""
    resumed = None if situation.start else _resumed(name, view, situation, first_run(situation))
    plan = _caught_up(name, view, situation) if resumed is None else resumed
    return estimated(plan, view, situation.statistics, situation.evidence.coefficients)


def estimated(
    plan: ViewPlan, view: ReadView, statistics: Statistics, rates: Coefficients
) -> ViewPlan:
    """Say of each node of a plan what it is expected to give and to take, where the plan says what it takes."""
    if plan.program is None or not plan.predicted:
        return plan
    work = work_by_node(plan.program, statistics, view.relation)
    in_tasks = plan.predicted["cpu_seconds"]
    return replace(
        plan,
        estimates=estimates_of(plan.program, work, rates, in_tasks),
        reads=reads_of(plan.program, work, statistics),
    )


def _caught_up(name: str, view: ReadView, situation: Situation) -> ViewPlan:
    """Plan a run. A view that lags behind shared states goes on from these: else every run would build them anew, for as long as it fails."""
    plan = choose_method(name, view, situation)
    lags = any(one.code == "STATE_MISSING" for one in plan.reasons)
    if not lags or situation.caught is None:
        return plan
    return _resumed(name, view, situation.caught, plan.reasons) or plan


def _resumed(
    name: str, view: ReadView, situation: Situation, why: tuple[Reason, ...]
) -> ViewPlan | None:
    """Plan an answer from states that are there; None where there are none, or where that is more."""
    analysis = analysis_of(view)
    if analysis is None or not situation.kept or situation.rebuilds or situation.policy == "full":
        return None
    if situation.share > LARGEST_SHARE and situation.policy == "auto":
        return None
    # Of other sources no state is extended, so that no change of theirs is asked for.
    start = {source: situation.kept.get(source, end) for source, end in situation.end.items()}
    changed = frozenset(source for source in start if start[source] != situation.end[source])
    kept = frozenset(
        chain
        for chain in state_sources(view)
        if chain in situation.states and situation.states[chain].items() <= start.items()
    )
    premises = Premises(netted=situation.netted, statistics=situation.statistics)
    program = resume(name, analysis, changed, kept, premises)
    if program is None or passed_snapshot(program, start, situation.mirrors):
        return None
    reasons = (*why, Reason("STATES_KEPT"))
    predicted = predicted_of("rebuild", program, view, situation)
    return ViewPlan(
        name,
        "full",
        reasons,
        program,
        start,
        situation.end,
        situation.token,
        predicted=predicted,
    )

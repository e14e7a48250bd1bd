"""Other ways of the same run, for one whose program failed over a row, or found more to do than it is worth."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.optimizer.costs.prediction import program_key
from slacktide.optimizer.estimates import NOTHING
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.full import SIGNED, anew, from_snapshots, without_states
from slacktide.optimizer.programs.upkeep import analysis_of
from slacktide.program.limits import UNLIMITED
from slacktide.program.operator import Program, Save


def plan_text(view: ReadView, plan: ViewPlan, why: Reason) -> ViewPlan | None:
    """Plan the same run by the author's text over whole snapshots, in place of a program that fails.

    Args:
        view: the view.
        plan: of the run.
        why: the reason that the report gives.

    Returns:
        A plan that leaves the states as they are; None where it is such a plan already.
    """
    program = from_snapshots(plan.view, view)
    return None if program == plan.program else _in_place(plan, program, why)


def plans_in_full(view: ReadView, plan: ViewPlan, why: Reason) -> list[ViewPlan]:
    """Plan the same run without states, in place of a program that turned out too dear.

    Args: as of `plan_text`.

    Returns:
        As it was priced, then by the author's text, where that is another program.
    """
    alone = without_states(plan.view, view, analysis_of(view))
    priced = alone.taken(is_signed=bool(plan.predicted.get(SIGNED)))
    return [_in_place(plan, program, why) for program in dict.fromkeys((priced, alone.text))]


def _in_place(plan: ViewPlan, program: Program, why: Reason) -> ViewPlan:
    return replace(
        plan,
        method="full",
        reasons=(*plan.reasons, why),
        program=program,
        foreign_keys=(),
        predicted={},
        estimates=NOTHING,
        reads={},
        guard=UNLIMITED,
        remembers=_without(plan, plan.joins_written),
    )


def plan_idle(plan: ViewPlan, why: Reason) -> ViewPlan | None:
    """Plan the same refresh without what it stores, with what was expected of that; None where the answer is due.

    Args:
        plan: of the refresh.
        why: the reason that the report gives besides.
    """
    turn = plan.turn
    if turn is None or turn.is_due or plan.program is None:
        return None
    return replace(
        plan,
        method="unchanged",
        reasons=(*plan.reasons, why),
        program=None,
        estimates=NOTHING,
        reads={},
        guard=UNLIMITED,
        turn=replace(turn, writes={}, expects={}),
    )


def plan_without_joins(view: ReadView, plan: ViewPlan) -> ViewPlan | None:
    """Plan the same run without the joins that it would remember and writes whole; None where there are none.

    A join may fail over rows that neither batch nor any change brings together. Of several nobody knows which.
    """
    joins, analysis = plan.joins_written, analysis_of(view)
    if plan.program is None or analysis is None or not joins:
        return None
    if plan.method == "incremental":
        steps = (s for s in plan.program.steps if not (isinstance(s, Save) and s.chain in joins))
        program = Program((*steps,))
    else:
        program = anew(plan.view, view, analysis)
    fails = tuple(Reason("JOIN_FAILS", chain) for chain in joins) if len(joins) == 1 else ()
    return replace(
        plan,
        program=program,
        reasons=(*plan.reasons, *fails),
        predicted={**plan.predicted_as_it_is, "program": program_key(program)},
        remembers=_without(plan, joins),
    )


def _without(plan: ViewPlan, joins: Collection[str]) -> tuple[str, ...]:
    return tuple(chain for chain in plan.remembers if chain not in joins)

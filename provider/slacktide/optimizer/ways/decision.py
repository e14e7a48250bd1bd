"""Which method a run uses for a view, and by which program.

Between what extends the answer, what builds it with its states and what gives it alone is chosen where all of them can be
had; else the policy of the view, its relation or what is missing says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.optimizer.costs import Candidate
from slacktide.optimizer.plan import Method, ViewPlan
from slacktide.optimizer.programs.full import SIGNED, without_states
from slacktide.optimizer.programs.join_bags import sources_of
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.upkeep import (
    analysis_of,
    missing_state,
    passed_snapshot,
)
from slacktide.optimizer.ways.building import Building, building, dear_joins
from slacktide.optimizer.ways.candidates import extending, in_full, predicted_of
from slacktide.optimizer.ways.case import Case
from slacktide.optimizer.ways.guard import limits_of
from slacktide.optimizer.ways.remembered_joins import Question
from slacktide.optimizer.ways.situation import Situation
from slacktide.optimizer.ways.switch import Remembering
from slacktide.optimizer.ways.weighed import Predictions, Ways, Weighed
from slacktide.optimizer.ways.weighing import may_build, weigh, with_join
from slacktide.program.operator import Program

APART: Final = "states that the answer was made from"


def choose_method(name: str, view: ReadView, situation: Situation) -> ViewPlan:
    """Plan a run that does not go on from states which other views have advanced."""
    changed = situation.changed
    if situation.start and not changed and not view.clock:
        return _plan(name, situation, "unchanged", (Reason("NO_CHANGE"),), None)
    analysis = analysis_of(view)
    if analysis is None or analysis.verdict():
        obstacles = view.reasons if analysis is None else analysis.verdict()
        return _stateless(name, view, analysis, situation, first_run(situation) + obstacles)
    if situation.policy == "full":
        anew = () if situation.start else situation.anew
        return _stateless(name, view, analysis, situation, (*anew, Reason("POLICY", "full")))
    if not situation.start:
        return _built(name, view, analysis, situation, first_run(situation))
    if situation.rebuilds:
        reason = Reason("STATE_MISSING", situation.rebuilds)
        return _built(name, view, analysis, situation, (reason,))
    return _Decision(view, situation, situation.question(name, analysis, changed)).chosen()


def predictions_of(
    view: ReadView, situation: Situation, question: Question, now: Remembering
) -> Predictions:
    """What each way of a run that goes on from an answer is expected to cost.

    Args:
        view: as read.
        situation: of the run.
        question: of what has changed.
        now: what is remembered, and the program of a run by increments.
    """
    return _Decision(view, situation, question).predictions(now)


@dataclass(frozen=True, slots=True)
class _Decision:
    """The choice between what extends the answer, what builds it with its states, and what gives it alone."""

    view: ReadView
    situation: Situation
    question: Question

    def chosen(self) -> ViewPlan:
        now = self.question.present(self.situation.remembers)
        missing = self._missing(now.maintenance.program)
        if missing and self.situation.remembers:
            built_first = self.question.as_if_built(self.situation.remembers)
            now = self.question.stopped(built_first) or built_first
            left = {*built_first.chains} - {*now.chains}
            return replace(self, situation=self.situation.without(left))._among(now, missing)
        return self._among(now, missing)

    def predictions(self, now: Remembering) -> Predictions:
        """What each way is expected to cost by what is remembered."""
        built = self._building(self.situation.remembers)
        return self._case(now, built, self._missing(now.maintenance.program)).predictions()

    def _among(self, now: Remembering, missing: str) -> ViewPlan:
        """Choose where increments go by some joins, or would if the states were there."""
        built = self._building(self.situation.remembers)
        case = self._case(now, built, missing)
        dear = dear_joins(case) if self.situation.policy == "auto" else {}
        if dear:
            built = self._building({*self.situation.remembers} - {*dear})
            case = case.building(built.besides)
        if dear and missing:  # increments are what they will be once the states are built
            now = self.question.with_joins(one for one in now.chains if one not in dear)
            case = case.going_by(self._extending(now.maintenance.program))
        found = self._found(case)
        if found.way == "incremental":
            new = self.question.reconsidered(now, found.full)
            if self._missing(new.maintenance.program):
                new = now  # without the join it would read rows that the mirror has passed
            return self._extended(new, case, found.reasons)
        without = self.question.stopped(now) if now.chains and not missing else None
        if without is not None:
            program = without.maintenance.program
            other = replace(case.going_by(self._extending(program)), missing=self._missing(program))
            going_on = self._found(other)
            if going_on.way == "incremental":
                return self._extended(without, other, going_on.reasons)
        return self._in_full(now, built, case, found, dear)

    def _in_full(
        self,
        now: Remembering,
        built: Building,
        case: Case,
        found: Weighed,
        dear: Mapping[str, float],
    ) -> ViewPlan:
        """Give the answer alone, or build the states, and with them a join that starts to be remembered.

        Args:
            now: what is remembered at the start of the run.
            built: what is built where the states are.
            case: of the run.
            found: the way that is to be taken.
            dear: the joins that are given up where the states are built, as of `dear_joins`.
        """
        new, remembers = now, self.situation.remembers
        if may_build(case, found):
            new = self.question.started_in_full(now, found, remembers)
        if new is not now and new.switch is not None:
            found = with_join(found, new.switch.saving, new.switch.cost)
            built = self._building({*remembers, *new.chains} - {*dear})
            found = found.going_by(case.building(built.besides).in_full()[0])
        told = {**found.to_dict(), **new.told()}
        if found.way != "rebuild":
            text, _ = self._alone(built)
            plan = self._plan("full", found.reasons, text)
            return replace(plan, predicted=told, remembers=remembers)
        told |= built.told()
        if dear:
            of = sources_of(self.question.analysis, dear)
            told["given_up"] = [
                {"chain": join, "join_of": [*of[join]], "cost": round(took, 3)}
                for join, took in sorted(dear.items())
            ]
        plan = self._plan("full", found.reasons, built.program)
        return replace(plan, predicted=told, remembers=built.remembers)

    def _building(self, chains: Collection[str]) -> Building:
        question = self.question
        return building(question.view, self.view, question.analysis, self.situation, chains)

    def _alone(self, built: Building) -> tuple[Program, Program]:
        """The programs that give the answer alone: the one that is taken, and the other one."""
        question, is_signed = self.question, self.situation.adds_signed_rows
        alone = without_states(question.view, self.view, question.analysis, built.bare)
        return alone.taken(is_signed=is_signed), alone.taken(is_signed=not is_signed)

    def _missing(self, program: Program) -> str:
        """What keeps increments from being run: a state that is not there, or rows of the past that no mirror has."""
        situation = self.situation
        return (
            missing_state(program, situation.start, situation.states)
            or passed_snapshot(program, situation.start, situation.mirrors)
            or (APART if situation.is_apart else "")
        )

    def _case(self, now: Remembering, built: Building, missing: str) -> Case:
        """What speaks for each way of a run that may go by some joins."""
        view, situation = self.view, self.situation
        text, other = (in_full(one, view, situation) for one in self._alone(built))
        extended = self._extending(now.maintenance.program)
        rebuild = in_full(built.bare, view, situation)
        return Case(
            Ways(incremental=extended, rebuild=rebuild, text=text, other=other),
            situation.evidence,
            situation.share,
            missing,
            situation.is_shared,
            situation.later,
            built.besides,
        )

    def _extending(self, program: Program) -> Candidate:
        return extending(program, self.view, self.situation)

    def _found(self, case: Case) -> Weighed:
        if self.situation.policy != "incremental":
            return weigh(case)
        if case.missing:
            reason = Reason("STATE_MISSING", case.missing)
            return case.predictions().taken("rebuild", reason)
        return case.predictions().taken("incremental", Reason("POLICY", "incremental"))

    def _extended(self, new: Remembering, case: Case, reasons: tuple[Reason, ...]) -> ViewPlan:
        """Extend the answer, and remember from then on what is worth it."""
        program = new.maintenance.program
        predictions = case.going_by(self._extending(program)).predictions()
        found = predictions.taken("incremental").to_dict()
        begins = new.switch is not None and new.switch.starts
        return replace(
            self._plan("incremental", reasons, program),
            foreign_keys=tuple(sorted(map(str, new.maintenance.foreign_keys))),
            predicted={**found, **new.told(), SIGNED: self.situation.adds_signed_rows},
            remembers=new.chains,
            guard=limits_of(program, self.view, self.situation, predictions, begins=begins),
        )

    def _plan(self, method: Method, reasons: tuple[Reason, ...], program: Program) -> ViewPlan:
        return _plan(self.question.view, self.situation, method, reasons, program)


def _stateless(
    name: str,
    view: ReadView,
    analysis: Maintainability | None,
    situation: Situation,
    reasons: tuple[Reason, ...],
) -> ViewPlan:
    alone, is_signed = without_states(name, view, analysis), situation.adds_signed_rows
    program, other = alone.taken(is_signed=is_signed), alone.taken(is_signed=not is_signed)
    predicted = predicted_of("text", program, view, situation, other)
    return replace(_plan(name, situation, "full", reasons, program), predicted=predicted)


def _built(
    name: str,
    view: ReadView,
    analysis: Maintainability,
    situation: Situation,
    reasons: tuple[Reason, ...],
) -> ViewPlan:
    """Build states and answer anew where there is nothing to choose."""
    built = building(name, view, analysis, situation, situation.remembers)
    predicted = predicted_of("rebuild", built.bare, view, situation)
    predicted = {**predicted, **built.told()}
    plan = _plan(name, situation, "full", reasons, built.program)
    return replace(plan, predicted=predicted, remembers=built.remembers)


def _plan(
    name: str,
    situation: Situation,
    method: Method,
    reasons: tuple[Reason, ...],
    program: Program | None,
) -> ViewPlan:
    start, end = situation.start, situation.end
    return ViewPlan(name, method, reasons, program, start, end, situation.token)


def first_run(situation: Situation) -> tuple[Reason, ...]:
    """Why a run has no answer to go on from; nothing where it has."""
    if situation.start:
        return ()
    return situation.anew or (Reason("FIRST_RUN"),)

"""What refreshes of a period are expected to cost, by what is stored early and without (ADR 13)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slacktide.algebra.view import ReadView
from slacktide.optimizer.costs import Coefficients, Prediction, program_key, program_work
from slacktide.optimizer.periods.progress import Progress
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.statistics import Statistics
from slacktide.optimizer.statistics.intervals import united
from slacktide.optimizer.ways.decision import predictions_of
from slacktide.optimizer.ways.guard import early_limits_of, limits_of
from slacktide.optimizer.ways.situation import Situation
from slacktide.program.limits import UNLIMITED, Limits
from slacktide.program.operator import Program


@dataclass(frozen=True, slots=True)
class Pricing:
    """The prices of one refresh: seconds of CPU, in tasks and outside.

    Attributes:
        name: of the view.
        view: as read.
        analysis: of it.
        situation: of a run that goes on from the answer.
        progress: where the view stands since then.
    """

    name: str
    view: ReadView
    analysis: Maintainability
    situation: Situation
    progress: Progress

    @property
    def off(self) -> float:
        """How many times of what the model says refreshes by what a period stores take in tasks.

        As such refreshes of the view did lately: their programs name the chains of a period, so that no later one has the
        same. As programs that have not run where there was none, where all is small, or where no other run is known any
        more, as both sides are to be priced alike.
        """
        evidence, known = self.situation.evidence, self.progress.off
        if known is None or not evidence.runs or not evidence.is_measurable:
            return evidence.weight()
        return known

    @property
    def rates(self) -> Coefficients:
        """The price of each kind of work of such refreshes."""
        return self.situation.evidence.coefficients.weighing(self.off)

    def by_period(self, program: Program, statistics: Statistics) -> Prediction:
        """What a refresh is expected to take that stores something, or goes by what is stored."""
        work, rates = program_work(program, statistics, self.view.relation), self.rates
        key, in_tasks = program_key(program), rates.in_tasks(work)
        return Prediction("incremental", key, work, in_tasks, rates.outside(work), "modelled")

    def without(self, plan: ViewPlan) -> float:
        """What a plan that does without the period is expected to take."""
        return float(plan.predicted["cpu_seconds"] + plan.predicted["outside_seconds"])

    def waiting(self) -> float:
        """What the due refresh is expected to take if nothing is stored for it, as the memo would count its jobs."""
        at_once, situation = united(self.progress.statistics), self.situation
        changes = {name: one.changes[0].rows.value for name, one in at_once.sources.items()}
        foreseen = replace(situation, statistics=at_once)
        evidence, rows = situation.evidence, round(sum(changes.values()))
        if evidence.changed and rows > evidence.changed:
            unmerged = evidence.unmerged
            later = None if unmerged is None else unmerged + rows - evidence.changed
            foreseen = replace(
                foreseen,
                evidence=replace(evidence, changed=rows, unmerged=later),
                share=min(situation.share * rows / evidence.changed, 1.0),
            )
        changed = frozenset(name for name, count in changes.items() if count)
        question = foreseen.question(self.name, self.analysis, changed)
        now = question.present(situation.remembers)
        found = predictions_of(self.view, foreseen, question, now)
        # What is held against it is priced by a memo, which does not know what light queries spare.
        heavy = program_work(
            now.maintenance.program, at_once, self.view.relation, knows_light=False
        )
        spared = situation.evidence.coefficients.price(heavy.minus(found.incremental.work))
        extended = found.incremental.price + max(spared, 0.0)
        if situation.policy == "incremental":
            return extended
        return min(extended, found.rebuild.price, found.text.price)

    def early_guard(self, own: Prediction, margin: float) -> Limits:
        """Where a refresh before the due one ends; nowhere before any run has told how much dearer the view is than its prices.

        Args:
            own: what the refresh is expected to take.
            margin: seconds of CPU by which it may take more before the period costs as much as waiting does.
        """
        if self.progress.off is None and not self.situation.evidence.runs:
            return UNLIMITED
        return early_limits_of(self.situation, own.in_tasks, margin)

    def guard(self, program: Program, statistics: Statistics, own: Prediction) -> Limits:
        """Where a due refresh that goes by what is stored turns back to a full one."""
        situation = self.situation
        question = situation.question(self.name, self.analysis, situation.changed)
        now = question.present(situation.remembers)
        ways = predictions_of(self.view, situation, question, now)
        known = replace(situation, statistics=statistics)
        return limits_of(program, self.view, known, replace(ways, incremental=own))

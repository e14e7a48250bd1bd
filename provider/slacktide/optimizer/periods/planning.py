"""Runs of a view whose answer is due only now and then (PDW-PD, tempura.md §5; ADR 13).

A period has as many refreshes as the goal of the view has weights, and the answer is due at the last one.
A refresh before it may store what makes the due one cheaper, where that pays by the weights; nobody reads
it but the runs of the period. Of all refreshes to come only the due one is planned with the one at hand, and
each plans again by what has really come (tempura.md §5, dynamic re-optimisation).

Each decision is held against what a view without a period would do: a refresh that has nothing to gain leaves
all to the due one, and the due one goes by what is stored only where that is cheaper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.optimizer.api import estimated, plan_view
from slacktide.optimizer.budget import IsSpent, never
from slacktide.optimizer.choice.sharing import UnreachableError
from slacktide.optimizer.costs import Prediction, Vector
from slacktide.optimizer.costs.memo import MemoCosts
from slacktide.optimizer.expand import Problem, Switches, expand
from slacktide.optimizer.memo.emptiness import Quiet
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.periods.kept import kept_in
from slacktide.optimizer.periods.period_chains import Naming
from slacktide.optimizer.periods.pricing import Pricing
from slacktide.optimizer.periods.progress import Progress
from slacktide.optimizer.periods.rounds import Rounds
from slacktide.optimizer.plan import Versions, ViewPlan
from slacktide.optimizer.programs.determinacy import is_determined
from slacktide.optimizer.programs.full import MOST_OPERATORS, SIGNED
from slacktide.optimizer.programs.join_bags import is_there
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.upkeep import maintained, passed_snapshot
from slacktide.optimizer.statistics import Statistics
from slacktide.optimizer.statistics.intervals import before_last, newest, united
from slacktide.optimizer.turn import Turn
from slacktide.optimizer.ways.situation import Situation
from slacktide.program.chains import chains_read
from slacktide.program.multiplicity import operators_planned
from slacktide.program.operator import Program

MOST_INSTANTS: Final = 4
"""Instants that are planned at once: the answer before, two refreshes, and the due one."""
MICRO: Final = 1e-6
"""Seconds of a unit in which the memo prices."""
SWITCHES: Final = Switches(is_translated=False, is_guided=False)
"""What came over several intervals is what the due refresh puts together."""
LEAST_WORK: Final = Vector(jobs=1, plans=1)
"""What any refresh does that stores something."""


def plan_turn(
    name: str,
    view: ReadView,
    situation: Situation,
    progress: Progress,
    is_spent: IsSpent = never,
    rules: tuple[MemoRule, ...] = (),
) -> ViewPlan:
    """Plan a refresh of a view with an answer that is due only now and then.

    Args:
        name: of the view.
        view: as read.
        situation: of a run that goes on from the answer.
        progress: where the view stands since then.
        is_spent: whether the search has taken all the time that it may; the best of what it has found is taken then.
        rules: of the user, which are tried besides those that there are.
    """
    planning = _Planning(name, view, situation, progress, is_spent, rules)
    plan = planning.due() if progress.is_due else planning.early()
    return replace(plan, reasons=(*plan.reasons, Reason("SEARCH_CUT"))) if planning.is_cut else plan


def is_worth(cost: float, instead: float) -> bool:
    """Whether a way by what a period stores is taken in place of one without; what tests may decide otherwise."""
    return cost < instead


@dataclass(slots=True)
class _Planning:
    """The planning of one refresh.

    Attributes:
        is_cut: whether any search has ended because its budget was spent; the one thing that changes while it plans.
    """

    name: str
    view: ReadView
    situation: Situation
    progress: Progress
    is_spent: IsSpent
    rules: tuple[MemoRule, ...]
    is_cut: bool = False

    @property
    def turn(self) -> Turn:
        """The refresh as one that stores nothing and keeps what is stored."""
        known = self.progress
        return Turn(known.turn, len(known.weights), known.reached[1:], known.stored)

    def due(self) -> ViewPlan:
        """The answer: from what the period has stored, or without it, whichever is cheaper."""
        situation, known = self.situation, self.progress.statistics
        turn = replace(self.turn, reached=(), stored=())
        plan = replace(plan_view(self.name, self.view, situation), turn=turn)
        if plan.program is None:
            return replace(plan, remembers=situation.remembers)
        analysis = maintained(self.view, situation.policy)
        is_alone = len(self.progress.reached) == 1 or situation.rebuilds or situation.is_apart
        if is_alone or analysis is None or not is_determined(analysis):
            return plan
        pricing = self._pricing(analysis)
        rounds = self._rounds(known, self.progress.quiet, pricing)
        try:
            program = None if rounds is None else rounds.onward().program
        except UnreachableError:  # what has come was not expected, and nothing is stored for it
            program = None
        if rounds is None or program is None or operators_planned(program) > MOST_OPERATORS:
            return plan
        if chains_read(program).isdisjoint(self.progress.stored) or self._passed(program):
            return plan
        now = newest(known)
        own, instead = pricing.by_period(program, now), pricing.without(plan)
        if not is_worth(own.price, instead):
            period = _compared(own.price, instead)
            return replace(plan, predicted={**plan.predicted, "period": period})
        stored = f"by {len(self.progress.reached) - 1} of them"
        ways = plan.predicted["alternatives"]
        return replace(
            self._by_program(
                program, now, own, {**_compared(own.price, instead), "alternatives": ways}
            ),
            method="incremental",
            reasons=(Reason("STORED_EARLY", stored),),
            guard=pricing.guard(program, now, own),
            turn=replace(turn, expects=self._expected()),
        )

    def early(self) -> ViewPlan:
        """What a refresh before the due one stores; nothing where waiting costs no more."""
        known, situation = self.progress, self.situation
        if known.reached[-1] == situation.end:
            return self._idle("nothing has come")
        if len(known.reached) + 2 > MOST_INSTANTS:
            return self._idle(f"{len(known.reached) - 1} of them have stored something already")
        analysis = maintained(self.view, situation.policy)
        if analysis is None or situation.is_apart or not is_determined(analysis):
            return self._idle(_why_not(analysis))
        weight, due = known.weights[known.turn - 1], known.weights[-1]
        pricing = self._pricing(analysis)
        waiting = float(due) * pricing.waiting()
        least = float(weight) * situation.evidence.coefficients.price(LEAST_WORK)
        if not is_worth(least, waiting):
            return self._idle("waiting costs less")
        rounds = self._rounds(known.statistics, known.quiet, pricing)
        try:
            found = None if rounds is None else rounds.early(weight, due, self._expected_quiet())
        except UnreachableError:
            found = None
        if rounds is None or found is None:
            return self._idle("no way by what it stores is known")
        self.is_cut |= not rounds.is_whole
        cost = float(found.cost) * MICRO
        is_small = 0 < operators_planned(found.program) <= MOST_OPERATORS
        instead: float | None = waiting
        if is_small and is_worth(cost, waiting):
            later = self._later(pricing)
            instead = None if later is None else min(waiting, float(due) * later)
        if not is_small or instead is None or not is_worth(cost, instead):
            return self._wait(cost, instead)
        if passed := self._passed(found.program):
            return self._idle(f"{passed} are in no mirror")
        now = newest(before_last(known.statistics))
        own, margin = pricing.by_period(found.program, now), (instead - cost) / float(weight)
        return replace(
            self._by_program(found.program, now, own, _compared(cost, instead)),
            reasons=(self._not_due(),),
            guard=pricing.early_guard(own, margin),
            turn=replace(self.turn, writes=found.scopes, expects=self._expected()),
        )

    def _wait(self, cost: float, instead: float | None) -> ViewPlan:
        if instead is None:
            return self._idle("nobody knows what waiting costs")
        return self._idle("waiting costs less", _compared(cost, instead))

    def _passed(self, program: Program) -> str:
        return passed_snapshot(program, self.progress.reached[-1], self.situation.mirrors)

    def _idle(self, why: str, compared: Mapping[str, Any] | None = None) -> ViewPlan:
        """Count the refresh.

        Args:
            why: it stores nothing.
            compared: what was held against one another, if anything.
        """
        start = self.progress.reached[-1]
        return ViewPlan(
            self.name,
            "unchanged",
            (self._not_due(f", {why}"),),
            None,
            start,
            self.situation.end,
            self.situation.token,
            predicted={"period": compared} if compared else {},
            remembers=self.situation.remembers,
            turn=self.turn,
        )

    def _not_due(self, why: str = "") -> Reason:
        return Reason("NOT_DUE", f"{self.progress.turn} of {len(self.progress.weights)}{why}")

    def _by_program(
        self,
        program: Program,
        statistics: Statistics,
        own: Prediction,
        compared: Mapping[str, Any],
    ) -> ViewPlan:
        """Go on from the newest refresh that has stored something."""
        predicted: dict[str, Any] = {
            "cpu_seconds": round(own.in_tasks, 6),
            "outside_seconds": round(own.outside, 6),
            "period": {**compared, "work": own.work.to_dict()},
            SIGNED: self.situation.adds_signed_rows,
        }
        plan = ViewPlan(
            self.name,
            "states-only",
            (self._not_due(),),
            program,
            self.progress.reached[-1],
            self.situation.end,
            self.situation.token,
            predicted=predicted,
            remembers=self.situation.remembers,
        )
        return estimated(plan, self.view, statistics, self.situation.evidence.coefficients)

    def _pricing(self, analysis: Maintainability) -> Pricing:
        return Pricing(self.name, self.view, analysis, self.situation, self.progress)

    def _expected(self) -> Mapping[str, Versions]:
        chains = (*self.progress.keeps, *self.progress.stored)
        return {chain: self.situation.states[chain] for chain in chains}

    def _later(self, pricing: Pricing) -> float | None:
        """What the due refresh takes if all since the last stored refresh is left to it; None where nobody knows."""
        past = len(self.progress.reached)
        if past == 1:
            return inf  # then that is what waiting is priced by
        quiet = frozenset((name, at) for name, at in self.progress.quiet if at <= past)
        rounds = self._rounds(united(self.progress.statistics, past - 1), quiet, pricing)
        if rounds is not None and not rounds.is_whole:
            return None
        try:
            return inf if rounds is None else rounds.onward().key[0] * MICRO
        except UnreachableError:
            return inf

    def _rounds(self, statistics: Statistics, quiet: Quiet, pricing: Pricing) -> Rounds | None:
        """The plans that go on from the answer and all that is stored; None where there are none.

        A state that the memo does not have, or that is not as of the answer, would be lost on the way.
        """
        view, situation, keeps = self.view, self.situation, self.progress.keeps
        if not all(is_there(chain, situation.start, situation.states) for chain in keeps):
            return None
        root = pricing.analysis.root
        instants = 1 + max(len(source.changes) for source in statistics.sources.values())
        tables = tuple(sorted(sources(root)))
        problem = Problem(
            root, tables, instants, view.conf, quiet, append_only=situation.append_only
        )
        expanded = expand(problem, switches=SWITCHES, extra=self.rules, is_spent=self.is_spent)
        self.is_cut |= not expanded.trace.is_whole
        kept = kept_in(expanded.memo, keeps, view.conf, instants)
        if kept is None:
            return None
        costs = MemoCosts(expanded.memo, statistics, pricing.rates)
        return Rounds(
            self.name,
            expanded,
            kept,
            price=costs.price,
            carrying=costs.carrying,
            naming=Naming(self.progress.period, self.progress.stored),
            is_spent=self.is_spent,
        )

    def _expected_quiet(self) -> Quiet:
        """The sources to which nothing has come by an instant, or is expected to come until the due one."""
        known = self.progress
        due = len(known.reached) + 2
        expected = {
            (name, due)
            for name, source in known.statistics.sources.items()
            if source.changes[-1].rows.value == 0
        }
        return known.quiet | expected


def _why_not(analysis: Maintainability | None) -> str:
    """Why nothing is stored early. The memo takes a relation at an instant for one value, however it is computed."""
    is_open = analysis is not None and not is_determined(analysis)
    return "computed twice it may differ" if is_open else "the answer is computed in full"


def _compared(planned: float, instead: float) -> dict[str, Any]:
    """What a period is expected to cost, as plans and reports store it: seconds of CPU, each at the weight of its refresh if not all are due.

    Args:
        planned: by what it stores before the answer is due.
        instead: without.
    """
    return {"planned": round(planned, 3), "instead": round(instead, 3)}

"""The planner's door: which method a run uses for a view, and its program.

A pure function of what it is given; it opens no store, reads no clock and needs no JVM.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.common.tree import of_type
from slacktide.optimizer.costs import (
    Candidate,
    Coefficients,
    Evidence,
    Way,
    program_work,
    work_by_node,
)
from slacktide.optimizer.costs.reads import is_sure
from slacktide.optimizer.derivation import Premises, resume
from slacktide.optimizer.estimates import estimates_of, reads_of
from slacktide.optimizer.foreign_keys import ForeignKey
from slacktide.optimizer.full import SIGNED, anew, merging, without_states
from slacktide.optimizer.guard import guard_of
from slacktide.optimizer.join_bags import is_ahead, joins_of, still_worth_remembering
from slacktide.optimizer.maintainability import Maintainability
from slacktide.optimizer.others import NOBODY, Others
from slacktide.optimizer.plan import Method, Versions, ViewPlan
from slacktide.optimizer.remembered_joins import Question, Remembering
from slacktide.optimizer.statistics import Statistics
from slacktide.optimizer.upkeep import (
    analysis_of,
    missing_state,
    passed_snapshot,
    state_sources,
)
from slacktide.optimizer.weighing import (
    LARGEST_SHARE,
    LEAST_ROWS,
    Case,
    Predictions,
    Ways,
    Weighed,
    weigh,
)
from slacktide.program.limits import UNLIMITED, Limits
from slacktide.program.operator import Operator, Program


@dataclass(frozen=True, slots=True)
class Situation:
    """What the planner is told of a view at planning time.

    Attributes:
        start: versions of the last answer by source; empty when there is none.
        end: versions that the next answer is to be made of.
        share: pending change over the size of the view's sources, both in rows or both in bytes.
        states: the versions of each state that exists, by chain id.
        policy: ``auto``, ``incremental`` or ``full``.
        token: log number of the last change of the view's definition or versions; see `ViewPlan`.
        mirrors: by source, the version up to which its mirror is compacted.
        rebuilds: a state that another view of the run builds anew, or an empty text.
        kept: without an answer, the versions of the states that it can be made from; see
            `kept_versions`.
        foreign_keys: those that hold at `start`, and are checked to hold at `end` by the run.
        broken: a foreign key that the answer went by and that was found not to hold, or an empty text.
        statistics: what is known of sources and of what is stored.
        evidence: the view's past runs.
        remembers: the chains of joins that the view remembers besides what its operators need.
        is_shared: whether other views keep a state of this one.
        others: what other views keep.
        stumbles: whether a program of the view failed lately, over a row or to Spark, where the author's text did not.
        append_only: the sources of which no row is ever taken away, by declaration.
        rounds: as of `weighing.Case`.
        netted: the sources whose changes are netted, see `net_changes`.
        caught: of a run without an answer that goes on from where others have brought the view's states; None where
            none have.
    """

    start: Versions
    end: Versions
    share: float
    states: Mapping[str, Versions]
    policy: str
    token: int
    mirrors: Mapping[str, int] = field(default_factory=dict)
    rebuilds: str = ""
    kept: Versions = field(default_factory=dict)
    foreign_keys: frozenset[ForeignKey] = frozenset()
    broken: str = ""
    statistics: Statistics = field(default_factory=Statistics)
    evidence: Evidence = field(default_factory=Evidence)
    remembers: tuple[str, ...] = ()
    is_shared: bool = False
    others: Others = NOBODY
    stumbles: bool = False
    append_only: frozenset[str] = frozenset()
    rounds: int = 0
    netted: frozenset[str] = frozenset()
    caught: Situation | None = None

    @property
    def adds_signed_rows(self) -> bool:
        """Whether an answer alone is of signed rows where it can be: not where a row among them has made a program fail."""
        return self.evidence.merges and not self.stumbles

    def question(self, name: str, analysis: Maintainability, changed: frozenset[str]) -> Question:
        """Which joins a view remembers, and by which program it goes on from its answer.

        Args:
            name: of the view.
            analysis: of its relation.
            changed: the sources that have changed.
        """
        premises = Premises(self.foreign_keys, netted=self.netted, statistics=self.statistics)
        return Question(
            name,
            analysis,
            changed,
            premises,
            self.evidence,
            self.start,
            self.states,
            self.others,
            self.rounds,
        )


def plan_view(name: str, view: ReadView, situation: Situation) -> ViewPlan:
    """Plan one run of one view."""
    resumed = None if situation.start else _resumed(name, view, situation, _first_run(situation))
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
    """Plan a run; a view that lags behind states which others have brought on goes on from where these are.

    It would have them build anew what they share, in every run for as long as it fails.
    """
    plan = _planned(name, view, situation)
    lags = any(one.code == "STATE_MISSING" for one in plan.reasons)
    if not lags or situation.caught is None:
        return plan
    return _resumed(name, view, situation.caught, plan.reasons) or plan


def _planned(name: str, view: ReadView, situation: Situation) -> ViewPlan:
    chosen = _choose(name, view, situation)
    return ViewPlan(
        name,
        "unchanged" if chosen.program is None else chosen.method,
        chosen.reasons,
        chosen.program,
        situation.start,
        situation.end,
        situation.token,
        chosen.foreign_keys,
        chosen.predicted,
        chosen.remembers,
        guard=chosen.guard,
    )


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The method of a run, why it is no better one, and by which program; None for no change."""

    method: Method
    reasons: tuple[Reason, ...]
    program: Program | None
    foreign_keys: tuple[str, ...] = ()
    predicted: Mapping[str, Any] = field(default_factory=dict)
    remembers: tuple[str, ...] = ()
    guard: Limits = UNLIMITED


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
    predicted = _predicted("rebuild", program, view, situation)
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


def _choose(name: str, view: ReadView, situation: Situation) -> _Chosen:
    changed = frozenset(
        source for source in view.sources if situation.end[source] != situation.start.get(source)
    )
    if situation.start and not changed and not view.clock:
        return _Chosen("unchanged", (Reason("NO_CHANGE"),), None)
    analysis = analysis_of(view)
    if analysis is None or analysis.verdict():
        obstacles = view.reasons if analysis is None else analysis.verdict()
        return _stateless(name, view, analysis, situation, _first_run(situation) + obstacles)
    if situation.policy == "full":
        return _stateless(name, view, analysis, situation, (Reason("POLICY", "full"),))
    if not situation.start:
        return _built(name, view, analysis, situation, _first_run(situation))
    if situation.rebuilds:
        reason = Reason("STATE_MISSING", situation.rebuilds)
        return _built(name, view, analysis, situation, (reason,))
    return _weighed(name, view, situation, situation.question(name, analysis, changed))


def _weighed(name: str, view: ReadView, situation: Situation, question: Question) -> _Chosen:
    """Choose between what extends the answer, what builds it with its states, and what gives it alone."""
    now = question.present(situation.remembers)
    built = anew(name, view, question.analysis)
    alone = without_states(name, view, question.analysis, built)
    is_signed = situation.adds_signed_rows
    full = {
        "rebuild": built,
        "text": alone.taken(is_signed=is_signed),
        "other": alone.taken(is_signed=not is_signed),
    }
    known = {program: _in_full(program, view, situation) for program in {*full.values()}}
    candidates = {way: known[program] for way, program in full.items()}
    case = _case(view, situation, now, candidates)
    found = _found(case, situation)
    without = question.stopped(now) if now.chains and found.way != "incremental" else None
    if without is not None:
        other = _case(view, situation, without, candidates)
        going_on = _found(other, situation)
        if going_on.way == "incremental":
            return _extended(view, situation, without, other, going_on.reasons)
    prices = (one.price for one in found.predictions if one.way != "incremental")
    if found.way == "incremental":
        new = question.reconsidered(now, min(prices))
        return _extended(view, situation, new, case, found.reasons)
    if found.way == "rebuild":
        new = question.started_anew(now, min(prices), situation.remembers)
        told = {**found.to_dict(), **new.told()}
        situation = replace(situation, remembers=tuple({*situation.remembers, *new.chains}))
        chosen = _Chosen("full", found.reasons, built, predicted=told)
        return _with_joins(name, view, question.analysis, situation, chosen)
    return _Chosen(
        "full",
        found.reasons,
        full["text"],
        predicted=found.to_dict(),
        remembers=situation.remembers,
    )


def _case(
    view: ReadView,
    situation: Situation,
    now: Remembering,
    full: Mapping[str, Candidate],
) -> Case:
    """What speaks for each way of a run that may go by some joins."""
    maintained = now.maintenance.program
    missing = missing_state(maintained, situation.start, situation.states)
    return Case(
        Ways(incremental=_candidate(maintained, view, situation), **full),
        situation.evidence,
        situation.share,
        missing or passed_snapshot(maintained, situation.start, situation.mirrors),
        situation.is_shared,
        situation.rounds,
    )


def _found(case: Case, situation: Situation) -> Weighed:
    if situation.policy != "incremental":
        return weigh(case)
    if case.missing:
        return case.predictions().taken("rebuild", Reason("STATE_MISSING", case.missing))
    return case.predictions().taken("incremental")


def _extended(
    view: ReadView,
    situation: Situation,
    new: Remembering,
    case: Case,
    reasons: tuple[Reason, ...],
) -> _Chosen:
    """Extend the answer, and remember from then on what is worth it."""
    program = new.maintenance.program
    ways = replace(case.ways, incremental=_candidate(program, view, situation))
    predictions = replace(case, ways=ways).predictions()
    found = predictions.taken("incremental").to_dict()
    return _Chosen(
        "incremental",
        reasons,
        program,
        tuple(sorted(map(str, new.maintenance.foreign_keys))),
        {**found, **new.told(), SIGNED: situation.adds_signed_rows},
        new.chains,
        _guard(program, view, situation, predictions),
    )


def _guard(program: Program, view: ReadView, situation: Situation, found: Predictions) -> Limits:
    """Where the run turns back; nowhere where nobody asks what is cheaper, or all is small."""
    rows = situation.evidence.rows
    if situation.policy != "auto" or rows is None or rows < LEAST_ROWS:
        return UNLIMITED
    work_of = partial(work_by_node, program, situation.statistics, view.relation)
    rates = situation.evidence.coefficients
    return guard_of(program, work_of, rates, found)


def _stateless(
    name: str,
    view: ReadView,
    analysis: Maintainability | None,
    situation: Situation,
    reasons: tuple[Reason, ...],
) -> _Chosen:
    alone, is_signed = without_states(name, view, analysis), situation.adds_signed_rows
    program, other = alone.taken(is_signed=is_signed), alone.taken(is_signed=not is_signed)
    predicted = _predicted("text", program, view, situation, other)
    return _Chosen("full", reasons, program, predicted=predicted)


def _built(
    name: str,
    view: ReadView,
    analysis: Maintainability,
    situation: Situation,
    reasons: tuple[Reason, ...],
) -> _Chosen:
    """Build states and answer anew where there is nothing to choose."""
    program = anew(name, view, analysis)
    predicted = _predicted("rebuild", program, view, situation)
    return _with_joins(
        name, view, analysis, situation, _Chosen("full", reasons, program, predicted=predicted)
    )


def _with_joins(
    name: str, view: ReadView, analysis: Maintainability, situation: Situation, built: _Chosen
) -> _Chosen:
    """Build the joins that the view remembers with its states; what is expected leaves them out, as little."""
    kept = still_worth_remembering(analysis, situation.remembers, situation.statistics)
    written = [chain for chain in kept if not _is_left_to_others(chain, situation)]
    if written:
        built = replace(built, program=anew(name, view, analysis, joins_of(analysis, written)))
    return replace(built, remembers=kept)


def _is_left_to_others(chain: str, situation: Situation) -> bool:
    """Whether a join is a state of another view, which would have to catch up with it, or is ahead of this run."""
    others = situation.others
    is_needed = others.need(chain) and others.hold(chain)
    return is_needed or is_ahead(situation.states.get(chain, {}), situation.end)


def _predicted(
    way: Way, program: Program, view: ReadView, situation: Situation, *like: Program
) -> Mapping[str, Any]:
    """What a program is expected to cost where there is nothing to choose; empty if it is not read."""
    if view.relation is None:
        return {}
    programs = dict.fromkeys((program, *like))
    candidates = [_in_full(one, view, situation) for one in programs]
    return Weighed(way, (), (situation.evidence.predict(way, *candidates),)).to_dict()


def _candidate(program: Program, view: ReadView, situation: Situation) -> Candidate:
    """A program that extends the answer, with the work that is expected of it."""
    known = situation.statistics
    is_guessed = not all(is_sure(operator, known) for operator in of_type(program, Operator))
    work = program_work(program, known, view.relation)
    return Candidate.of(program, work, is_guessed=is_guessed)


def _in_full(program: Program, view: ReadView, situation: Situation) -> Candidate:
    """A program that makes the answer anew."""
    work = program_work(program, situation.statistics, view.relation)
    return Candidate.of(program, work)._replace(merging=merging(program))


def _first_run(situation: Situation) -> tuple[Reason, ...]:
    if situation.start:
        return ()
    if situation.broken:
        return (Reason("REFERENCE_BROKEN", situation.broken),)
    return (Reason("FIRST_RUN"),)

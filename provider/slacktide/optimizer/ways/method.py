"""Which method a run uses for a view, and by which program.

Between what extends the answer, what builds it with its states and what gives it alone is chosen where all of them can be
had; else the policy of the view, its relation or what is missing says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.optimizer.costs import Candidate, work_by_node
from slacktide.optimizer.plan import Method
from slacktide.optimizer.programs.full import SIGNED, anew, without_states
from slacktide.optimizer.programs.join_bags import is_ahead, joins_of, still_worth_remembering
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.upkeep import analysis_of, missing_state, passed_snapshot
from slacktide.optimizer.ways.case import Case
from slacktide.optimizer.ways.expectation import extending, in_full, predicted_of
from slacktide.optimizer.ways.guard import guard_of
from slacktide.optimizer.ways.predictions import Predictions, Ways, Weighed
from slacktide.optimizer.ways.remembered_joins import Question, Remembering
from slacktide.optimizer.ways.situation import Situation
from slacktide.optimizer.ways.weighing import LEAST_ROWS, may_build, weigh, with_join
from slacktide.program.limits import UNLIMITED, Limits
from slacktide.program.operator import Program

APART: Final = "states that the answer was made from"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The method of a run, why it is no better one, and by which program; None for no change."""

    method: Method
    reasons: tuple[Reason, ...]
    program: Program | None
    foreign_keys: tuple[str, ...] = ()
    predicted: Mapping[str, Any] = field(default_factory=dict)
    remembers: tuple[str, ...] = ()
    guard: Limits = UNLIMITED


def choose(name: str, view: ReadView, situation: Situation) -> Chosen:
    """Choose the method of a run of a view that nobody has brought on."""
    changed = frozenset(
        source for source in view.sources if situation.end[source] != situation.start.get(source)
    )
    if situation.start and not changed and not view.clock:
        return Chosen("unchanged", (Reason("NO_CHANGE"),), None)
    analysis = analysis_of(view)
    if analysis is None or analysis.verdict():
        obstacles = view.reasons if analysis is None else analysis.verdict()
        return _stateless(name, view, analysis, situation, first_run(situation) + obstacles)
    if situation.policy == "full":
        return _stateless(name, view, analysis, situation, (Reason("POLICY", "full"),))
    if not situation.start:
        return _built(name, view, analysis, situation, first_run(situation))
    if situation.rebuilds:
        reason = Reason("STATE_MISSING", situation.rebuilds)
        return _built(name, view, analysis, situation, (reason,))
    return _weighed(name, view, situation, situation.question(name, analysis, changed))


def _weighed(name: str, view: ReadView, situation: Situation, question: Question) -> Chosen:
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
    known = {program: in_full(program, view, situation) for program in {*full.values()}}
    candidates = {way: known[program] for way, program in full.items()}
    case = _case(view, situation, now, candidates)
    if case.missing and situation.remembers:
        built_first = question.as_if_built(situation.remembers)
        now = question.stopped(built_first) or built_first
        situation = situation.without({*built_first.chains} - {*now.chains})
        case = case.going_by(extending(now.maintenance.program, view, situation))
    found = _found(case, situation)
    if found.way == "incremental":
        new = question.reconsidered(now, found.full)
        return _extended(view, situation, new, case, found.reasons)
    without = question.stopped(now) if now.chains and not case.missing else None
    if without is not None:
        other = _case(view, situation, without, candidates)
        going_on = _found(other, situation)
        if going_on.way == "incremental":
            return _extended(view, situation, without, other, going_on.reasons)
    new = now
    if may_build(case, found):
        new = question.started_in_full(now, found, situation.remembers)
    if new is not now and new.switch is not None:
        found = with_join(found, new.switch.saving, new.switch.cost)
    told = {**found.to_dict(), **new.told()}
    if found.way == "rebuild":
        situation = replace(situation, remembers=tuple({*situation.remembers, *new.chains}))
        chosen = Chosen("full", found.reasons, built, predicted=told)
        return _with_joins(name, view, question.analysis, situation, chosen)
    remembers = situation.remembers
    return Chosen("full", found.reasons, full["text"], predicted=told, remembers=remembers)


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
        Ways(incremental=extending(maintained, view, situation), **full),
        situation.evidence,
        situation.share,
        missing
        or passed_snapshot(maintained, situation.start, situation.mirrors)
        or (APART if situation.is_apart else ""),
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
) -> Chosen:
    """Extend the answer, and remember from then on what is worth it."""
    program = new.maintenance.program
    predictions = case.going_by(extending(program, view, situation)).predictions()
    found = predictions.taken("incremental").to_dict()
    return Chosen(
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
) -> Chosen:
    alone, is_signed = without_states(name, view, analysis), situation.adds_signed_rows
    program, other = alone.taken(is_signed=is_signed), alone.taken(is_signed=not is_signed)
    predicted = predicted_of("text", program, view, situation, other)
    return Chosen("full", reasons, program, predicted=predicted)


def _built(
    name: str,
    view: ReadView,
    analysis: Maintainability,
    situation: Situation,
    reasons: tuple[Reason, ...],
) -> Chosen:
    """Build states and answer anew where there is nothing to choose."""
    program = anew(name, view, analysis)
    predicted = predicted_of("rebuild", program, view, situation)
    return _with_joins(
        name, view, analysis, situation, Chosen("full", reasons, program, predicted=predicted)
    )


def _with_joins(
    name: str, view: ReadView, analysis: Maintainability, situation: Situation, built: Chosen
) -> Chosen:
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


def first_run(situation: Situation) -> tuple[Reason, ...]:
    """Why a run has no answer to go on from; nothing where it has."""
    if situation.start:
        return ()
    if situation.broken:
        return (Reason("REFERENCE_BROKEN", situation.broken),)
    return (Reason("FIRST_RUN"),)

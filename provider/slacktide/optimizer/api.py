"""The planner's door: which method a run uses for a view, and its program.

A pure function of what it is given; it opens no store, reads no clock and needs no JVM.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.common.tree import of_type
from slacktide.optimizer.costs import Evidence, Vector, Way, program_key, program_work
from slacktide.optimizer.derivation import batch, evaluate, maintain, rebuild, resume, scopes
from slacktide.optimizer.foreign_keys import ForeignKey
from slacktide.optimizer.maintainability import Maintainability
from slacktide.optimizer.plan import Method, Versions, ViewPlan
from slacktide.optimizer.remembered_joins import (
    Question,
    Remembering,
    is_there,
    joins_of,
    sources_of,
)
from slacktide.optimizer.statistics import Statistics
from slacktide.optimizer.weighing import LARGEST_SHARE, Case, Ways, Weighed, weigh
from slacktide.program.operator import Program, ReadBag, ReadSnapshot, ReadState, Save


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


def verdict(view: ReadView) -> tuple[Reason, ...]:
    """Why a view is recomputed from its sources in every run; empty when it is maintained."""
    analysis = _analysis(view)
    return view.reasons if analysis is None else analysis.verdict()


def _analysis(view: ReadView) -> Maintainability | None:
    """The analyses of a view that was read; None where there are reasons before them."""
    if view.relation is None or view.reasons:
        return None
    return Maintainability(view.relation, view.conf)


def state_sources(view: ReadView, remembers: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    """The states that a maintained view keeps, and the sources that each is made of.

    Args:
        view: as read.
        remembers: the chains of joins that it remembers besides what its operators need.
    """
    analysis = _analysis(view)
    if analysis is None or analysis.verdict():
        return {}
    return {**scopes(analysis), **sources_of(analysis, remembers)}


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What any run of a view goes by, besides the one that builds its states.

    Attributes:
        snapshots: the sources whose snapshots it reads, whatever foreign keys hold.
        foreign_keys: those that it goes by, of such as hold.
    """

    snapshots: frozenset[str]
    foreign_keys: frozenset[ForeignKey] = frozenset()


def upkeep_of(
    view: ReadView,
    policy: str,
    known: frozenset[ForeignKey] = frozenset(),
    remembers: Collection[str] = (),
) -> Upkeep:
    """Say what any run of a view goes by, where some foreign keys hold and it remembers some joins."""
    analysis = _analysis(view)
    if analysis is None or policy == "full" or analysis.verdict():
        return Upkeep(frozenset(view.sources))
    remembered = joins_of(analysis, remembers)
    made = maintain("", analysis, frozenset(view.sources), known, remembered=remembered)
    read = frozenset(read.source for read in of_type(made.program, ReadSnapshot))
    return Upkeep(read, made.foreign_keys)


def kept_versions(view: ReadView, states: Mapping[str, Versions], end: Versions) -> Versions:
    """The versions of the states that are there for a view; those that stand together, if not all.

    Args:
        view: without an answer, as it is new or was replaced.
        states: the versions of each state that exists, by chain id.
        end: versions that the answer is to be made of.
    """
    found: dict[str, int] = {}
    there = [states[chain] for chain in state_sources(view) if chain in states]
    for versions in sorted(there, key=lambda v: (-len(v), -sum(v.values()))):
        is_ahead = any(version > end.get(source, 0) for source, version in versions.items())
        if not is_ahead and all(
            found.get(s, version) == version for s, version in versions.items()
        ):
            found.update(versions)
    return found


def plan_view(name: str, view: ReadView, situation: Situation) -> ViewPlan:
    """Plan one run of one view."""
    resumed = None if situation.start else _resumed(name, view, situation)
    if resumed is not None:
        return resumed
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


def _resumed(name: str, view: ReadView, situation: Situation) -> ViewPlan | None:
    """Plan an answer from states that are there; None where there are none, or where that is more."""
    analysis = _analysis(view)
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
    program = resume(name, analysis, changed, kept)
    if program is None or _passed_snapshot(program, replace(situation, start=start)):
        return None
    reasons = (*_first_run(situation), Reason("STATES_KEPT"))
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


def plan_text(view: ReadView, plan: ViewPlan, failure: str) -> ViewPlan | None:
    """Plan the same run by the author's text over whole snapshots, after its program has failed.

    Batch never sees a row that came and went, where a change may stumble over it.

    Args:
        view: the view.
        plan: of the run that failed.
        failure: code of the error.

    Returns:
        A plan that leaves the states as they are; None where the failed one was such a plan.
    """
    program = _from_snapshots(plan.view, view)
    if program == plan.program:
        return None
    reasons = (*plan.reasons, Reason("CHANGE_FAILS", failure))
    return replace(
        plan_without_start(plan) or plan,
        method="full",
        reasons=reasons,
        program=program,
        foreign_keys=(),
        predicted={},
    )


def plan_without_start(plan: ViewPlan) -> ViewPlan | None:
    """Plan the same run without what it starts to remember; None where it starts nothing.

    A join may fail over rows that neither batch nor any change brings together.
    """
    if plan.program is None or plan.method != "incremental":
        return None
    steps = plan.program.steps
    begun = {s.chain for s in steps if isinstance(s, Save) and s.is_base} & {*plan.remembers}
    if not begun:
        return None
    kept = tuple(s for s in steps if not (isinstance(s, Save) and s.chain in begun))
    remembers = tuple(chain for chain in plan.remembers if chain not in begun)
    return replace(plan, program=Program(kept), remembers=remembers)


def _choose(name: str, view: ReadView, situation: Situation) -> _Chosen:
    changed = frozenset(
        source for source in view.sources if situation.end[source] != situation.start.get(source)
    )
    if situation.start and not changed and not view.clock:
        return _Chosen("unchanged", (Reason("NO_CHANGE"),), None)
    analysis = _analysis(view)
    if analysis is None or analysis.verdict():
        obstacles = view.reasons if analysis is None else analysis.verdict()
        return _by_text(name, view, situation, _first_run(situation) + obstacles)
    if situation.policy == "full":
        return _by_text(name, view, situation, (Reason("POLICY", "full"),))
    if not situation.start:
        return _built(name, view, analysis, situation, _first_run(situation))
    if situation.rebuilds:
        reason = Reason("STATE_MISSING", situation.rebuilds)
        return _built(name, view, analysis, situation, (reason,))
    question = Question(
        name,
        analysis,
        changed,
        situation.foreign_keys,
        situation.statistics,
        situation.evidence,
        situation.start,
        situation.states,
    )
    return _weighed(name, view, situation, question)


def _weighed(name: str, view: ReadView, situation: Situation, question: Question) -> _Chosen:
    """Choose between what extends the answer, what builds it with its states, and the text."""
    now = question.present(situation.remembers)
    full = {"rebuild": _anew(name, view, question.analysis), "text": _from_snapshots(name, view)}
    works = {way: _work(program, view, situation) for way, program in full.items()}
    case = _case(view, situation, now, works)
    found = _found(case, situation)
    without = question.stopped(now) if now.chains and found.way != "incremental" else None
    if without is not None:
        other = _case(view, situation, without, works)
        if _found(other, situation).way == "incremental":
            return _extended(view, situation, without, other)
    if found.way == "incremental":
        return _extended(view, situation, question.reconsidered(now), case)
    return _Chosen(
        "full",
        () if found.reason is None else (found.reason,),
        full[found.way],
        predicted=found.to_dict(),
        remembers=now.chains if found.way == "text" else (),
    )


def _case(
    view: ReadView,
    situation: Situation,
    now: Remembering,
    full: Mapping[str, tuple[str, Vector]],
) -> Case:
    """What speaks for each way of a run that may go by some joins."""
    maintained = now.maintenance.program
    missing = missing_state(maintained, situation.start, situation.states)
    return Case(
        Ways(incremental=_work(maintained, view, situation), **full),
        situation.evidence,
        situation.share,
        missing or _passed_snapshot(maintained, situation),
        situation.is_shared,
    )


def _found(case: Case, situation: Situation) -> Weighed:
    if situation.policy != "incremental":
        return weigh(case)
    if case.missing:
        return case.predictions().taken("rebuild", Reason("STATE_MISSING", case.missing))
    return case.predictions().taken("incremental")


def _extended(view: ReadView, situation: Situation, new: Remembering, case: Case) -> _Chosen:
    """Extend the answer, and remember from then on what is worth it."""
    program = new.maintenance.program
    ways = replace(case.ways, incremental=_work(program, view, situation))
    found = replace(case, ways=ways).predictions().taken("incremental").to_dict()
    return _Chosen(
        "incremental",
        (),
        program,
        tuple(sorted(map(str, new.maintenance.foreign_keys))),
        {**found, "remembering": new.switch.to_dict()} if new.switch else found,
        new.chains,
    )


def _by_text(
    name: str, view: ReadView, situation: Situation, reasons: tuple[Reason, ...]
) -> _Chosen:
    program = _from_snapshots(name, view)
    return _Chosen("full", reasons, program, predicted=_predicted("text", program, view, situation))


def _built(
    name: str,
    view: ReadView,
    analysis: Maintainability,
    situation: Situation,
    reasons: tuple[Reason, ...],
) -> _Chosen:
    program = _anew(name, view, analysis)
    return _Chosen(
        "full", reasons, program, predicted=_predicted("rebuild", program, view, situation)
    )


def _predicted(
    way: Way, program: Program, view: ReadView, situation: Situation
) -> Mapping[str, Any]:
    """What a program is expected to cost where there is nothing to choose; empty if it is not read."""
    if view.relation is None:
        return {}
    found = situation.evidence.predict(way, *_work(program, view, situation))
    return Weighed(way, None, (found,)).to_dict()


def _work(program: Program, view: ReadView, situation: Situation) -> tuple[str, Vector]:
    """The digest and the work of a program."""
    return program_key(program), program_work(program, situation.statistics, view.relation)


def _passed_snapshot(program: Program, situation: Situation) -> str:
    """Name a source whose mirror is past the old snapshot that a program reads, or give no text."""
    for read in of_type(program, ReadSnapshot):
        start = situation.start.get(read.source, 0)
        if read.moment == "before" and situation.mirrors.get(read.source, 0) > start:
            return f"rows of {read.source} at version {start}"
    return ""


def _anew(name: str, view: ReadView, analysis: Maintainability) -> Program:
    """States and answer from the sources; the author's text where there are no states."""
    program = rebuild(name, analysis)
    return program if any(True for _ in of_type(program, Save)) else _from_snapshots(name, view)


def _from_snapshots(name: str, view: ReadView) -> Program:
    """The author's own text; the relation only where the order needs columns the text hides."""
    if view.relation is not None and len(view.relation.columns) > len(view.outputs):
        return evaluate(name, view.relation)
    return batch(name, view.outputs)


def _first_run(situation: Situation) -> tuple[Reason, ...]:
    if situation.start:
        return ()
    if situation.broken:
        return (Reason("REFERENCE_BROKEN", situation.broken),)
    return (Reason("FIRST_RUN"),)


def missing_state(program: Program, start: Versions, states: Mapping[str, Versions]) -> str:
    """Name a state that is not there as of the start of a run, or give an empty text.

    Args:
        program: of the run.
        start: versions from which the run goes on.
        states: the versions of each state that exists, by chain id.
    """
    needed = {read.chain for read in of_type(program, ReadState)}
    needed |= {read.chain for read in of_type(program, ReadBag)}
    needed |= {save.chain for save in of_type(program, Save) if not save.is_base}
    chains = sorted(filter(_is_state, needed))
    return next((chain for chain in chains if not is_there(chain, start, states)), "")


def _is_state(chain: str) -> bool:
    """Whether a chain is a state: an answer is there with its view, at the version of its start."""
    return chain.startswith("states/")

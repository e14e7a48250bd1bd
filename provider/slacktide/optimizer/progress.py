"""Runs of a view whose answer is due only now and then (PDW-PD, tempura.md §5).

A period has as many refreshes as the goal of the view has weights, and the answer is due at the last one.
A refresh before it may store what makes the due one cheaper, where that pays by the weights; nobody reads
it but the runs of the period. Of all refreshes to come only the due one is planned with the one at hand, and
each plans again by what has really come (tempura.md §5, dynamic re-optimisation).

Each decision is held against what a view without a period would do, by the same prices: a refresh that has
nothing to gain leaves all to the due one, and the due one goes by what is stored only where that is cheaper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.common.tree import of_type
from slacktide.errors import InvariantError
from slacktide.optimizer.api import Situation, plan_view
from slacktide.optimizer.costs import program_work
from slacktide.optimizer.costs.memo import MemoCosts
from slacktide.optimizer.derivation import maintain
from slacktide.optimizer.estimates import NOTHING
from slacktide.optimizer.expand import Problem, Switches, expand
from slacktide.optimizer.full import from_snapshots
from slacktide.optimizer.kept import chains_at_start, kept_of
from slacktide.optimizer.maintainability import Maintainability
from slacktide.optimizer.plan import Versions, ViewPlan
from slacktide.optimizer.remembered_joins import is_there
from slacktide.optimizer.rounds import Naming, Rounds
from slacktide.optimizer.statistics import Statistics
from slacktide.optimizer.statistics.intervals import before_last, newest, united
from slacktide.optimizer.turn import Turn
from slacktide.optimizer.upkeep import analysis_of
from slacktide.program.operator import Operator, Program, operator_inputs

MOST_INSTANTS: Final = 4
"""Instants that are planned at once: the answer before, two refreshes, and the due one."""
MOST_OPERATORS: Final = 500
"""Operators of a step, each as often as it is read: Spark plans each of them."""
MICRO: Final = 1e-6
"""Seconds of a unit in which the memo prices."""
SWITCHES: Final = Switches(is_translated=False, is_guided=False)
"""What came over several intervals is what the due refresh puts together."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a view stands between two of its answers.

    Attributes:
        weights: of the refreshes of a period: the price of a second of CPU in each; the last is due.
        turn: the place of the refresh at hand among them, from 1.
        period: tells this period of the view from others.
        reached: the versions that the answer is made of, then those of each refresh that has stored something.
        stored: the chains that these have written.
        keeps: the states and joins that the view keeps from answer to answer.
        statistics: what is known, with what came from each of `reached` to the next, then by this refresh, and
            if it is not the due one, what is expected until that.
    """

    weights: tuple[Fraction, ...]
    turn: int
    period: str
    reached: tuple[Versions, ...]
    stored: tuple[str, ...]
    keeps: tuple[str, ...]
    statistics: Statistics

    @property
    def is_due(self) -> bool:
        """Whether the answer is due at this refresh."""
        return self.turn >= len(self.weights)


def plan_turn(name: str, view: ReadView, situation: Situation, progress: Progress) -> ViewPlan:
    """Plan a refresh of a view with an answer that is due only now and then.

    Args:
        name: of the view.
        view: as read.
        situation: of a run that goes on from the answer.
        progress: where the view stands since then.
    """
    if progress.is_due:
        return _due(name, view, situation, progress)
    return _early(name, view, situation, progress)


def _due(name: str, view: ReadView, situation: Situation, progress: Progress) -> ViewPlan:
    """The answer: from what the period has stored, or without it, whichever is cheaper."""
    turn = Turn(progress.turn, len(progress.weights))
    plan = replace(plan_view(name, view, situation), turn=turn)
    if len(progress.reached) == 1 or plan.program is None or situation.rebuilds:
        return plan
    known = progress.statistics
    rounds = _rounds(name, view, situation, progress, known)
    if rounds is None:
        return plan
    try:
        program = rounds.onward().program
    except InvariantError:  # what has come was not expected, and nothing is stored for it
        return plan
    price = _price(program, view, situation, newest(known))
    if _operators(program) > MOST_OPERATORS or not is_worth(
        price, _price(plan.program, view, situation, situation.statistics)
    ):
        return plan
    return replace(
        plan,
        method="incremental",
        reasons=(),
        program=program,
        start=progress.reached[-1],
        foreign_keys=(),
        predicted={"cpu_seconds": round(price, 6)},
        remembers=situation.remembers,
        estimates=NOTHING,
        guard={},
        turn=replace(turn, expects=_expected(situation, progress)),
    )


def _early(name: str, view: ReadView, situation: Situation, progress: Progress) -> ViewPlan:
    """What a refresh before the due one stores; nothing where waiting costs no more."""
    of = len(progress.weights)
    idle = ViewPlan(
        name,
        "unchanged",
        (Reason("NOT_DUE", f"{progress.turn} of {of}"),),
        None,
        progress.reached[-1],
        situation.end,
        situation.token,
        remembers=situation.remembers,
        turn=Turn(progress.turn, of, progress.reached[1:], dict.fromkeys(progress.stored, ())),
    )
    if progress.reached[-1] == situation.end or len(progress.reached) + 2 > MOST_INSTANTS:
        return idle
    analysis = analysis_of(view)
    rounds = _rounds(name, view, situation, progress, progress.statistics)
    if analysis is None or rounds is None:
        return idle
    weight, due = progress.weights[progress.turn - 1], progress.weights[-1]
    early = rounds.early(weight, due, _quiet(progress.statistics, len(progress.reached) + 1))
    waiting = _waiting(name, view, analysis, situation, progress)
    is_idle = not early.program.steps or _operators(early.program) > MOST_OPERATORS
    if is_idle or not is_worth(float(early.cost) * MICRO, float(due) * waiting):
        return idle
    price = _price(early.program, view, situation, newest(before_last(progress.statistics)))
    return replace(
        idle,
        method="incremental",
        program=early.program,
        predicted={"cpu_seconds": round(price, 6)},
        turn=replace(
            idle.turn or Turn(progress.turn, of),
            reached=(*progress.reached[1:], situation.end),
            chains={**dict.fromkeys(progress.stored, ()), **early.scopes},
            expects=_expected(situation, progress),
        ),
    )


def is_worth(cost: float, instead: float) -> bool:
    """Whether a way that has states of a period in it is taken in the place of one that has none."""
    return cost < instead


def _expected(situation: Situation, progress: Progress) -> Mapping[str, Versions]:
    return {chain: situation.states[chain] for chain in (*progress.keeps, *progress.stored)}


def _waiting(
    name: str,
    view: ReadView,
    analysis: Maintainability,
    situation: Situation,
    progress: Progress,
) -> float:
    """Seconds of CPU that the due refresh is expected to take where this one stores nothing."""
    known = progress.statistics
    at_once = united(known)
    changed = frozenset(n for n, one in at_once.sources.items() if one.changes[0].rows.value)
    programs = [
        maintain(name, analysis, changed, situation.foreign_keys).program,
        from_snapshots(name, view),
    ]
    prices = [_price(program, view, situation, at_once) for program in programs]
    if len(progress.reached) > 1:
        later = united(known, len(progress.reached) - 1)
        rounds = _rounds(name, view, situation, progress, later)
        if rounds is not None:
            prices.append(rounds.onward().key[0] * MICRO)
    return min(prices)


def _rounds(
    name: str,
    view: ReadView,
    situation: Situation,
    progress: Progress,
    statistics: Statistics,
) -> Rounds | None:
    """The plans that go on from the answer and all that is stored; None where there are none.

    A state that the memo does not have, or that is not as of the answer, would be lost on the way.
    """
    analysis = analysis_of(view)
    if analysis is None or analysis.verdict() or situation.policy == "full":
        return None
    if not all(is_there(chain, situation.start, situation.states) for chain in progress.keeps):
        return None
    instants = 1 + max(len(source.changes) for source in statistics.sources.values())
    tables = tuple(sorted(sources(analysis.root)))
    problem = Problem(
        analysis.root, tables, instants, view.conf, _quiet(statistics, len(progress.reached))
    )
    expanded = expand(problem, switches=SWITCHES)
    if not expanded.trace.is_whole:
        return None
    there = chains_at_start(expanded.memo, view.conf)
    if not there.keys() >= {*progress.keeps}:
        return None
    groups = [there[chain] for chain in progress.keeps]
    kept = [kept_of(expanded.memo, group, view.conf, instants) for group in groups]
    if any(one.change is None and one.after != one.before for one in kept):
        return None
    costs = MemoCosts(expanded.memo, statistics, situation.evidence.coefficients)
    return Rounds(
        name,
        expanded,
        groups,
        price=costs.price,
        carrying=costs.carrying,
        conf=view.conf,
        naming=Naming(progress.period, progress.stored),
    )


def _quiet(statistics: Statistics, intervals: int) -> frozenset[tuple[str, int]]:
    """The sources to which nothing comes up to an instant from the one before, in the first intervals."""
    return frozenset(
        (name, instant)
        for name, source in statistics.sources.items()
        for instant, change in enumerate(source.changes[:intervals], 2)
        if change.rows.value == 0
    )


def _operators(program: Program) -> int:
    """The operators of the largest step, each as often as it is read."""
    known: dict[Operator, int] = {}
    for operator in of_type(program, Operator):
        known[operator] = 1 + sum(known[part] for part in operator_inputs(operator))
    return max((known[step.child] for step in program.steps), default=0)


def _price(program: Program, view: ReadView, situation: Situation, statistics: Statistics) -> float:
    """Seconds of CPU, in tasks and outside."""
    return situation.evidence.coefficients.price(program_work(program, statistics, view.relation))

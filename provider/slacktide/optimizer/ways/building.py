"""What a run that builds the states of a view builds: these, the answer, and the joins that it remembers (ADR 11)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from slacktide.algebra.view import ReadView
from slacktide.optimizer.costs import Vector, work_by_node
from slacktide.optimizer.costs.fitting import FLOOR
from slacktide.optimizer.programs.full import anew
from slacktide.optimizer.programs.join_bags import is_ahead, joins_of, still_worth_remembering
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.ways.candidates import in_full
from slacktide.optimizer.ways.case import Case
from slacktide.optimizer.ways.keeping import odds
from slacktide.optimizer.ways.savings import LEAST_SECONDS
from slacktide.optimizer.ways.situation import Situation
from slacktide.program.operator import Program, target

ONCE: Final = 1.0
"""Runs by increments that a join saves something in at least, where the states are built because runs have missed them."""


class BuiltJoin(NamedTuple):
    """A join that a run builds with the states.

    Attributes:
        work: what the run does more for it, by the model: what follows from the join is read from it, and not worked out anew.
        share: of what writing it takes, 0 to 1, by which the run takes more.
    """

    work: Vector
    share: float


@dataclass(frozen=True, slots=True)
class Building:
    """The program that builds the states of a view.

    Attributes:
        program: of the run.
        bare: the same without joins, by which past runs of either are known.
        remembers: the chains of the joins that the view remembers from then on, sorted.
        joins: those of them that the program writes.
    """

    program: Program
    bare: Program
    remembers: tuple[str, ...]
    joins: Mapping[str, BuiltJoin]

    @property
    def besides(self) -> Mapping[str, Vector]:
        """What is done more for each join."""
        return {chain: join.work for chain, join in self.joins.items()}

    def told(self) -> dict[str, Any]:
        """What plans store of the joins, by which the report tells what each has cost."""
        shares = {chain: round(join.share, 3) for chain, join in self.joins.items()}
        return {"joins": shares} if shares else {}


def building(
    name: str,
    view: ReadView,
    analysis: Maintainability,
    situation: Situation,
    chains: Collection[str],
) -> Building:
    """What a run builds that makes the answer anew with its states, and with some joins.

    Args:
        name: of the view.
        view: as read.
        analysis: of it.
        situation: of the run.
        chains: of the joins that are to be remembered; those that have grown too large are left out.
    """
    bare = anew(name, view, analysis)
    kept = still_worth_remembering(analysis, chains, situation.statistics)
    written = [chain for chain in kept if not _is_left_to_others(chain, situation)]
    if not written:
        return Building(bare, bare, kept, {})
    alone = in_full(bare, view, situation).work
    joins: dict[str, BuiltJoin] = {}
    program = bare
    for chain in written:
        program = anew(name, view, analysis, joins_of(analysis, [chain]))
        found = work_by_node(program, situation.statistics, view.relation)
        (number,) = (n for n, step in enumerate(program.steps) if target(step) == chain)
        joins[chain] = _built_join(found.total.minus(alone), found.of_step(number), situation)
    if len(written) > 1:
        program = anew(name, view, analysis, joins_of(analysis, written))
    return Building(program, bare, kept, joins)


def dear_joins(case: Case) -> Mapping[str, float]:
    """The joins that are dearer to build with the states than they save, with the seconds of CPU that building each last took.

    A join saves what it was started for, in each run by increments between this build and the next: as many as the
    newest runs tell. One that grew larger than was expected, of a view that is built again after each large change, may cost more.

    Args:
        case: of a run that may build the states, and joins with them.
    """
    evidence, full = case.evidence, min(one.price for one in case.in_full())
    times = max(odds(case, full), ONCE) if case.later is None else case.later
    found: dict[str, float] = {}
    for chain in case.joins:
        took, saved = evidence.last_build_of(chain), evidence.saved_by(chain)
        if took is None or saved is None or took <= LEAST_SECONDS:
            continue
        if took > saved * times:
            found[chain] = took
    return found


def _built_join(work: Vector, step: Vector, situation: Situation) -> BuiltJoin:
    in_tasks = situation.evidence.coefficients.in_tasks
    return BuiltJoin(work, min(max(in_tasks(work) / max(in_tasks(step), FLOOR), 0.0), 1.0))


def _is_left_to_others(chain: str, situation: Situation) -> bool:
    """Whether a join is a state of another view, which would have to catch up with it, or is ahead of this run."""
    others = situation.others
    is_needed = others.need(chain) and others.hold(chain)
    return is_needed or is_ahead(situation.states.get(chain, {}), situation.end)

"""What a run that builds the states of a view builds: these, the answer, and the joins that it remembers (ADR 11)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from slacktide.algebra.view import ReadView
from slacktide.optimizer.costs import Candidate
from slacktide.optimizer.programs.full import anew
from slacktide.optimizer.programs.join_bags import is_ahead, joins_of, still_worth_remembering
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.ways.case import Case
from slacktide.optimizer.ways.expectation import in_full
from slacktide.optimizer.ways.keeping import odds
from slacktide.optimizer.ways.remembered_joins import LEAST_SECONDS, Question, Remembering
from slacktide.optimizer.ways.situation import Situation
from slacktide.program.operator import Program


@dataclass(frozen=True, slots=True)
class Building:
    """The program that builds the states of a view.

    Attributes:
        program: of the run.
        candidate: what is known of it, and of the same without joins.
        bare: the same program without joins.
        chains: of the joins that the view remembers from then on, sorted.
        written: those of them that the program writes.
    """

    program: Program
    candidate: Candidate
    bare: Program
    chains: tuple[str, ...]
    written: tuple[str, ...]

    def without_joins(self) -> Building:
        """The same without those that it writes."""
        chains = tuple(chain for chain in self.chains if chain not in self.written)
        bare = (self.candidate.bare or self.candidate)._replace(richer=self.candidate)
        return Building(self.bare, bare, self.bare, chains, ())

    def more(self, case: Case) -> float:
        """Seconds of CPU that building the joins is expected to take besides.

        Args:
            case: of the run.
        """
        bare = self.without_joins().candidate
        return case.rebuilding(self.candidate) - case.rebuilding(bare)


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
    known = in_full(bare, view, situation)
    kept = still_worth_remembering(analysis, chains, situation.statistics)
    written = tuple(chain for chain in kept if not _is_left_to_others(chain, situation))
    if not written:
        return Building(bare, known, bare, kept, ())
    program = anew(name, view, analysis, joins_of(analysis, written))
    candidate = in_full(program, view, situation)._replace(joins=written, bare=known)
    return Building(program, candidate, bare, kept, written)


def dear_joins(
    built: Building, question: Question, now: Remembering, case: Case
) -> Remembering | None:
    """What is remembered on where building the joins costs more than they save; None where it does not, or nobody knows.

    A join saves what it was thought to save when it was started, in each run by increments between this build and the next: as many as the newest
    runs tell. One that grew larger than was expected, of a view that is built again after each large change, may cost more.

    Args:
        built: what a run builds that builds the states.
        question: which joins there are.
        now: what is remembered at the start of the run, or would be once the states are built.
        case: of the run.
    """
    savings = [case.evidence.saved_by(chain) for chain in built.written]
    cost = built.more(case) if built.written else 0.0
    if cost <= LEAST_SECONDS or None in savings:
        return None
    _, text = case.in_full()
    full = min(text.price, case.rebuilding(built.candidate) - cost)
    times = case.rounds - 1 if case.rounds else odds(case, full)
    if cost <= sum(filter(None, savings)) * times:
        return None
    chains = tuple(chain for chain in now.chains if chain not in built.written)
    return question.giving_up(built.written, chains, cost)


def _is_left_to_others(chain: str, situation: Situation) -> bool:
    """Whether a join is a state of another view, which would have to catch up with it, or is ahead of this run."""
    others = situation.others
    is_needed = others.need(chain) and others.hold(chain)
    return is_needed or is_ahead(situation.states.get(chain, {}), situation.end)

"""What a view asks of the planner in every run: whether it is maintained, what it keeps, what it goes by."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from slacktide.algebra.view import ReadView
from slacktide.common.chain_ids import is_state
from slacktide.common.reasons import Reason
from slacktide.common.tree import of_type
from slacktide.optimizer.plan import Versions
from slacktide.optimizer.programs.derivation import Premises
from slacktide.optimizer.programs.determinacy import are_states_determined
from slacktide.optimizer.programs.join_bags import is_ahead, is_there, joins_of, sources_of
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import maintain, scopes, stacks
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey
from slacktide.program.chains import chains_read, snapshots_read
from slacktide.program.operator import Program, ReadSnapshot, Save


def verdict(view: ReadView) -> tuple[Reason, ...]:
    """Why a view is recomputed from its sources in every run; empty when it is maintained."""
    analysis = analysis_of(view)
    return view.reasons if analysis is None else analysis.verdict()


def analysis_of(view: ReadView) -> Maintainability | None:
    """The analyses of a view that was read; None where there are reasons before them."""
    if view.relation is None or view.reasons:
        return None
    return Maintainability(view.relation, view.conf)


def maintained(view: ReadView, policy: str = "auto") -> Maintainability | None:
    """The analyses of a view that is maintained under a policy; None of one that is recomputed in every run."""
    analysis = None if policy == "full" else analysis_of(view)
    return None if analysis is None or analysis.verdict() else analysis


def state_sources(view: ReadView, remembers: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    """The states that a maintained view keeps, and the sources that each is made of.

    Args:
        view: as read.
        remembers: the chains of joins that it remembers besides what its operators need.
    """
    analysis = maintained(view)
    if analysis is None:
        return {}
    return {**scopes(analysis), **sources_of(analysis, remembers)}


def undetermined_states(view: ReadView) -> dict[str, frozenset[str]]:
    """The states of a view, and those below each, where what they hold does not follow from the rows of the sources alone.

    Made twice, they may differ; so one goes with those below it alone that it was made from.
    """
    analysis = maintained(view)
    return {} if analysis is None or are_states_determined(analysis) else stacks(analysis)


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
    analysis = maintained(view, policy)
    if analysis is None:
        return Upkeep(frozenset(view.sources))
    premises = Premises(known, joins_of(analysis, remembers))
    made = maintain("", analysis, frozenset(view.sources), premises)
    return Upkeep(snapshots_read(made.program), made.foreign_keys)


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
        if not is_ahead(versions, end) and all(
            found.get(s, version) == version for s, version in versions.items()
        ):
            found.update(versions)
    return found


def missing_state(program: Program, start: Versions, states: Mapping[str, Versions]) -> str:
    """Name a state that is not there as of the start of a run, or give an empty text.

    Args:
        program: of the run.
        start: versions from which the run goes on.
        states: the versions of each state that exists, by chain id.
    """
    needed = chains_read(program)
    needed |= {save.chain for save in of_type(program, Save) if not save.is_base}
    # An answer is there with its view, at the version of its start.
    chains = sorted(filter(is_state, needed))
    return next((chain for chain in chains if not is_there(chain, start, states)), "")


def passed_snapshot(program: Program, start: Versions, mirrors: Mapping[str, int]) -> str:
    """Name a source whose rows as of the start of a run are read and are in no mirror any more, or give an empty text.

    Args:
        program: of the run.
        start: versions from which the run goes on.
        mirrors: by source, the version of which its mirror holds the current rows.
    """
    for read in of_type(program, ReadSnapshot):
        version = start.get(read.source, 0)
        if read.moment == "before" and mirrors.get(read.source, 0) > version:
            return f"rows of {read.source} at version {version}"
    return ""

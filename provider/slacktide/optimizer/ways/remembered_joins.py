"""When a view remembers joins besides the states that its operators need (ADR 11).

An incremental run reads a join as of a moment where it meets a change, such as `R ⋈ S` in `(R ⋈ S) ⋈ ΔA`.
Where the keys of `ΔA` lie anywhere in the tables, these are read whole, run after run, however few rows the
join has. Kept as a bag, an auxiliary view (D. Quass and others, *Making views self-maintainable for data
warehousing*, PDIS 1996), it costs a read of its own rows and a write of its change.

A view starts to remember a join when the runs without it, or the dear ones among them, would have saved by it
what starting costs (ski rental, as states are built again, see `keeping`), and stops when runs with it have turned out dearer than those
without, after such changes as have come. A run that builds the states anew builds them, too, and one that gives
the answer alone leaves all behind, unless a join pays for building these with it. Which joins may be remembered, and which are there: `join_bags`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from slacktide.optimizer.costs import Evidence, program_key
from slacktide.optimizer.plan import Versions
from slacktide.optimizer.programs.derivation import Premises
from slacktide.optimizer.programs.join_bags import (
    is_large,
    is_there,
    joins,
    joins_of,
    present,
    still_worth_remembering,
)
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import Maintenance, maintain, scopes
from slacktide.optimizer.ways.occasion import asking_runs, dear_runs
from slacktide.optimizer.ways.others import NOBODY, Others
from slacktide.optimizer.ways.savings import Savings, pays
from slacktide.optimizer.ways.switch import Remembering, Switch
from slacktide.optimizer.ways.weighed import Weighed

FEW_ROWS: Final = 20_000
"""Rows of a remembered join that are held against the states that they meet, wherever these are read."""


@dataclass(frozen=True, slots=True)
class Question:
    """Which joins one view remembers from one run on.

    Attributes:
        view: its name.
        analysis: of it.
        changed: the sources that have changed.
        premises: what its programs go by besides, without any join.
        evidence: the view's past runs.
        start: the versions that the run goes on from.
        states: the versions of each state that exists, of any view, by chain.
        others: what other views keep.
        later: as of `case.Case`.
    """

    view: str
    analysis: Maintainability
    changed: frozenset[str]
    premises: Premises
    evidence: Evidence
    start: Versions
    states: Mapping[str, Versions]
    others: Others = NOBODY
    later: int | None = None

    def maintained(
        self, chains: Collection[str], begun: str = "", *, assumed_few: str = ""
    ) -> Maintenance:
        """The program that goes by the joins of some chains, and starts to remember another one.

        Args:
            chains: of the joins.
            begun: the one that it starts to remember.
            assumed_few: one that is not stored, taken to have few rows.
        """
        few = joins_of(
            self.analysis,
            [chain for chain in chains if chain == assumed_few or self._has_few(chain)],
        )
        return maintain(
            self.view,
            self.analysis,
            self.changed,
            replace(self.premises, remembered=joins_of(self.analysis, chains), few=few),
            begun=joins_of(self.analysis, [begun]) if begun else frozenset(),
        )

    @property
    def _savings(self) -> Savings:
        return Savings(self.evidence, self.premises.statistics, self.analysis.conf)

    def _has_few(self, chain: str) -> bool:
        """Whether a join has few rows, as far as it is stored."""
        stored = self.premises.statistics.stored.get(chain)
        return stored is not None and stored.rows <= FEW_ROWS

    def present(self, chains: Collection[str]) -> Remembering:
        """The program with what is remembered, of some chains those that are there as of the start."""
        return self.with_joins(present(chains, self.start, self.states))

    def with_joins(self, chains: Iterable[str]) -> Remembering:
        """The program that goes by some joins."""
        kept = tuple(sorted(chains))
        return Remembering(self.maintained(kept), kept)

    def as_if_built(self, chains: Collection[str]) -> Remembering:
        """The program of the run after one that builds all that is missing, with some joins of those that were left."""
        return self.with_joins(
            still_worth_remembering(self.analysis, chains, self.premises.statistics)
        )

    def reconsidered(self, now: Remembering, full: float) -> Remembering:
        """What to remember from this run on, which goes by increments.

        Args:
            now: what is remembered, and the program of the run.
            full: seconds of CPU that a full run is expected to take.
        """
        savings, program = self._savings, now.maintenance.program
        key = program_key(program)
        times = asking_runs(
            self.evidence, key, lambda: savings.price(savings.candidate(program)), full
        )
        if not times:
            return now
        is_usual = self.evidence.is_usual(key)
        return (self.stopped(now) if is_usual else None) or self._started(now, times) or now

    def started_in_full(
        self, now: Remembering, found: Weighed, named: Collection[str]
    ) -> Remembering:
        """What to remember from this run on, which goes in full: a join that increments have lacked.

        Args:
            now: what is remembered, and the program of a run by increments.
            found: the way that is taken. Where it builds no states, a join pays for these, too.
            named: the chains that are built in any case, as they were left behind. What another view holds is
                for a run by increments to take up.
        """
        times = dear_runs(self.evidence, program_key(now.maintenance.program))
        held = filter(self.others.hold, joins(self.analysis) if times else ())
        barred = {*named, *held}
        new = self._started(now, times, found.full, barred, found.building) if times else None
        return new or now

    def _started(
        self,
        now: Remembering,
        times: int,
        full: float = inf,
        barred: Collection[str] = (),
        building: float = 0.0,
    ) -> Remembering | None:
        """With the join that saves most, of those that the program reads tables for, some left out.

        Args:
            now: what is remembered, and the program of a run by increments.
            times: how many runs have lacked the join.
            full: seconds of CPU that such a run takes otherwise, where it does not go by increments.
            barred: chains of joins that are left out.
            building: seconds of CPU that a join costs besides.
        """
        savings = self._savings
        lacking = savings.candidate(now.maintenance.program)
        taken = min(savings.price(lacking), full)
        failed = {chain for run in self.evidence.runs for chain in run.failed_joins}
        left_out = {*scopes(self.analysis), *failed, *barred}
        found: list[Remembering] = []
        for chain, alike in sorted(joins(self.analysis).items()):
            rel = min(alike, key=lambda one: one.digest)
            is_read = not alike.isdisjoint(now.maintenance.read) and chain not in now.chains
            if not is_read or chain in left_out or is_large(chain, alike, self.premises.statistics):
                continue
            chains = tuple(sorted((*now.chains, chain)))
            after = self._after(chains, chain)
            if self._is_there(chain):
                first = after  # another view remembers it, or needs it
            elif self.others.hold(chain):
                continue  # another view keeps it as of other versions
            else:
                first = self.maintained(now.chains, chain)
            going_by = savings.candidate(after.program, rel)
            saving = taken - savings.price_with(lacking, going_by)
            more = -savings.saving(lacking, savings.candidate(first.program, rel))
            took = self.evidence.last_build_of(chain)
            cost = (max(more, 0.0) if took is None else took) + building
            if pays(saving, cost, times if self.later is None else self.later, taken):
                switch = Switch(rel, chain, starts=True, saving=saving, cost=cost)
                found.append(Remembering(first, chains, switch))
        return max(found, key=_saved, default=None)

    def _after(self, chains: Collection[str], started: str) -> Maintenance:
        """The program of the runs after a start.

        A join that was given up is not stored, so nobody can say whether it has few rows. The program that
        ran when it was remembered can: what that one took is the evidence.
        """
        if started not in self.premises.statistics.stored:
            few = self.maintained(chains, assumed_few=started)
            if self.evidence.newest(program_key(few.program)) is not None:
                return few
        return self.maintained(chains)

    def stopped(self, now: Remembering) -> Remembering | None:
        """Without the join of which runs took most more than those without; None where none did.

        Runs after other changes say nothing: small ones cost less with and without it, and what the model makes of
        one after a change a thousand times smaller is no evidence against it.
        """
        savings, has_alike = self._savings, self.evidence.has_alike
        held = savings.candidate(now.maintenance.program)
        if not has_alike(held):
            return None
        found: list[Remembering] = []
        for chain in now.chains:
            chains = tuple(other for other in now.chains if other != chain)
            without = self.maintained(chains)
            lacking = savings.candidate(without.program)
            if not has_alike(lacking):
                continue
            rel = min(joins_of(self.analysis, [chain]), key=lambda one: one.digest)
            saving = savings.saving(held, lacking)
            if pays(saving, 0.0, 1, savings.price(held)):
                switch = Switch(rel, chain, starts=False, saving=saving, cost=0.0)
                found.append(Remembering(without, chains, switch))
        return max(found, key=_saved, default=None)

    def _is_there(self, chain: str) -> bool:
        """Whether a state is there as of the start of the run."""
        return is_there(chain, self.start, self.states)


def _saved(found: Remembering) -> float:
    return 0.0 if found.switch is None else found.switch.saving

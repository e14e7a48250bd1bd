"""Which joins a view remembers besides what its operators need.

An incremental run reads a join as of a moment where it meets a change, such as `R ⋈ S` in `(R ⋈ S) ⋈ ΔA`.
Where the keys of `ΔA` lie anywhere in the tables, these are read whole, run after run, however few rows the
join has. Remembered as a bag, it costs a read of its own rows and a write of its change.

A view starts to remember a join when the runs that did without it would have saved by it what starting costs
(ski rental, as in `weighing`), and stops when the runs with it have turned out dearer than those without. What is
built anew remembers nothing of the kind, until runs speak for it again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Final

from slacktide.algebra import relation as r
from slacktide.algebra.nested import is_storable
from slacktide.algebra.tree import relations, sources
from slacktide.algebra.types import is_told_apart
from slacktide.optimizer.costs import Evidence, Vector, program_work
from slacktide.optimizer.costs.operators import COMPRESSED, moved
from slacktide.optimizer.derivation import Maintenance, maintain, scopes
from slacktide.optimizer.foreign_keys import ForeignKey
from slacktide.optimizer.maintainability import Maintainability
from slacktide.optimizer.states import bag_chain
from slacktide.optimizer.statistics import Cardinality, Statistics, StoredFacts
from slacktide.program.operator import Program

MOST_ROWS: Final = 0.1
"""Rows that are remembered of a join, as a share of those of the largest source below it."""
LEAST_SAVING: Final = 0.1
"""What remembering a join must save, as a share of what a run costs: less is noise."""
LEAST_SECONDS: Final = 0.1
"""Seconds of CPU that it must save."""


def remembered(analysis: Maintainability, chains: Collection[str]) -> frozenset[r.Rel]:
    """The joins of a view that some chains hold besides what its operators need."""
    held = {chain: rels for chain, rels in _joins(analysis).items() if chain in chains}
    needed = scopes(analysis) if held else {}
    return frozenset(rel for chain, rels in held.items() if chain not in needed for rel in rels)


def _joins(analysis: Maintainability) -> dict[str, frozenset[r.Rel]]:
    """The joins that may be remembered, by chain: those that mean the same share one.

    They have rows of base tables, of types that are stored and grouped by.
    """
    found: dict[str, set[r.Rel]] = defaultdict(set)
    for rel in relations(analysis.root):
        if isinstance(rel, r.Join) and rel != analysis.root and not analysis.is_state_backed(rel):
            types = [column.type for column in rel.columns]
            if types and all(is_storable(one) and is_told_apart(one) for one in types):
                found[bag_chain(rel, analysis.conf)].add(rel)
    return {chain: frozenset(rels) for chain, rels in found.items()}


def chains_of(analysis: Maintainability, rels: Collection[r.Rel]) -> dict[str, tuple[str, ...]]:
    """The chains of joins that are remembered, and the sources that each is made of."""
    return {bag_chain(rel, analysis.conf): sources(rel) for rel in rels}


@dataclass(frozen=True, slots=True)
class Change:
    """What a view starts or stops to remember, and why.

    Attributes:
        rel: the join.
        starts: whether it starts.
        saving: seconds of CPU that a run is expected to take less from then on.
        cost: seconds of CPU that the run which starts takes more.
    """

    rel: r.Rel
    starts: bool
    saving: float
    cost: float

    def to_dict(self) -> dict[str, Any]:
        """Give the form that plans store."""
        return {
            "rows_of": list(sources(self.rel)),
            "starts": self.starts,
            "saving": round(self.saving, 3),
            "cost": round(self.cost, 3),
        }


@dataclass(frozen=True, slots=True)
class Remembering:
    """An incremental program, and what is remembered once it has run.

    Attributes:
        maintenance: the program; with the write that starts, where it starts.
        rels: the joins.
        change: of what is remembered; None where that stays.
    """

    maintenance: Maintenance
    rels: frozenset[r.Rel]
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Which joins one view remembers from one run on.

    Args:
        view: its name.
        analysis: of it.
        changed: the sources that have changed.
        foreign_keys: those that hold.
        statistics: what is known as of the run.
        evidence: the view's past runs.
    """

    view: str
    analysis: Maintainability
    changed: frozenset[str]
    foreign_keys: frozenset[ForeignKey]
    statistics: Statistics
    evidence: Evidence

    def maintained(
        self, rels: frozenset[r.Rel], begun: frozenset[r.Rel] = frozenset()
    ) -> Maintenance:
        """The program that goes by some joins that are remembered, and starts to remember others."""
        return maintain(self.view, self.analysis, self.changed, self.foreign_keys, rels, begun)

    def reconsidered(self, now: Remembering) -> Remembering:
        """What to remember from this run on."""
        times = self.evidence.times(digest_of(now.maintenance.program))
        if not is_due(times):
            return now
        return self._stopped(now) or self._started(now, times) or now

    def _started(self, now: Remembering, times: int) -> Remembering | None:
        """The join that saves most, of those that runs have been read for."""
        program, needed = now.maintenance.program, scopes(self.analysis)
        found: dict[float, Remembering] = {}
        for chain, alike in _joins(self.analysis).items():
            rel = min(alike, key=lambda one: one.digest)
            if alike.isdisjoint(now.maintenance.read) or alike <= now.rels:
                continue
            if chain in needed or self._is_large(rel):
                continue
            saving = self._saving(program, self.maintained(now.rels | alike).program, rel)
            started = self.maintained(now.rels, frozenset({rel}))
            cost = -self._saving(program, started.program, rel)
            if is_earned(saving, cost, times, self._price(program)):
                change = Change(rel, starts=True, saving=saving, cost=cost)
                found[saving] = Remembering(started, now.rels | alike, change)
        return found[max(found)] if found else None

    def _stopped(self, now: Remembering) -> Remembering | None:
        """Without a join, where most of the newest runs went by it and took more than those without."""
        program = now.maintenance.program
        if not self.evidence.is_usual(digest_of(program)):
            return None
        for alike in _joins(self.analysis).values():
            if not alike <= now.rels:
                continue
            rel = min(alike, key=lambda one: one.digest)
            without = self.maintained(now.rels - alike)
            if self.evidence.newest(digest_of(without.program)) is None:
                continue
            saving = self._saving(program, without.program, rel)
            if is_earned(saving, 0.0, 1, self._price(program)):
                change = Change(rel, starts=False, saving=saving, cost=0.0)
                return Remembering(without, now.rels - alike, change)
        return None

    def _is_large(self, rel: r.Rel) -> bool:
        largest = max(self.statistics.source(name).rows.value for name in sources(rel))
        return Cardinality(self.statistics).of(rel).rows.value > MOST_ROWS * largest

    def _price(self, program: Program) -> float:
        return self.evidence.predict("incremental", digest_of(program), self._work(program)).price

    def _saving(self, now: Program, other: Program, rel: r.Rel) -> float:
        """Seconds of CPU that another program takes less than this one, which has run."""
        past = self.evidence.newest(digest_of(other))
        if past is not None:
            work = self._work(other, rel)
            return self._price(now) - self.evidence.predict("incremental", past.program, work).price
        less = self._work(now).minus(self._work(other, rel))
        rates = self.evidence.coefficients
        return rates.in_tasks(less) * self.evidence.error(digest_of(now)) + rates.outside(less)

    def _work(self, program: Program, rel: r.Rel | None = None) -> Vector:
        """The work of a program, where a join may be remembered that is not yet."""
        known = self.statistics
        chain = "" if rel is None else bag_chain(rel, self.analysis.conf)
        if rel is not None and chain not in known.stored:
            size = Cardinality(known).of(rel)
            facts = StoredFacts(size.rows.value, COMPRESSED * moved(size, rel.columns))
            known = replace(known, stored={**known.stored, chain: facts})
        return program_work(program, known)


def is_due(times: int) -> bool:
    """Whether to ask, after a program has run so often: after 1, 2, 4, 8, … runs, as asking takes time."""
    return times > 0 and times & (times - 1) == 0


def is_earned(saving: float, cost: float, times: int, price: float) -> bool:
    """Whether what past runs would have saved has reached what a change of what is remembered costs.

    Args:
        saving: seconds of CPU of one run.
        cost: seconds of CPU of the change.
        times: how many runs there were.
        price: seconds of CPU of a run.
    """
    return saving >= max(LEAST_SAVING * price, LEAST_SECONDS) and saving * times >= cost


def digest_of(program: Program) -> str:
    """By what past runs of a program are found."""
    return program.digest.hex()[:16]

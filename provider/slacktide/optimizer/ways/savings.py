"""What runs are expected to take less by a join, and when that pays for one (ADR 11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from slacktide.algebra import relation as r
from slacktide.optimizer.costs import Candidate, Evidence, PastRun, predict, program_work
from slacktide.optimizer.rule_parts.states import bag_chain
from slacktide.optimizer.statistics import Cardinality, Statistics, StoredFacts
from slacktide.optimizer.statistics.widths import packed
from slacktide.program.operator import Program

LEAST_SAVING: Final = 0.1
"""What remembering a join must save, as a share of what a run costs: less is the noise of one (ADR 11)."""
LEAST_SECONDS: Final = 0.1
"""Seconds of CPU that it must save: a write costs as much."""


@dataclass(frozen=True, slots=True)
class Savings:
    """What incremental programs of one view are expected to take, with a join and without.

    Attributes:
        evidence: the view's past runs.
        statistics: what is known of sources and of what is stored.
        conf: the SQL settings under which the view is computed.
    """

    evidence: Evidence
    statistics: Statistics
    conf: Mapping[str, str]

    def candidate(self, program: Program, rel: r.Rel | None = None) -> Candidate:
        """A program with its work, where a join may be remembered that is not yet."""
        known = self.statistics
        chain = "" if rel is None else bag_chain(rel, self.conf)
        if rel is not None and chain not in known.stored:
            size = Cardinality(known).of(rel)
            facts = StoredFacts(size.rows.value, packed(size.rows, rel.columns))
            known = replace(known, stored={**known.stored, chain: facts})
        return Candidate.of(program, program_work(program, known))

    def price(self, one: Candidate) -> float:
        """Seconds of CPU that a program is expected to take."""
        return predict(self.evidence, "incremental", one).price

    def saving(self, now: Candidate, other: Candidate) -> float:
        """Seconds of CPU that another program takes less than this one.

        Where both have run after such changes as have come now, by what they took; else by what the model sees
        less of, as far off as it was of each kind of work in a run of this one, or of the view where none is known.
        """
        evidence, rates = self.evidence, self.evidence.coefficients
        if evidence.has_alike(now) and evidence.has_alike(other):
            return self.price(now) - self.price(other)
        less, past = now.work.minus(other.work), self._whole_run(now)
        in_tasks = (
            rates.in_tasks(less) * evidence.weight()
            if past is None
            else past.seconds_of(less, rates)
        )
        return in_tasks + rates.outside(less)

    def price_with(self, without: Candidate, with_join: Candidate) -> float:
        """Seconds of CPU that a program is expected to take that reads a join: by what the one without it takes, if that alone has run."""
        if self.evidence.has_alike(with_join) or self._whole_run(without) is None:
            return self.price(with_join)
        return max(self.price(without) - self.saving(without, with_join), 0.0)

    def _whole_run(self, one: Candidate) -> PastRun | None:
        """The nearest run of a program, unless it turned back: then it took what a full run does besides."""
        past = self.evidence.nearest(one)
        return None if past is None or past.turned_back else past


def pays(saving: float, cost: float, times: int, price: float) -> bool:
    """Whether what past runs would have saved, or those to come will, has reached what a switch costs.

    Args:
        saving: seconds of CPU of one run.
        cost: seconds of CPU of the switch.
        times: how many runs there were, or will be.
        price: seconds of CPU of a run.
    """
    return saving >= max(LEAST_SAVING * price, LEAST_SECONDS) and saving * times >= cost

"""What the choice of a way goes by: what each way is expected to cost, and whether that is believed.

* **A program that has not run is tried** where its states are there, no more than `LARGEST_SHARE` has changed, and it
  is dearer than full by no more than the model is off, or nobody knows what the model goes by. It is not tried right
  after a lighter run by increments that was dearer, too.
* **Evidence expires.** A program that was dear may be cheap again, when changes lie closer together, and
  the model may be wrong of one that has not run. Once full runs have cost so much that a mistake would add
  no more than `REGRET` of it, neither is believed any longer. So the mistakes of one program add `REGRET` to
  what full runs cost, and one; a view has a program for each set of sources that change together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Final

from slacktide.optimizer.costs import Evidence, Prediction, Vector, predict
from slacktide.optimizer.costs.past_run import OF_A_JOIN, PastRun
from slacktide.optimizer.costs.prediction import Candidate
from slacktide.optimizer.ways.weighed import Predictions, Ways

LARGEST_SHARE: Final = 0.1
"""The share of the sources that is taken in by increments while nobody knows what they cost."""

NEARLY: Final = 1.25
"""How many times of full a program may be expected to cost that is tried as nobody has seen it run: of those that were expected to take more, none took less (ADR 20)."""

REGRET: Final = 0.1
"""What finding out whether increments are cheap again may cost, as a share of what full runs cost."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a choice goes by.

    Attributes:
        ways: all three.
        evidence: of the view's past runs.
        share: pending change over the size of the sources.
        missing: a state that is not there for the incremental way, or an empty text.
        is_shared: whether other views keep a state of this one, and would have to build it anew with it.
        joins: what a run that builds the states builds besides: the chains of joins, with the work of each by the model.
        later: how many runs after this one a choice of states is made for; None where nobody says: then what past
            runs would have saved stands for what those to come will.
    """

    ways: Ways
    evidence: Evidence
    share: float
    missing: str = ""
    is_shared: bool = False
    later: int | None = None
    joins: Mapping[str, Vector] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_kept_by_others(self) -> bool:
        """Whether another view keeps a state that is there: it is not built anew because that is cheap for one."""
        return self.is_shared and not self.missing

    def cheaper_full(self, found: Predictions) -> Prediction:
        """The cheaper full way; never one that builds anew what others keep."""
        ways = (found.text,) if self.is_kept_by_others else (found.text, found.rebuild)
        return min(ways, key=lambda one: one.price)

    def going_by(self, incremental: Candidate) -> Case:
        """The same, where increments go by another program."""
        return replace(self, ways=replace(self.ways, incremental=incremental))

    def building(self, joins: Mapping[str, Vector]) -> Case:
        """The same, where other joins are built with the states."""
        return replace(self, joins=joins)

    def predictions(self) -> Predictions:
        """What each way is expected to cost."""
        rebuild, text = self.in_full()
        return Predictions(self._believed(rebuild.price, text.price), rebuild, text)

    def in_full(self) -> tuple[Prediction, Prediction]:
        """What building the states, and what the answer alone, are expected to cost."""
        ways, evidence = self.ways, self.evidence
        rebuild = predict(evidence, "rebuild", ways.rebuild, ways.text, ways.other)
        for join, work in self.joins.items():
            rebuild = rebuild.besides(work, *self._building(join, work))
        return rebuild, predict(evidence, "text", ways.text, ways.rebuild, ways.other)

    def _building(self, join: str, work: Vector) -> tuple[float, float]:
        """Seconds of CPU that building a join takes besides, in tasks and outside: as it last took, or by the model."""
        rates, took = self.evidence.coefficients, self.evidence.last_build_of(join)
        in_tasks = max(rates.in_tasks(work), 0.0) if took is None else took
        return in_tasks, rates.outside(OF_A_JOIN)

    def turned(self) -> Case:
        """The same, where a full run merges rows and does not, or the other way round."""
        ways, evidence = self.ways, self.evidence
        return replace(
            self,
            ways=replace(ways, text=ways.other, other=ways.text),
            evidence=replace(evidence, merges=not evidence.merges),
        )

    def _believed(self, rebuild: float, text: float) -> Prediction:
        """The incremental way by its nearest run; once that has expired, by another one that is cheap, as a trial (`doubted`).

        A run expires with what full runs have cost since, and since the newest trial that was dear, after a change
        of whatever size: what they have cost pays for one trial.
        """
        full = min(rebuild, text)
        building = max(rebuild - text, 0.0) if self.missing else 0.0
        mistaken, refuting = self._mistaken(full), self._refuting(full)
        evidence, has_expired = self.evidence, False
        is_new = not self.missing and self.share <= LARGEST_SHARE and refuting is None
        while True:
            found = predict(evidence, "incremental", self.ways.incremental)
            past = found.told_by
            loss = found.price + building - full
            told = past or refuting
            since = evidence.oldest if told is None else max(told.run, mistaken)
            has_expired = has_expired or loss <= REGRET * self.evidence.spent_since(since)
            if loss <= 0:
                # Without its states it is none yet: these are waited for, and not built to find out.
                is_doubted = evidence is not self.evidence and not self.missing
                return replace(found, basis="doubted") if is_doubted else found
            if past is None and (has_expired or (is_new and self._is_near(found.price, full))):
                return replace(found, basis="doubted")
            if past is None or not has_expired:
                return found
            evidence = evidence.without(past.run)

    def _is_near(self, price: float, full: float) -> bool:
        """Whether a program that has not run is worth a trial: by the prediction, or by the model of both ways, it takes at most `NEARLY` times what full takes, or sizes are guessed."""
        ways, priced = self.ways, self.evidence.coefficients.price
        if price <= NEARLY * full or ways.incremental.is_guessed:
            return True
        modelled = min(priced(ways.rebuild.work), priced(ways.text.work))
        return priced(ways.incremental.work) <= NEARLY * modelled

    def _refuting(self, full: float) -> PastRun | None:
        """The newest run by increments, of whatever program, of which no more was expected, if it took more than full does."""
        rates, work = self.evidence.coefficients, self.ways.incremental.work
        lighter = (
            past
            for past in reversed(self.evidence.runs)
            if past.way == "incremental" and rates.in_tasks(past.expected) <= rates.in_tasks(work)
        )
        newest = next(lighter, None)
        return newest if newest is not None and newest.price(rates) > full else None

    def _mistaken(self, full: float) -> int:
        """The newest run by increments that took more than full does, or that built states which the next one left; 0 for none."""
        program, rates = self.ways.incremental.program, self.evidence.coefficients
        runs = self.evidence.runs
        tried = (past for past in runs if past.program == program and past.price(rates) > full)
        built = (
            past
            for past, after in pairwise(runs)
            if past.way == "rebuild" and after.way == "text" and not past.is_first
        )
        return max((past.run for past in chain(tried, built)), default=0)

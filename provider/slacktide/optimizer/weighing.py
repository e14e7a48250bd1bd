"""Which way a maintained view is computed in a run: by increments, with its states anew, or without states.

The way that is expected to be cheapest is taken, or one that keeps the states for little more, as soon as a run
has shown what the view's query weighs. Before that, and where a view is too small for measurements to mean
anything, a change is taken in by increments up to a share of the sources.

* **Never dearer than full.** By the very prices that are stored with the plan, unless to keep the states.
* **The answer alone is run where no run of it is known** and it may be cheapest, as nobody knows what it costs.
* **A program that has not run is tried** where its states are there, no more than `LARGEST_SHARE` has changed, and it
  is dearer than full by no more than the model is off, or nobody knows what the model goes by. It is not tried right
  after a lighter run by increments that was dearer, too.
* **Evidence expires.** A program that was dear may be cheap again, when changes lie closer together, and
  the model may be wrong of one that has not run. Once full runs have cost so much that a mistake would add
  no more than `REGRET` of it, neither is believed any longer. So the mistakes of one program add `REGRET` to
  what full runs cost, and one; a view has a program for each set of sources that change together.
* **States are left when they are seldom needed, and built when lacking them has cost enough.** The answer alone is
  cheaper than building states with it, and makes increments impossible until they are built. Once it is known what
  it costs, the states are kept, by building them with it or by increments, whichever is cheaper, while that costs
  less over the answer alone than increments save where they do, times how many such runs there have been lately for
  each other one. Once left, they are built again when what increments would have saved since reaches what building
  costs over the answer alone (ski rental: A. Karlin and others, *Competitive Snoopy Caching*, Algorithmica 3, 1988):
  that wait costs what its end does, once more. Where it is told how many runs a choice of states is made for,
  nothing waits: what these would save decides (IVM-PD, tempura.md §5).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, pairwise, takewhile
from typing import Any, Final

from slacktide.common.reasons import Reason
from slacktide.optimizer.costs import Coefficients, Evidence, Prediction
from slacktide.optimizer.costs.evidence import USUAL
from slacktide.optimizer.costs.past_run import PastRun, Way
from slacktide.optimizer.costs.prediction import Candidate

LARGEST_SHARE: Final = 0.1
"""The share of the sources that is taken in by increments while nobody knows what they cost."""
LEAST_ROWS: Final = 250_000
"""Rows of a view's sources below which what a run takes says more of the machine than of the way."""
CLOSE: Final = 0.8
"""The share of what building costs above which increments are dear enough to see what the answer alone takes."""
NEARLY: Final = 1.25
"""How many times of full a program may be expected to cost that is tried as nobody has seen it run: of those that were expected to take more, none took less (ADR 9)."""
REGRET: Final = 0.1
"""What finding out whether increments are cheap again may cost, as a share of what full runs cost."""


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways of one view in one run.

    Attributes:
        incremental: extends the answer and the states.
        rebuild: states and answer from the sources.
        text: the answer alone, by the author's text or over signed rows.
        other: the one of these two that is not taken, which may have run.
    """

    incremental: Candidate
    rebuild: Candidate
    text: Candidate
    other: Candidate


@dataclass(frozen=True, slots=True)
class Weighed:
    """The way that is taken.

    Attributes:
        way: the one.
        reasons: why it is not by increments, or keeps the states though the answer alone is cheaper; else none.
        predictions: what each way is expected to cost.
    """

    way: Way
    reasons: tuple[Reason, ...]
    predictions: tuple[Prediction, ...]

    def of(self, way: Way) -> Prediction:
        """What a way is expected to cost."""
        return next(one for one in self.predictions if one.way == way)

    @property
    def full(self) -> float:
        """Seconds of CPU that the cheaper full way is expected to take."""
        return min(one.price for one in self.predictions if one.way != "incremental")

    @property
    def building(self) -> float:
        """Seconds of CPU that building the states is expected to take more than the way that is taken."""
        return self.of("rebuild").price - self.of(self.way).price

    def with_states(self, saving: float, cost: float) -> Weighed:
        """The full way that builds the states, where it builds a join besides that increments have lacked.

        Args:
            saving: seconds of CPU that a run by increments will take less than a full one.
            cost: seconds of CPU that this run takes more.
        """
        if self.way == "rebuild":
            return self
        told = f"{cost:.2f} s more with a join, by which each run saves {saving:.2f} s"
        return replace(self, way="rebuild", reasons=(*self.reasons, Reason("STATES_PAY", told)))

    def to_dict(self) -> dict[str, Any]:
        """Give the form that plans and reports store: the figures of the way, and all prices."""
        alternatives = [_priced(one) for one in self.predictions]
        return {**self.of(self.way).to_dict(), "alternatives": alternatives}


def _priced(prediction: Prediction) -> dict[str, Any]:
    return {
        "way": prediction.way,
        "price": round(prediction.price, 3),
        "basis": prediction.basis,
    }


@dataclass(frozen=True, slots=True)
class Predictions:
    """What each way is expected to cost."""

    incremental: Prediction
    rebuild: Prediction
    text: Prediction

    def taken(self, way: Way, *reasons: Reason) -> Weighed:
        """The choice of a way, with what all of them are expected to cost."""
        return Weighed(way, reasons, (self.incremental, self.rebuild, self.text))


@dataclass(frozen=True, slots=True)
class Case:
    """What a choice goes by.

    Attributes:
        ways: all three.
        evidence: of the view's past runs.
        share: pending change over the size of the sources.
        missing: a state that is not there for the incremental way, or an empty text.
        is_shared: whether other views keep a state of this one, and would have to build it anew with it.
        rounds: how many runs a choice of states is made for, with this one; 0 where nobody says: then what past
            runs would have saved stands for what those to come will.
    """

    ways: Ways
    evidence: Evidence
    share: float
    missing: str = ""
    is_shared: bool = False
    rounds: int = 0

    def going_by(self, incremental: Candidate) -> Case:
        """The same, where increments go by another program."""
        return replace(self, ways=replace(self.ways, incremental=incremental))

    def predictions(self) -> Predictions:
        """What each way is expected to cost."""
        rebuild, text = self.in_full()
        return Predictions(self._believed(rebuild.price, text.price), rebuild, text)

    def in_full(self) -> tuple[Prediction, Prediction]:
        """What building the states, and what the answer alone, are expected to cost."""
        ways, predict = self.ways, self.evidence.predict
        return (
            predict("rebuild", ways.rebuild, ways.text, ways.other),
            predict("text", ways.text, ways.rebuild, ways.other),
        )

    def turned(self) -> Case:
        """The same, where a full run merges rows and does not, or the other way round."""
        ways, evidence = self.ways, self.evidence
        return replace(
            self,
            ways=replace(ways, text=ways.other, other=ways.text),
            evidence=replace(evidence, merges=not evidence.merges),
        )

    def _believed(self, rebuild: float, text: float) -> Prediction:
        """The incremental way by its nearest run; once that has expired, by another one that is cheap.

        It expires with what full runs have cost since, and since the newest trial that was dear, after a change
        of whatever size: what they have cost pays for one trial.
        """
        full = min(rebuild, text)
        building = max(rebuild - text, 0.0) if self.missing else 0.0
        mistaken, refuting = self._mistaken(full), self._refuting(full)
        evidence, has_expired = self.evidence, False
        is_new = not self.missing and self.share <= LARGEST_SHARE and refuting is None
        while True:
            found = evidence.predict("incremental", self.ways.incremental)
            past = evidence.nearest(self.ways.incremental)
            loss = found.price + building - full
            told = past or refuting
            since = evidence.oldest if told is None else max(told.run, mistaken)
            has_expired = has_expired or loss <= REGRET * self.evidence.spent_since(since)
            if loss <= 0:
                return found
            if past is None and (has_expired or (is_new and self._is_near(found.price, full))):
                return replace(found, basis="doubted")
            if past is None or not has_expired:
                return found
            evidence = evidence.without(past.run)

    def _is_near(self, price: float, full: float) -> bool:
        """Whether increments are expected near full: by what runs have shown, by the model alone, which may be off of both alike, or as that guesses."""
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


def weigh(case: Case) -> Weighed:
    """Choose the way of a view that has an answer, and of which a source has changed."""
    found = case.predictions()
    incremental, rebuild, text = found.incremental, found.rebuild, found.text
    if not case.evidence.runs or (case.evidence.rows or 0) < LEAST_ROWS:
        return _by_share(case, found)
    if incremental.basis == "doubted":
        return _tried(case, found)
    # What others keep is not built anew because that is cheap for one.
    is_kept = case.is_shared and not case.missing
    full = text if is_kept else min(text, rebuild, key=lambda one: one.price)
    if incremental.price > full.price:
        return _full_way(case, found, full)
    if not case.missing:
        return _unless_untried(case, found)
    missed = _missed(case, text.price - incremental.price)
    if full is text and missed < rebuild.price - text.price:
        return found.taken("text", _not_yet(missed, rebuild, text, case.rounds))
    return found.taken("rebuild", Reason("STATE_MISSING", case.missing))


def _full_way(case: Case, found: Predictions, full: Prediction) -> Weighed:
    """The cheaper full way, or what keeps the states, while that costs less than they save.

    The answer alone is taken once in any case, as nobody knows before what it costs.
    """
    cheaper = _cheaper(found.incremental, full)
    is_known = found.text.basis == found.rebuild.basis == "observed"
    if full is found.rebuild or case.missing or case.is_shared or not is_known:
        return found.taken(full.way, cheaper)
    keeping = min(found.incremental, found.rebuild, key=lambda one: one.price)
    cost = keeping.price - full.price
    if case.rounds:
        saved = (case.rounds - 1) * _saved_by_one(case, full.price)
        told = f"{cost:.2f} s more, {saved:.2f} s saved by the runs to come"
    else:
        saved = _likely_saved(case, full.price)
        told = f"{cost:.2f} s more, {saved:.2f} s likely saved before it is paid again"
    if cost >= saved:
        return found.taken("text", cheaper)
    return found.taken(keeping.way, cheaper, Reason("STATES_PAY", told))


def _unless_untried(case: Case, found: Predictions) -> Weighed:
    """Increments, or the answer alone where no run of it is known and they are hardly cheaper than building.

    What it costs is then thought to be what building does, which would never be refuted.
    """
    incremental, rebuild = found.incremental, found.rebuild
    alone = (case.ways.text, case.ways.other)
    is_known = any(case.evidence.newest(one.program) is not None for one in alone)
    is_seen = (
        incremental.basis == rebuild.basis == "observed"
    )  # the model alone speaks against nothing
    if is_known or not is_seen or case.is_shared or incremental.price <= CLOSE * rebuild.price:
        return found.taken("incremental")
    told = f"{rebuild.price:.2f} s of CPU with states, {incremental.price:.2f} s by increments"
    return found.taken("text", Reason("ANSWER_UNTRIED", told))


def _likely_saved(case: Case, full: float) -> float:
    """What increments save of a full run where they save anything, times how many such runs there are for each other one.

    So long states are kept that are needed sooner or later: left, they save nothing in the next run that needs
    them, and have to be built then.

    Args:
        case: of the run.
        full: what a full run is expected to cost now.
    """
    savings = _savings(case, full)
    saving = [saved for saved in savings if saved]
    often = (len(saving) + 0.5) / (len(savings) + 1.0)
    return sum(saving) / len(saving) * often / (1.0 - often) if saving else 0.0


def _saved_by_one(case: Case, full: float) -> float:
    """What increments save in a run, on average."""
    savings = _savings(case, full)
    return sum(savings) / max(len(savings), 1)


def _savings(case: Case, full: float) -> list[float]:
    """What increments saved in each of the newest runs, or would have saved, as far as one of these is expected to do so now.

    What a full run was thought to cost in place of one by increments may have been wrong. It counts as far as such a
    one is expected to cost as much now; where it would have merged rows and the next will not, or the other way
    round, a full run that did has told.
    """
    evidence, rates = case.evidence, case.evidence.coefficients
    prices = {evidence.merges: full, not evidence.merges: _full_otherwise(case, full)}
    told = [p for p in evidence.runs if p.way == "incremental" or "incremental" in p.prices]
    return [
        # What one took that turned back is of a full run, too.
        0.0 if past.turned_back else max(min(past.full_price, prices[past.merges]) - by, 0.0)
        for past in told[-USUAL:]
        for by in [past.price(rates) if past.way == "incremental" else past.prices["incremental"]]
    ]


def _full_otherwise(case: Case, full: float) -> float:
    """What a full run costs where it merges rows and the next will not, or the other way round; `full` until one has."""
    turned = case.turned()
    runs = case.evidence.runs
    if not any(p.way != "incremental" and p.merges == turned.evidence.merges for p in runs):
        return full
    return min(one.price for one in turned.in_full())


def _by_share(case: Case, found: Predictions) -> Weighed:
    if case.share > LARGEST_SHARE and not case.missing:
        return found.taken("rebuild", Reason("CHANGE_TOO_LARGE", f"{case.share:.0%}"))
    return _tried(case, found)


def _tried(case: Case, found: Predictions) -> Weighed:
    if case.missing:
        return found.taken("rebuild", Reason("STATE_MISSING", case.missing))
    return found.taken("incremental")


def _missed(case: Case, now: float) -> float:
    """What increments would have saved in each run since the states were left, this one included, or will save."""
    if case.rounds:
        return now * (case.rounds - 1)
    left = list(takewhile(lambda past: past.way == "text", reversed(case.evidence.runs)))
    return now + sum(_saving(past, case.evidence) for past in left)


def _saving(past: PastRun, evidence: Evidence) -> float:
    expected = past.prices.get("incremental")
    return 0.0 if expected is None else max(past.price(evidence.coefficients) - expected, 0.0)


def _cheaper(incremental: Prediction, full: Prediction) -> Reason:
    return Reason(
        "CHEAPER_FULL", f"{full.price:.2f} s of CPU against {incremental.price:.2f} s by increments"
    )


def _not_yet(missed: float, rebuild: Prediction, text: Prediction, rounds: int) -> Reason:
    more = rebuild.price - text.price
    saved = "saved by the runs to come" if rounds else "missed"
    return Reason("STATES_LEFT", f"{missed:.2f} s {saved}, {more:.2f} s to build them")

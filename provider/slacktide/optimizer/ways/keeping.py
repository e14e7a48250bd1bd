"""Whether states are kept that a run could do without, and built again that were left.

The answer alone is cheaper than building states with it, and makes increments impossible until they are built. Once it
is known what it costs, the states are kept, by building them with it or by increments, whichever is cheaper, while that
costs less over the answer alone than increments save on average where they do, times the odds of that among the newest
`LATELY` runs and one more that did not. Once left, they are built again when what increments would have saved since reaches what building
costs over the answer alone (ski rental: A. Karlin and others, *Competitive Snoopy Caching*, Algorithmica 3, 1988):
that wait costs what its end does, once more. Where it is told how many runs a choice of states is made for,
nothing waits: what these would save decides (IVM-PD, tempura.md §5).
"""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from slacktide.optimizer.costs import Coefficients, Evidence
from slacktide.optimizer.costs.past_run import PastRun
from slacktide.optimizer.ways.case import Case

LATELY: Final = 8
"""Newest runs that tell what increments save."""


def worth_keeping(case: Case, full: float) -> float:
    """The most seconds of CPU that keeping the states may cost in a run that could do without them.

    Left, states save nothing in the next run that needs them and have to be built then. So with p the share of runs that
    save and s their mean saving, keeping pays while it costs less than s p / (1 - p). One more run that saved nothing is
    counted, as the odds of few runs are overrated.

    Args:
        case: of the run.
        full: what a full run is expected to cost now.
    """
    saving = [saved for saved in _savings(case, full) if saved]
    return odds(case, full) * sum(saving) / max(len(saving), 1)


def odds(case: Case, full: float) -> float:
    """How many runs by increments that save something are expected between two that do not.

    Args:
        case: of the run.
        full: what a full run is expected to cost now.
    """
    savings = _savings(case, full)
    saving = sum(map(bool, savings))
    return saving / (len(savings) + 1.0 - saving)


def saved_by_one(case: Case, full: float) -> float:
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
    return [_saved(past, prices[past.merges], rates) for past in told[-LATELY:]]


def _saved(past: PastRun, full: float, rates: Coefficients) -> float:
    if past.turned_back:  # what it took is of a full run, too
        return 0.0
    taken = past.price(rates) if past.way == "incremental" else past.prices["incremental"]
    return max(min(past.full_price, full) - taken, 0.0)


def _full_otherwise(case: Case, full: float) -> float:
    """What a full run costs where it merges rows and the next will not, or the other way round; `full` until one has."""
    turned = case.turned()
    runs = case.evidence.runs
    if not any(p.way != "incremental" and p.merges == turned.evidence.merges for p in runs):
        return full
    return min(one.price for one in turned.in_full())


def missed_since(case: Case, now: float) -> float:
    """What increments would have saved in each run since the states were left, this one included, or will save."""
    if case.later is not None:
        return now * case.later
    left = list(takewhile(lambda past: past.way == "text", reversed(case.evidence.runs)))
    return now + sum(_missed(past, case.evidence) for past in left)


def _missed(past: PastRun, evidence: Evidence) -> float:
    """What increments would have saved of a run of the answer alone, by what that took: it is over, and none that may come."""
    expected = past.prices.get("incremental")
    return 0.0 if expected is None else max(past.price(evidence.coefficients) - expected, 0.0)

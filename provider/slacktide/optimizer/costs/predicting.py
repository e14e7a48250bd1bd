"""What a program costs by what past runs of its view took.

A program that has run before costs what it cost then, times what the model says of now over what it said
then: its error in the size of things, the weight of a query's expressions and the machine all cancel
out. So they do between building states and the answer alone, of which one stands for the other. An
incremental program that has not run costs what the model says, times the weight that the view's other
programs have shown.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from slacktide.optimizer.costs.evidence import Evidence
from slacktide.optimizer.costs.past_run import PastRun, Way, ratio
from slacktide.optimizer.costs.prediction import Candidate, Prediction

STARTING: Final = 0.3
"""Seconds of what tasks of increments take, by which they start and open files, and which do not grow with the work (ADR 9)."""
MOST_STARTING: Final = 0.25
"""The share of a run that this is at most."""


class Seconds(NamedTuple):
    """Seconds of CPU that a run takes.

    Attributes:
        in_tasks: of its tasks.
        outside: outside of them.
    """

    in_tasks: float
    outside: float


def predict(evidence: Evidence, way: Way, one: Candidate, *like: Candidate) -> Prediction:
    """Predict what a program costs whose work the model knows.

    Args:
        evidence: the past runs of the view, and what holds now.
        way: what the program does.
        one: the program.
        like: of a full way, those that compute the same in the other one; one of them that has run stands for this one
            as long as this one has not, or has over other mirrors.
    """
    past = _newest_like(evidence, way, one)
    others = [run for other in like if (run := _newest_like(evidence, way, other))]
    other = min(others, key=lambda run: run.merges != evidence.merges, default=None)
    if past is not None and way == "incremental":
        seconds = _extending(evidence, past, one)
    elif past is not None:
        seconds = _in_full(evidence, past, other, one)
    elif other is not None:
        seconds = _in_full(evidence, other, None, one)
    else:
        rates = evidence.coefficients
        in_tasks = rates.in_tasks(one.work) * evidence.weight()
        seconds = Seconds(in_tasks, rates.outside(one.work))
    return Prediction(
        way,
        one.program,
        one.work,
        seconds.in_tasks,
        seconds.outside,
        "modelled" if past is None else "observed",
        evidence.changed,
        evidence.merges,
        evidence.unmerged,
    )


def _newest_like(evidence: Evidence, way: Way, one: Candidate) -> PastRun | None:
    """The run of a program that tells of the next; what full runs take depends on what they merge, not on what has changed."""
    return evidence.nearest(one) if way == "incremental" else evidence.newest_alike(one.program)


def _extending(evidence: Evidence, past: PastRun, one: Candidate) -> Seconds:
    """What increments take by a run of theirs: as much more as the model sees more of, but for what does not grow."""
    rates = evidence.coefficients
    growth = ratio(rates.in_tasks(one.work), rates.in_tasks(past.expected))
    fixed = min(STARTING, MOST_STARTING * past.in_tasks)
    return Seconds(fixed + (past.in_tasks - fixed) * growth, past.outside(rates))


def _in_full(evidence: Evidence, past: PastRun, other: PastRun | None, one: Candidate) -> Seconds:
    """What a full run takes by one of its way, or by one of the other way.

    Where it merged rows and the next will not, or the other way round, a run of the other way that was as the next
    will be tells more. So it does where it was cheaper, and the one was the first of all or merged a number of rows that is less like.

    Args:
        evidence: of the view.
        past: the run.
        other: one of the other way, where one is known.
        one: the program.
    """
    own, merges = _grown(evidence, past), evidence.merges
    if other is None or other.merges != merges:
        if past.merges == merges:
            return own
        merging = one.merging if merges else 1.0 / one.merging
        return own._replace(in_tasks=own.in_tasks * merging)
    found = _grown(evidence, other)
    if past.merges == merges:
        is_told = past.is_first or evidence.unlike(other) < evidence.unlike(past)
        return min(own, found, key=sum) if is_told else own
    if merges and not past.is_first:
        return found._replace(in_tasks=max(own.in_tasks, found.in_tasks))
    return found if merges else min(own, found, key=sum)


def _grown(evidence: Evidence, past: PastRun) -> Seconds:
    """What a full run takes by one of its way: it reads all rows, and nothing that is learned of its parts since makes it cheaper."""
    growth = ratio(evidence.rows, past.rows) if evidence.rows and past.rows else 1.0
    return Seconds(past.without_joins * growth, past.outside(evidence.coefficients))

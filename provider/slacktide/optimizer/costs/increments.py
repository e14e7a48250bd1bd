"""What increments cost by what past runs of their program took.

A program that has run before costs what it cost then, times what the model says of now over what it said
then: its error in the size of things, the weight of a query's expressions and the machine all cancel
out.
"""

from __future__ import annotations

from typing import Final

from slacktide.optimizer.costs.evidence import Evidence
from slacktide.optimizer.costs.past_run import PastRun, ratio
from slacktide.optimizer.costs.prediction import Candidate, Seconds

STARTING: Final = 0.3
"""Seconds of what tasks of increments take, by which they start and open files, and which do not grow with the work (ADR 9)."""
MOST_STARTING: Final = 0.25
"""The share of a run that this is at most."""


def by_increments(evidence: Evidence, one: Candidate) -> tuple[PastRun, Seconds] | None:
    """What increments take by the nearest of their runs; where a newer one was far dearer, at the least what that one took.

    Returns:
        The run that says so, and what it says; None where the program has not run.
    """
    nearest = evidence.nearest(one)
    if nearest is None:
        return None
    found = _extending(evidence, nearest, one)
    dearer = evidence.floor_under(nearest, one)
    if dearer is None:
        return nearest, found
    least = _extending(evidence, dearer, one)  # no more: it says nothing of how costs grow
    least = least._replace(in_tasks=min(least.in_tasks, dearer.in_tasks))
    return max((nearest, found), (dearer, least), key=lambda told: told[1].in_tasks)


def _extending(evidence: Evidence, past: PastRun, one: Candidate) -> Seconds:
    """What increments take by a run of theirs: as much more as the model sees more of, but for what does not grow."""
    rates = evidence.coefficients
    growth = ratio(rates.in_tasks(one.work), rates.in_tasks(past.expected))
    fixed = fixed_part(past.in_tasks)
    return Seconds(fixed + (past.in_tasks - fixed) * growth, past.outside(rates))


def fixed_part(in_tasks: float) -> float:
    """Seconds of CPU of what tasks of increments took that do not grow with the work."""
    return min(STARTING, MOST_STARTING * in_tasks)

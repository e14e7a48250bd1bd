"""What a full run costs by what past ones took, of its own way or of one that computes the same.

Building states and the answer alone stand for each other, times what the model says of the one over the other: its errors
cancel out there, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from slacktide.optimizer.costs.evidence import Evidence
from slacktide.optimizer.costs.past_run import PastRun, Way, ratio
from slacktide.optimizer.costs.prediction import Candidate, Seconds

LATELY: Final = 5
"""Newest runs that tell what building the states takes."""


def by_full_runs(
    evidence: Evidence, way: Way, one: Candidate, like: Sequence[Candidate]
) -> tuple[PastRun | None, Seconds] | None:
    """What a full run takes by the run of its program, and by those of others that compute the same.

    Returns:
        The run of its program, if there was one, and what is said; None where no run of any is known.
    """
    past = evidence.newest_alike(one.program)
    others = [(run, other) for other in like if (run := evidence.newest_alike(other.program))]
    others.sort(key=lambda told: (told[0].merges != evidence.merges, told[0].way != way))
    if past is not None:
        return past, _in_full(evidence, past, others[0] if others else None, one)
    if others:
        return None, _stood_for(evidence, way, one, *others[0])
    return None


def _in_full(
    evidence: Evidence, past: PastRun, other: tuple[PastRun, Candidate] | None, one: Candidate
) -> Seconds:
    """What a full run takes by one of its way, or by one of another way.

    Where it merged rows and the next will not, or the other way round, a run of another way that was as the next
    will be tells more. So it does where it was cheaper, and the one was the first of all or merged a number of rows that is less like.

    Args:
        evidence: of the view.
        past: the run.
        other: one of another way, with its program, where one is known.
        one: the program.
    """
    own, merges = _grown(evidence, past), evidence.merges
    if other is None or other[0].merges != merges:
        return _at(own, past, one, merges=merges)
    if past.merges == merges:
        if not past.is_first and evidence.unlike(other[0]) >= evidence.unlike(past):
            return own
        is_bound = past.way == "text"  # building takes no less
        found = (
            _grown(evidence, other[0]) if is_bound else _stood_for(evidence, past.way, one, *other)
        )
        return min(own, found, key=sum)
    found = _stood_for(evidence, past.way, one, *other)
    if merges and not past.is_first:
        return found._replace(in_tasks=max(own.in_tasks, found.in_tasks))
    return found if merges else min(own, found, key=sum)


def _stood_for(
    evidence: Evidence, way: Way, one: Candidate, run: PastRun, other: Candidate
) -> Seconds:
    """What a full run takes by one of another way.

    * Building the states, by the answer alone: as much, and what building took more before; nothing more until a build was measured,
      so that one is tried.
    * The answer alone, by building: as much; once any run of the answer alone is known, the share of that which the model
      sees, at most all of it.

    Args:
        evidence: of the view.
        way: of the program.
        one: the program.
        run: of another way.
        other: its program.
    """
    found = _at(_grown(evidence, run), run, other, merges=evidence.merges)
    if run.way == way:
        merging = one.merging / other.merging if evidence.merges else 1.0
        return found._replace(in_tasks=found.in_tasks * merging)
    if way == "rebuild":
        return found._replace(in_tasks=found.in_tasks + _building(evidence))
    if any(past.way == "text" for past in evidence.runs):
        rates = evidence.coefficients
        share = ratio(rates.in_tasks(one.work), rates.in_tasks(other.work))
        return found._replace(in_tasks=found.in_tasks * min(share, 1.0))
    return found


def _building(evidence: Evidence) -> float:
    """Seconds of CPU in tasks that building the states took more than the answer alone; 0 until both were seen.

    The median of the newest builds, of those over mirrors such as now where there are any. The view's first run says nothing.
    """
    found: dict[bool, list[float]] = {True: [], False: []}
    for built in reversed(evidence.runs):
        if built.way == "rebuild" and not built.is_first and len(found[built.merges]) < LATELY:
            found[built.merges] += _more_than_alone(evidence, built)
    told = found[evidence.merges] or found[not evidence.merges]
    return max(median(told), 0.0) if told else 0.0


def _more_than_alone(evidence: Evidence, built: PastRun) -> list[float]:
    """What a build took more than the answer alone that merged about as many rows, the nearest in time of such; nothing where there is none."""
    then = replace(evidence, merges=built.merges, unmerged=built.unmerged, rows=built.rows)
    alike = (
        past
        for past in evidence.runs
        if past.way == "text" and past.merges == built.merges and not past.is_first
    )
    alone = min(
        alike, key=lambda past: (then.unlike(past), abs(past.run - built.run)), default=None
    )
    if alone is None:
        return []
    more = built.without_joins - _grown(then, alone).in_tasks
    return [more * _growth(evidence, built)]


def _at(taken: Seconds, past: PastRun, one: Candidate, *, merges: bool) -> Seconds:
    """What the run of a program that merged rows takes where it merges none, or the other way round."""
    if past.merges == merges:
        return taken
    merging = one.merging if merges else 1.0 / one.merging
    return taken._replace(in_tasks=taken.in_tasks * merging)


def _grown(evidence: Evidence, past: PastRun) -> Seconds:
    """What a full run takes by one of its way: it reads all rows, and nothing that is learned of its parts since makes it cheaper."""
    in_tasks = past.without_joins * _growth(evidence, past)
    return Seconds(in_tasks, past.outside(evidence.coefficients))


def _growth(evidence: Evidence, past: PastRun) -> float:
    """By how much more rows there are than then."""
    return ratio(evidence.rows, past.rows) if evidence.rows and past.rows else 1.0

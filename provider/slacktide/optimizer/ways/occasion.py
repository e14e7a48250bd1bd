"""When it is asked what a view is to remember, which takes time: after 2, 4, 8, … runs that may tell something new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from slacktide.optimizer.costs import Evidence

DEAR: Final = 0.5
"""The share of what a full run takes from which on a run counts as dear, so that it is asked besides the steady ones."""
ASKED_EVERY: Final = 32
"""A program is asked again where a run whose number is a multiple of this has begun since it ran before."""


def asking_runs(evidence: Evidence, program: str, price: Callable[[], float], full: float) -> int:
    """How many runs by increments a join may pay for, where it is time to ask; else none.

    A view may go by increments that a join makes no cheaper and now and then by such as it would, so that it is asked
    at the wrong ones: it is also asked where the run at hand costs about what a full one does, after 2, 4, 8, …
    that did.

    Args:
        evidence: the view's past runs.
        program: of the run.
        price: seconds of CPU that it is expected to take.
        full: seconds that a full run is expected to take.
    """
    runs, times = evidence.numbers(program), evidence.times(program)
    if not runs:
        return 0
    if evidence.is_measurable and is_steady(times, runs):
        return times
    dear = dear_runs(evidence, program)
    return dear if dear and price() >= DEAR * full else 0


def is_steady(times: int, runs: Sequence[int]) -> bool:
    """Whether a program has run 2, 4, 8, … times, or more than once when it is asked now and then.

    That goes by the numbers of runs, as of many runs the oldest are forgotten, and how many there were is known no more.

    Args:
        times: how often it has run since something else was remembered.
        runs: the numbers of the workspace's runs in which it ran, the newest first.
    """
    if times <= 1:
        return False
    newest, before = (run // ASKED_EVERY for run in runs[:2])
    return _is_milestone(times - 1, times) or newest > before


def dear_runs(evidence: Evidence, program: str) -> int:
    """How many runs were dear, or in full where increments would have been, as soon as they are 2, 4, 8, …; else none.

    After such changes as have come, or smaller ones. Where changes of other sizes come between, the first one of a
    size asks that sees as many.

    Args:
        evidence: the view's past runs.
        program: that would run by increments.
    """
    dear = evidence.dear(program, DEAR) if evidence.is_measurable else ()
    asked = max((at for at, past in enumerate(dear) if evidence.is_as_large(past)), default=0)
    return len(dear) if _is_milestone(asked, len(dear)) else 0


def _is_milestone(before: int, times: int) -> bool:
    """Whether something has happened as often as 2, 4, 8, …, and had not before."""
    return times > 1 and times.bit_length() > before.bit_length()

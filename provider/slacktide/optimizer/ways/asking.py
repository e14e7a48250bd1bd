"""When it is asked what a view is to remember, which takes time: after 2, 4, 8, … runs that may tell something new."""

from __future__ import annotations

from typing import Final

from slacktide.optimizer.costs import Evidence
from slacktide.optimizer.ways.weighing import LEAST_ROWS

DEAR: Final = 0.5
"""The share of what a full run takes from which on a run counts as dear, so that it is asked besides the steady ones."""
ASKED_EVERY: Final = 32
"""Runs of the workspace after which a steady program is asked again."""


def is_asked(times: int, run: int, rows: int) -> bool:
    """Whether to ask what to remember, which takes time: after 2, 4, 8, … runs, and then now and then.

    Args:
        times: how often the program has run since something else was remembered.
        run: the number of its newest run.
        rows: of the view's sources.
    """
    is_due = _is_milestone(times - 1, times) or (times > 1 and run % ASKED_EVERY == 0)
    return rows >= LEAST_ROWS and is_due


def dear_runs(evidence: Evidence, program: str) -> int:
    """How many runs were dear after such changes as have come, or smaller ones, as soon as they are 2, 4, 8, …; else none.

    Where changes of other sizes come between, the first one of a size asks that sees as many.

    Args:
        evidence: the view's past runs.
        program: that would run by increments.
    """
    dear = evidence.dear(program, DEAR)
    asked = max((at for at, past in enumerate(dear) if evidence.is_as_large(past)), default=0)
    return len(dear) if _is_milestone(asked, len(dear)) else 0


def _is_milestone(before: int, times: int) -> bool:
    """Whether something has happened as often as 2, 4, 8, …, and had not before."""
    return times > 1 and times.bit_length() > before.bit_length()

"""Seconds of CPU that a run takes, and what the model says of them where no run of a program is known."""

from __future__ import annotations

from typing import NamedTuple

from slacktide.optimizer.costs.evidence import Evidence
from slacktide.optimizer.costs.prediction import Candidate


class Seconds(NamedTuple):
    """Seconds of CPU that a run takes.

    Attributes:
        in_tasks: of its tasks.
        outside: outside of them.
    """

    in_tasks: float
    outside: float


def modelled(evidence: Evidence, one: Candidate) -> Seconds:
    """What the model says, times the weight that the view's other programs have shown."""
    rates = evidence.coefficients
    return Seconds(rates.in_tasks(one.work) * evidence.weight(), rates.outside(one.work))

"""Where a run turns back: the rows that a step may write before going on costs more than the author's text.

What a step writes is the first that a run sees of how much there is to do. The model says what all of the
program would cost if the step wrote a thousand times as many rows as expected; between there and here the
price grows as a line, and where that meets the price of the text is the break-even point. Past it the run leaves its
increments and takes the text, once: so a wrong estimate costs what led to that step, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Self

from slacktide.optimizer.costs import Coefficients, Prediction, ProgramWork
from slacktide.program import operator as o

FAR: Final = 1000.0
"""The factor of the second point of the line."""
LEAST: Final = 100_000
"""Rows that no run turns back for: what is left to do is soon done."""

WorkOf = Callable[[Mapping[str, float]], ProgramWork]


@dataclass(frozen=True, slots=True)
class Guard:
    """What a run turns back at, and to.

    Attributes:
        limits: by chain, the rows of its segment beyond which the run turns back.
        instead: what the text is expected to cost, as plans store it.
    """

    limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    instead: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def to_dict(self) -> dict[str, Any]:
        """Give the stored form."""
        return {"limits": dict(self.limits), "instead": dict(self.instead)}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Read the stored form."""
        return cls(document.get("limits", {}), document.get("instead", {}))


NO_GUARD: Final = Guard()


def guard_of(
    program: o.Program,
    work_of: WorkOf,
    rates: Coefficients,
    incremental: Prediction,
    text: Prediction,
) -> Guard:
    """Work out the break-even points of a program that is expected to be cheaper than the text.

    Args:
        program: of the run.
        work_of: the work of it, where chains get so many rows and the others as many as expected.
        rates: the price of each kind of work.
        incremental: what the program is expected to cost.
        text: what the author's text is.

    Returns:
        No guard where the program is not expected to be cheaper: it is run to find out.
    """
    slack = text.price - incremental.price
    if slack <= 0:
        return NO_GUARD
    work = work_of({})
    expected = rates.in_tasks(work.total)
    factor = incremental.in_tasks / expected if expected else 0.0
    limits: dict[str, int] = {}
    for step in program.steps:
        if not isinstance(step, o.Save) or step.is_base:
            continue
        rows = max(work.sizes.of(step.child).rows.value, 1.0)
        far = rates.in_tasks(work_of({step.chain: FAR * rows}).total)
        dearer = factor * (far - expected)
        if dearer > 0:
            limits[step.chain] = max(round(rows * (1.0 + (FAR - 1.0) * slack / dearer)), LEAST)
    return Guard(limits, text.to_dict()) if limits else NO_GUARD

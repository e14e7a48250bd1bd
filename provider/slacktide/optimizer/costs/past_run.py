"""A run of a view that was: what was expected of its program, and what it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from slacktide.optimizer.costs.coefficients import Coefficients
from slacktide.optimizer.costs.vector import KINDS, Vector

Way = Literal["incremental", "rebuild", "text"]

OF_A_JOIN: Final = Vector(jobs=1, plans=1)
"""What a run does outside of tasks for each join that it builds with the states."""

LITTLE: Final = 0.05
"""Seconds of CPU below which what a kind of work was expected to take is no measure of more of it."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run of the view: what was expected of its program, and what it took.

    Attributes:
        run: its number.
        way, program: as in `Prediction`.
        expected: the work that the model saw in it.
        measured: the work that was counted.
        in_tasks: seconds of CPU that its tasks took.
        prices: what each way would have cost, as expected then.
        rows: of the view's sources then; None where they were not known.
        changed: rows of all changes that it took in; None where they were not known.
        merges, unmerged: as of `Evidence`, at that run.
        switches: whether it started or stopped to remember a join.
        turned_back: whether it left its program for a full run: its figures are of both.
        is_first: whether it was the view's first of all, which is what young Java takes.
        savings: seconds of CPU that runs were expected to take less by each join that it started to remember, by chain.
        joins: seconds of CPU that tasks took more for each join that it built with the states, by chain.
        failed_joins: the chain of the join that it was to remember and could not compute whole, if there was one.
    """

    run: int
    way: Way
    program: str
    expected: Vector
    measured: Vector
    in_tasks: float
    prices: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    rows: int | None = None
    changed: int | None = None
    merges: bool = True
    unmerged: int | None = None
    switches: bool = False
    turned_back: bool = False
    is_first: bool = False
    savings: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    joins: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    failed_joins: Sequence[str] = ()

    @property
    def without_joins(self) -> float:
        """Seconds of CPU that its tasks took for anything but the joins that it built."""
        return max(self.in_tasks - sum(self.joins.values()), 0.0)

    def outside(self, coefficients: Coefficients) -> float:
        """Seconds of CPU outside of tasks, but for the joins that it built, by what was counted."""
        joins = len(self.joins) * coefficients.outside(OF_A_JOIN)
        return max(coefficients.outside(self.measured) - joins, 0.0)

    @property
    def full_price(self) -> float:
        """What the cheaper full way would have cost in place of it, as expected then; nothing where nobody knew."""
        return min(
            (price for way, price in self.prices.items() if way != "incremental"), default=0.0
        )

    def price(self, coefficients: Coefficients) -> float:
        """What the run cost: measured in tasks, and reckoned by what was counted outside of them."""
        return self.in_tasks + coefficients.outside(self.measured)

    def seconds_of(self, work: Vector, coefficients: Coefficients) -> float:
        """What tasks take for a part of such a run, of which the model knows the work.

        The model errs in each kind of work by itself, in rows twofold and in shuffles tenfold, and in what
        a unit of all of them costs. Of a kind that was expected to take hardly any time its error says nothing of more of it.
        """
        if self.turned_back:
            return coefficients.in_tasks(work)
        counted = Vector(
            *(self._counted(kind, getattr(work, kind), coefficients) for kind in KINDS)
        )
        whole = coefficients.in_tasks(self.measured)
        return coefficients.in_tasks(counted) * ratio(self.in_tasks, whole)

    def _counted(self, kind: str, amount: float, coefficients: Coefficients) -> float:
        """How much would be counted where the model sees an amount of one kind of work."""
        counted, expected = getattr(self.measured, kind), getattr(self.expected, kind)
        is_told = getattr(coefficients, kind) * expected >= LITTLE
        return amount * ratio(counted, expected) if is_told else amount


def ratio(measured: float, expected: float) -> float:
    """By how much more was measured than expected; 1 where nothing was expected."""
    return measured / expected if expected > 0 else 1.0

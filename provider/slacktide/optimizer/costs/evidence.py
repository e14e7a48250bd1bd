"""What past runs of a view teach about its next one.

A program that has run before costs what it cost then, times what the model says of then and now: its
error in the size of things, the weight of a query's expressions and the machine all cancel out. A program
that has not run costs what the model says, times the weight that the view's other programs have shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from types import MappingProxyType
from typing import Any, Literal

from slacktide.optimizer.costs.coefficients import DEFAULTS, Coefficients
from slacktide.optimizer.costs.fitting import FLOOR
from slacktide.optimizer.costs.vector import Vector

Way = Literal["incremental", "rebuild", "text"]
Basis = Literal["observed", "modelled"]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a program is expected to cost in a run.

    Attributes:
        way: what it does: extend the answer, build states and answer anew, or run the author's text.
        program: its digest, as hexadecimal text.
        work: by the model.
        in_tasks: seconds of CPU of tasks.
        outside: seconds of CPU outside of them.
        basis: whether the very program has run before.
    """

    way: Way
    program: str
    work: Vector
    in_tasks: float
    outside: float
    basis: Basis

    @property
    def price(self) -> float:
        """All seconds of CPU, by which programs are compared."""
        return self.in_tasks + self.outside

    def to_dict(self) -> dict[str, Any]:
        """Give the form that plans and reports store; figures are named as those that are measured."""
        return {
            "way": self.way,
            "program": self.program,
            "basis": self.basis,
            "cpu_seconds": round(self.in_tasks, 3),
            "outside_seconds": round(self.outside, 3),
            **self.work.to_dict(),
        }


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
    """

    run: int
    way: Way
    program: str
    expected: Vector
    measured: Vector
    in_tasks: float
    prices: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    def price(self, coefficients: Coefficients) -> float:
        """What the run cost: measured in tasks, and reckoned by what was counted outside of them."""
        return self.in_tasks + coefficients.outside(self.measured)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The past runs of a view, oldest first, and the coefficients that hold now."""

    runs: Sequence[PastRun] = ()
    coefficients: Coefficients = DEFAULTS

    def newest(self, program: str) -> PastRun | None:
        """The newest run of a program."""
        return next((past for past in reversed(self.runs) if past.program == program), None)

    def without(self, run: int) -> Evidence:
        """The same without one run."""
        return replace(self, runs=[past for past in self.runs if past.run != run])

    def predict(self, way: Way, program: str, work: Vector) -> Prediction:
        """Predict what a program costs whose work the model knows."""
        past, rates = self.newest(program), self.coefficients
        modelled = rates.in_tasks(work)
        if past is None:
            weight = self.weight()
            outside = rates.outside(work)
            return Prediction(way, program, work, modelled * weight, outside, "modelled")
        then = rates.in_tasks(past.expected)
        in_tasks = past.in_tasks * modelled / then if then > 0 else past.in_tasks
        return Prediction(way, program, work, in_tasks, rates.outside(past.measured), "observed")

    def weight(self) -> float:
        """How much dearer the view's programs are than the model thinks; halfway to 1 on a log scale.

        Halfway, as a program that has run tells only some of one that has not: what it computes is alike,
        how the model errs in its sizes is not.
        """
        newest = {past.program: past for past in self.runs}.values()
        measured = sum(past.in_tasks for past in newest)
        expected = sum(self.coefficients.in_tasks(past.expected) for past in newest)
        return sqrt(max(measured, FLOOR) / max(expected, FLOOR)) if newest else 1.0

    def spent_since(self, run: int) -> float:
        """What runs that were not incremental have cost after one."""
        return sum(
            past.price(self.coefficients)
            for past in self.runs
            if past.run > run and past.way != "incremental"
        )

"""What each node of a plan is expected to give and to take, so that a plan can be read with its figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

from slacktide.optimizer.costs import Coefficients, ProgramWork
from slacktide.program import operator as o


class Expected(NamedTuple):
    """What is expected of a node.

    Attributes:
        rows: that it gives; of a step, those that it writes.
        seconds: of CPU that its tasks take.
    """

    rows: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Estimates:
    """What is expected of the nodes of a program, by name of node; empty where the planner cannot tell."""

    nodes: Mapping[str, Expected]

    def of(self, node: o.Operator | o.Step) -> Expected | None:
        """What is expected of a step, or of an operator in all places where it is read.

        None of rows that are computed only where others have run dry.
        """
        return None if isinstance(node, o.Refill) else self.nodes.get(_name(node))

    def to_dict(self) -> dict[str, list[float]]:
        """Give the stored form."""
        return {name: list(expected) for name, expected in self.nodes.items()}

    @classmethod
    def from_dict(cls, document: Mapping[str, list[float]]) -> Self:
        """Read the stored form."""
        return cls({name: Expected(int(rows), took) for name, (rows, took) in document.items()})


NOTHING = Estimates({})


def estimates_of(
    program: o.Program, work: ProgramWork, rates: Coefficients, in_tasks: float
) -> Estimates:
    """Share what a program is expected to take among its nodes, as the model sees their work.

    Args:
        program: of one run.
        work: of it.
        rates: the price of each kind of work.
        in_tasks: seconds of CPU that all its tasks are expected to take, by evidence where there is some.
    """
    whole = rates.in_tasks(work.total)
    factor = in_tasks / whole if whole else 0.0
    found: dict[str, Expected] = {}
    for step, written in zip(program.steps, work.writes, strict=True):
        if isinstance(step, o.Refill):
            continue
        rows = work.sizes.of(step.child).rows.value
        found[_name(step)] = Expected(round(rows), round(factor * rates.in_tasks(written), 3))
    for operator, taken in work.operators.items():
        rows = work.sizes.of(operator).rows.value
        found[_name(operator)] = Expected(round(rows), round(factor * rates.in_tasks(taken), 3))
    return Estimates(found)


def _name(node: o.Operator | o.Step) -> str:
    """By what a node is found again: a step by what it writes, an operator by its digest, shortened."""
    return node.digest.hex()[:16] if isinstance(node, o.Operator) else o.target(node)

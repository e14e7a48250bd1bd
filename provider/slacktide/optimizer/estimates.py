"""What each node of a plan is expected to give and to take, so that a plan can be read with its figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

from slacktide.optimizer.costs import Coefficients, ProgramWork
from slacktide.optimizer.costs.reads import reads_expected
from slacktide.optimizer.statistics import Figure, Statistics
from slacktide.program import operator as o


class Expected(NamedTuple):
    """What is expected of a node.

    Attributes:
        rows: that it gives; of a step, those that it writes.
        seconds: of CPU that its tasks take.
        is_guess: whether the rows follow from something that nobody has counted or declared.
    """

    rows: int
    seconds: float
    is_guess: bool = False


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
        """Give the stored form: rows, seconds, and a 1 where the rows are a guess."""
        return {
            name: [one.rows, one.seconds, *([1] if one.is_guess else [])]
            for name, one in self.nodes.items()
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, list[float]]) -> Self:
        """Read the stored form."""
        return cls(
            {
                name: Expected(int(rows), took, bool(guess))
                for name, (rows, took, *guess) in document.items()
            }
        )


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
        rows = work.sizes.of(step.child).rows
        found[_name(step)] = _expected(rows, factor * rates.in_tasks(written))
    for operator, taken in work.operators.items():
        rows = work.sizes.of(operator).rows
        found[_name(operator)] = _expected(rows, factor * rates.in_tasks(taken))
    return Estimates(found)


def reads_of(program: o.Program, work: ProgramWork, statistics: Statistics) -> dict[str, int]:
    """The rows that each step which extends a chain is expected to read, by chain, where that is known."""
    found = {
        o.target(step): reads_expected(step, works, statistics)
        for step, works in zip(program.steps, work.steps, strict=True)
    }
    return {chain: round(rows) for chain, rows in found.items() if rows is not None}


def _expected(rows: Figure, seconds: float) -> Expected:
    return Expected(round(rows.value), round(seconds, 3), rows.origin == "default")


def _name(node: o.Operator | o.Step) -> str:
    """By what a node is found again: a step by what it writes, an operator by its digest, shortened."""
    return node.digest.hex()[:16] if isinstance(node, o.Operator) else o.target(node)

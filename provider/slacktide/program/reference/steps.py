"""The data of the operators of one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slacktide.common.tree import of_type
from slacktide.errors import InvariantError
from slacktide.program import operator as o
from slacktide.program.reference.bags import Bag
from slacktide.program.reference.relations import Rows
from slacktide.program.reference.world import Outcome, World

Operators = Mapping[type[o.Operator], Callable[["StepRun", Any], Any]]


class StepRun:
    """The data of every distinct operator of one step, computed inputs first.

    Args:
        world: what the program reads.
        outcome: what its earlier steps wrote.
        operators: how each kind of operator is computed.
    """

    def __init__(self, world: World, outcome: Outcome, operators: Operators) -> None:
        self.world = world
        self.outcome = outcome
        self._operators = operators
        self._done: dict[bytes, Any] = {}

    def compute(self, root: o.Operator) -> None:
        """Compute an operator and all that it reads."""
        for operator in of_type(root, o.Operator):
            compute = self._operators.get(type(operator))
            if compute is None:
                raise InvariantError(f"the reference does not know {operator.tag}")
            self._done[operator.digest] = compute(self, operator)

    def bag(self, operator: o.Operator) -> Bag:
        """The bag that a computed operator gives."""
        if operator.is_state:
            raise InvariantError(f"{operator.tag} gives partial aggregates where a bag is due")
        return list(self._done[operator.digest])

    def state(self, operator: o.Operator) -> Rows:
        """The partial aggregates that a computed operator gives."""
        if not operator.is_state:
            raise InvariantError(f"{operator.tag} gives a bag where partial aggregates are due")
        return list(self._done[operator.digest])

    def any(self, operator: o.Operator) -> Any:
        """What a computed operator gives, in its own form."""
        return self._done[operator.digest]

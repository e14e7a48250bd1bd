"""How many rows the operators of a program give in a run: those of changes, and of what they meet.

What is stored has the rows that the log knows; what an earlier step of the program saves has those of
that step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from slacktide.algebra import relation as r
from slacktide.common.tree import of_type
from slacktide.optimizer.statistics.estimate import Estimate
from slacktide.optimizer.statistics.facts import UNKNOWN_COLUMN, Figure, Statistics
from slacktide.optimizer.statistics.operators import UNKNOWN_STORED, operator_estimate
from slacktide.optimizer.statistics.relation import Cardinality
from slacktide.optimizer.statistics.widths import packed
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Program


class Sizes:
    """Estimates of all operators of one program.

    Args:
        program: of one run.
        statistics: what is known as of that run.
        query: the relation that the author's text means, where the program runs it.
        written: how many rows steps add to chains, in place of what would be estimated.
    """

    def __init__(
        self,
        program: Program,
        statistics: Statistics,
        query: r.Rel | None = None,
        written: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self._written = written
        self.statistics = statistics
        self.query = query
        self._saved: dict[str, Estimate] = {}
        self._done: dict[bytes, Estimate] = {}
        for step in program.steps:
            for operator in of_type(step.child, Operator):
                if operator.digest not in self._done:
                    self._done[operator.digest] = self._estimate(operator)
            self._note(step)

    def _estimate(self, operator: Operator) -> Estimate:
        match operator:
            case o.ReadSaved():
                written = self._saved.get(operator.chain, UNKNOWN_STORED)
                ids = [column.id for column in operator.fields]
                columns = {number: written.columns.get(number, UNKNOWN_COLUMN) for number in ids}
                return Estimate(written.rows, columns, packed(written.rows, operator.columns))
            case o.Batch():
                known = Cardinality(self.statistics)
                query = self.query
                return UNKNOWN_STORED if query is None else replace(known.of(query), columns={})
            case _:
                return operator_estimate(operator, self.of, self.statistics)

    def _note(self, step: o.Step) -> None:
        """Keep what a step writes; a base has as many rows as the one that it takes the place of."""
        chain = o.target(step)
        found = self._done[step.child.digest]
        counted = self.statistics.stored.get(chain)
        if chain in self._written:
            found = replace(found, rows=Figure(self._written[chain]))
            self._done[step.child.digest] = found
        is_base = isinstance(step, o.Save | o.Publish) and step.is_base
        if is_base and counted is not None:
            found = replace(found, rows=Figure(counted.rows, "observed"))
            self._done[step.child.digest] = found
        self._saved[chain] = found

    def of(self, operator: Operator) -> Estimate:
        """The estimate of an operator of the program."""
        return self._done[operator.digest]

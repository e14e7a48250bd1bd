"""How many rows the operators of a program give in a run: those of changes, and of what they meet.

A change has the inserts and deletes that have arrived, and every operator over it what its relation
would have of so many rows (`relation`). What is stored has the rows that the log knows; what an earlier
step of the program saves has those of that step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.types import BOOLEAN
from slacktide.common.tree import of_type
from slacktide.optimizer.statistics.facts import UNKNOWN_COLUMN, Figure, Statistics
from slacktide.optimizer.statistics.relation import (
    GENERATED,
    Cardinality,
    Estimate,
    added,
    assigned,
    groups,
    meeting_share,
    met,
    source_columns,
)
from slacktide.optimizer.statistics.selectivity import selectivity
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Program

BALANCED: Final = 0.5
"""The share of changed rows whose key has a balance that is asked for."""
UNKNOWN_STORED: Final = Figure(100_000.0)
"""Rows of a chain that the log does not know yet."""
Size = Estimate
Below = Callable[[Operator], Size]


class Sizes:
    """Estimates of all operators of one program.

    Args:
        program: of one run.
        statistics: what is known as of that run.
        query: the relation that the author's text means, where the program runs it.
    """

    def __init__(
        self, program: Program, statistics: Statistics, query: r.Rel | None = None
    ) -> None:
        self.statistics = statistics
        self.query = query
        self._saved: dict[str, Size] = {}
        self._done: dict[bytes, Size] = {}
        for step in program.steps:
            for operator in of_type(step.child, Operator):
                if operator.digest not in self._done:
                    rule = _RULES[type(operator)]
                    self._done[operator.digest] = rule(operator, self._below, self)
            self._note(step)

    def _note(self, step: o.Step) -> None:
        """Keep what a step writes; a base has as many rows as the one that it takes the place of."""
        chain = f"views/{step.view}" if isinstance(step, o.Publish) else step.chain
        found = self._done[step.child.digest]
        counted = self.statistics.stored.get(chain)
        is_base = isinstance(step, o.Save | o.Publish) and step.is_base
        if is_base and counted is not None:
            found = replace(found, rows=Figure(counted.rows, "observed"))
            self._done[step.child.digest] = found
        self._saved[chain] = found

    def of(self, operator: Operator) -> Size:
        """The estimate of an operator of the program."""
        return self._done[operator.digest]

    def saved(self, chain: str) -> Size:
        """What an earlier step has saved to a chain."""
        return self._saved.get(chain, Size(UNKNOWN_STORED, {}))

    def _below(self, operator: Operator) -> Size:
        return self._done[operator.digest]


def width(columns: r.Columns) -> float:
    """Bytes of a row, as Spark shuffles it: eight for each value, and those of a text besides."""
    texts = sum(not _is_fixed(column.type) for column in columns)
    return 16.0 + 8.0 * len(columns) + 16.0 * texts


def _is_fixed(data_type: str) -> bool:
    fixed = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE")
    return data_type in fixed or data_type.startswith(("TIMESTAMP", "DECIMAL"))


def _changes(operator: o.ReadChanges, _: Below, sizes: Sizes) -> Size:
    facts = sizes.statistics.source(operator.source)
    columns = source_columns(sizes.statistics, operator.source, operator.fields)
    return Size(facts.changed, columns)


def _snapshot(operator: o.ReadSnapshot, _: Below, sizes: Sizes) -> Size:
    facts = sizes.statistics.source(operator.source)
    columns = source_columns(sizes.statistics, operator.source, operator.fields)
    return Size(facts.rows, columns)


def _stored(operator: o.ReadBag | o.ReadState | o.ReadSegments, _: Below, sizes: Sizes) -> Size:
    known = sizes.statistics.stored.get(operator.chain)
    if known is None:
        return Size(UNKNOWN_STORED, {})
    return Size(Figure(known.rows, "observed"), {})


def _read_saved(operator: o.ReadSaved, _: Below, sizes: Sizes) -> Size:
    written = sizes.saved(operator.chain)
    return Size(
        written.rows, {c.id: written.columns.get(c.id, UNKNOWN_COLUMN) for c in operator.fields}
    )


def _select(operator: o.Select, below: Below, _: Sizes) -> Size:
    child = below(operator.child)
    share = selectivity(operator.predicate, child.columns)
    return replace(child, rows=child.rows.scaled(share, Figure(0.0)))


def _map(operator: o.Map | o.Finish, below: Below, _: Sizes) -> Size:
    child = below(operator.child)
    return Size(child.rows, assigned(operator.outputs, child.columns))


def _join(operator: o.JoinBags, below: Below, _: Sizes) -> Size:
    left, right = below(operator.left), below(operator.right)
    sides = (operator.left.columns, operator.right.columns)
    rows = met(left, right, operator.condition, sides)
    return Size(rows, {**left.columns, **right.columns})


def _semi(operator: o.SemiBags, below: Below, _: Sizes) -> Size:
    left, right = below(operator.left), below(operator.right)
    sides = (operator.left.columns, operator.right.columns)
    share = meeting_share(left, right, operator.condition, sides)
    return replace(
        left, rows=left.rows.scaled(1 - share if operator.negated else share, right.rows)
    )


def _flips(operator: o.Flips, below: Below, _: Sizes) -> Size:
    child = below(operator.child)
    return replace(child, rows=child.rows.scaled(1.0, below(operator.after).rows))


def _touched(operator: o.Touched, below: Below, _: Sizes) -> Size:
    child, by = below(operator.child), below(operator.by)
    pairs = [s.Call("=", (pair.own, pair.other), BOOLEAN, nullable=True) for pair in operator.keys]
    sides = (operator.child.columns, operator.by.columns)
    share = min((meeting_share(child, by, pair, sides) for pair in pairs), default=1.0)
    return replace(child, rows=child.rows.scaled(share, by.rows))


def _expand(operator: o.ExpandBag, below: Below, _: Sizes) -> Size:
    return Size(below(operator.child).rows.scaled(len(operator.projections)), {})


def _generate(operator: o.GenerateBag, below: Below, _: Sizes) -> Size:
    child = below(operator.child)
    return replace(child, rows=child.rows.scaled(GENERATED, Figure(0.0)))


def _add(operator: o.Add, below: Below, _: Sizes) -> Size:
    children = [below(child) for child in operator.children]
    return added(children, [child.columns for child in operator.children], operator.fields)


def _balanced(operator: o.ByBalance, below: Below, _: Sizes) -> Size:
    child = below(operator.child)
    return replace(child, rows=child.rows.scaled(BALANCED, Figure(0.0)))


def _first(operator: o.First, below: Below, _: Sizes) -> Size:
    child = below(operator.child)
    most = min(child.rows.value, operator.count + 1.0)
    return replace(child, rows=replace(child.rows, value=most))


def _summarise(operator: o.Summarise, below: Below, _: Sizes) -> Size:
    child = below(operator.child)
    return Size(groups(operator.keys, child), assigned(operator.keys, child.columns))


def _evaluate(operator: o.Evaluate, below: Below, sizes: Sizes) -> Size:
    inputs = {item.name: below(item.operator) for item in operator.inputs}
    return Cardinality(sizes.statistics, inputs).of(operator.query)


def _batch(_: o.Batch, __: Below, sizes: Sizes) -> Size:
    if sizes.query is None:
        return Size(UNKNOWN_STORED, {})
    return Size(Cardinality(sizes.statistics).of(sizes.query).rows, {})


def _same(
    operator: o.Negate | o.Consolidate | o.Combine | o.Nonzero, below: Below, _: Sizes
) -> Size:
    return below(operator.child)


_RULES: Final[Mapping[type[Any], Callable[[Any, Below, Sizes], Size]]] = {
    o.ReadChanges: _changes,
    o.ReadSnapshot: _snapshot,
    o.ReadBag: _stored,
    o.ReadState: _stored,
    o.ReadSegments: _stored,
    o.ReadSaved: _read_saved,
    o.Select: _select,
    o.Map: _map,
    o.JoinBags: _join,
    o.SemiBags: _semi,
    o.Flips: _flips,
    o.ExpandBag: _expand,
    o.GenerateBag: _generate,
    o.Add: _add,
    o.Negate: _same,
    o.Consolidate: _same,
    o.ByBalance: _balanced,
    o.First: _first,
    o.UpTo: _same,
    o.Summarise: _summarise,
    o.Combine: _same,
    o.Nonzero: _same,
    o.Touched: _touched,
    o.Finish: _map,
    o.Evaluate: _evaluate,
    o.Batch: _batch,
}

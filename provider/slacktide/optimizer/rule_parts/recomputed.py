"""Operators that are maintained by recomputing what a change touched: what is kept of their input.

The universal method (ADR 0004, decision 3): where the result for a key follows from the input rows
of that key alone, the change of the result is that of the touched keys. The input is kept as a
counted bag, so that no base table is read; the old result is the stored one, never computed again,
because some functions may choose otherwise among equals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.totality import is_total
from slacktide.algebra.tree import ordered_path, references
from slacktide.algebra.types import BOOLEAN, DataType
from slacktide.common.tree import graft
from slacktide.optimizer.rule_parts.first import FirstRows, rows_needed, total_order
from slacktide.program.operator import INPUTS, MOST_FIRST, by_id

Fresh = Callable[[str, DataType], s.Column]
INPUT = INPUTS[0]


@dataclass(frozen=True, slots=True)
class Recomputed:
    """How an operator is recomputed.

    Attributes:
        rows: what is kept: the input, as little of it as the operator needs.
        query: the operator over a scan of `INPUT`, which has the columns of `rows`.
        keys: pairs of the key as an expression over `rows` and over the result; none where all of
            the result depends on all of the input.
        first: of a limit, which rows of the input decide it; None where all may.
    """

    rows: r.Rel
    query: r.Rel
    keys: tuple[tuple[s.Scalar, s.Scalar], ...]
    first: FirstRows | None = None


def recomputed(rel: r.Aggregate | r.Window | r.Limit, fresh: Fresh) -> Recomputed:
    """Say how an operator is recomputed."""
    match rel:
        case r.Aggregate():
            return _aggregate(rel, fresh)
        case r.Window():
            return Recomputed(
                rel.child, _over(rel, rel.child), tuple((value, value) for value in rel.partition)
            )
        case r.Limit():
            return _limit(rel, fresh)


def _limit(rel: r.Limit, fresh: Fresh) -> Recomputed:
    """A limit goes by the order below it, if any, and then by all columns: a bag keeps no order.

    LIMIT with OFFSET is a limit over a limit, and both go by the order.
    """
    *above, below = ordered_path(rel)
    if isinstance(below, r.Sort):
        rows, keys = below.child, below.keys
    else:
        above, below, rows, keys = [rel], rel.child, rel.child, ()
    order = total_order(keys, rows.columns)
    scan = r.Scan(INPUT, by_id(rows.columns))
    query = graft(rel, {below.digest: r.Sort(scan, order) if order else scan})
    limits = [node for node in above if isinstance(node, r.Limit)]
    least = None if any(isinstance(node, r.Filter) for node in above) else rows_needed(limits)
    if least is None or not order:
        return Recomputed(rows, query, ())
    first = FirstRows(order, least, fresh("fence", BOOLEAN))
    return Recomputed(rows, query, (), first if first.count <= MOST_FIRST else None)


def _over(rel: r.Rel, rows: r.Rel) -> r.Rel:
    return graft(rel, {rows.digest: r.Scan(INPUT, by_id(rows.columns))})


class _Kept:
    """The expressions of an aggregate as columns of what is kept, each meaning once."""

    def __init__(self, fresh: Fresh) -> None:
        self._fresh = fresh
        self._found: dict[s.Scalar, s.Column] = {}

    def column(self, value: s.Scalar) -> s.Scalar:
        """A reference to the column of an expression; what refers to nothing stays as it is."""
        return self.keyed(value) if references(value) else value

    def keyed(self, value: s.Scalar) -> s.Scalar:
        """A reference to the column of an expression, of a constant too."""
        if value not in self._found:
            named = self._fresh("kept", value.type)
            self._found[value] = s.Column(named.id, named.name, value.type, value.nullable)
        return s.reference(self._found[value])

    def outputs(self) -> tuple[s.Assignment, ...]:
        return tuple(s.Assignment(column, value) for value, column in self._found.items())


def _aggregate(rel: r.Aggregate, fresh: Fresh) -> Recomputed:
    kept = _Kept(fresh)
    keys = tuple(s.Assignment(key.column, kept.keyed(key.value)) for key in rel.keys)
    measures = tuple(s.Measure(m.column, _call(m.call, kept)) for m in rel.measures)
    if not kept.outputs():
        kept.keyed(s.Literal("1", "INT", nullable=False))
    rows = r.Project(rel.child, kept.outputs())
    query = r.Aggregate(r.Scan(INPUT, by_id(rows.columns)), keys, measures)
    pairs = tuple((key.value, s.reference(key.column)) for key in keys)
    return Recomputed(rows, query, pairs)


def _call(call: s.AggregateCall, kept: _Kept) -> s.AggregateCall:
    arguments = tuple(kept.column(_asked(argument, call.filter)) for argument in call.arguments)
    condition = None if call.filter is None else kept.column(call.filter)
    return s.AggregateCall(
        call.function, arguments, call.distinct, condition, call.type, call.nullable
    )


def _asked(argument: s.Scalar, condition: s.Scalar | None) -> s.Scalar:
    """An argument, of the rows alone that FILTER leaves where others may make it fail; a constant stays one."""
    if condition is None or is_total(argument) or not references(argument):
        return argument
    return s.Case(((condition, argument),), None, argument.type, nullable=True)

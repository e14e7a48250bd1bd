"""Which relations have a delta rule, and which can be computed from states alone.

Two analyses over a view, each memoised on the object that holds them:

* `obstacle(rel)`: None where the change of `rel` follows from changes and states, else the reason.
* `is_state_backed(rel)`: whether `rel` at any moment follows from states without a base table.
"""

from __future__ import annotations

from collections.abc import Mapping

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.tree import inputs, relations
from slacktide.algebra.types import DataType, decimal_of, is_floating, is_groupable, is_integral
from slacktide.common.node import Node
from slacktide.common.reasons import Reason
from slacktide.common.tree import parts
from slacktide.optimizer.states import quotient_type, sum_type

_SPARE_DIGITS = 9


class Maintainability:
    """The two analyses for one view.

    Args:
        root: its relation.
        conf: the SQL settings under which it is computed.
    """

    def __init__(self, root: r.Rel, conf: Mapping[str, str] | None = None) -> None:
        self.root = root
        self.conf = dict(conf or {})
        self._obstacles: dict[r.Rel, Reason | None] = {}
        self._backed: dict[r.Rel, bool] = {}
        for rel in relations(root):
            self._obstacles[rel] = self._first(rel)
            self._backed[rel] = self._is_backed(rel)

    def obstacle(self, rel: r.Rel) -> Reason | None:
        """Why the change of `rel` cannot be computed from changes and states; None when it can."""
        return self._obstacles[rel]

    def is_state_backed(self, rel: r.Rel) -> bool:
        """Whether `rel` can be computed without reading a base table."""
        return self._backed[rel]

    def verdict(self) -> tuple[Reason, ...]:
        """Why the whole view is recomputed from the sources; empty when it is maintained."""
        unlike = [c.type for c in self.root.columns if not is_groupable(c.type)]
        if self._obstacles[self.root] is None and unlike:
            return (Reason("UNGROUPABLE_TYPE", unlike[0]),)
        if self._obstacles[self.root] is None:
            return ()
        if self.is_state_backed(self.root):
            return ()
        found = dict.fromkeys(
            self._obstacles[rel] for rel in relations(self.root) if self._own(rel) is not None
        )
        return tuple(reason for reason in found if reason is not None)

    def _first(self, rel: r.Rel) -> Reason | None:
        for child in reads(rel):
            below = self._obstacles[child]
            if below is not None:
                return below
        return self._own(rel)

    def _own(self, rel: r.Rel) -> Reason | None:
        return _node_obstacle(rel) or _expression_obstacle(rel)

    def _is_backed(self, rel: r.Rel) -> bool:
        if isinstance(rel, r.Scan):
            return False
        if isinstance(rel, r.Aggregate) and self._obstacles[rel] is None:
            return True
        return all(self._backed[child] for child in reads(rel))


def reads(rel: r.Rel) -> tuple[r.Rel, ...]:
    """Everything a relation reads: its inputs, and the queries inside its own expressions."""
    below: list[r.Rel] = list(inputs(rel))
    below.extend(query.query for query in _own_subqueries(rel))
    return tuple(below)


def _own_subqueries(rel: r.Rel) -> list[s.Subquery]:
    found: list[s.Subquery] = []
    stack: list[Node] = [part for part in parts(rel) if not isinstance(part, r.Relation)]
    while stack:
        node = stack.pop()
        if isinstance(node, s.Subquery):
            found.append(node)
        elif not isinstance(node, r.Relation):
            stack.extend(parts(node))
    return found


def _node_obstacle(rel: r.Rel) -> Reason | None:
    match rel:
        case r.Scan() | r.Values() | r.Filter() | r.Project() | r.Union():
            return None
        case r.Join():
            return None if rel.kind == "inner" else _operator(f"{rel.kind} join")
        case r.Aggregate():
            return _aggregate_obstacle(rel)
        case r.Sort() | r.Limit() | r.Window() | r.Expand() | r.Generate() | r.Range():
            return _operator(rel.tag)


def _operator(what: str) -> Reason:
    return Reason("OPERATOR_NOT_INCREMENTAL", what)


def _expression_obstacle(rel: r.Rel) -> Reason | None:
    return _operator("scalar subquery") if _own_subqueries(rel) else None


def _aggregate_obstacle(rel: r.Aggregate) -> Reason | None:
    for key in rel.keys:
        if not is_groupable(key.column.type):
            return Reason("UNGROUPABLE_TYPE", key.column.type)
    for measure in rel.measures:
        reason = _measure_obstacle(measure.call)
        if reason is not None:
            return reason
    return None


def _measure_obstacle(call: s.AggregateCall) -> Reason | None:
    name = call.function
    if call.distinct:
        return _operator(f"{name}(DISTINCT)")
    if name == "count" and len(call.arguments) <= 1:
        return None
    if name not in {"sum", "avg"}:
        return _operator(name)
    argument = call.arguments[0].type
    if is_floating(argument):
        return Reason("INEXACT_AGGREGATE", name)
    if is_integral(argument) or (shape := decimal_of(argument)) is None:
        return None if is_integral(argument) else _operator(f"{name} of {argument}")
    if name == "avg" and not _has_digits(shape, call.type):
        return _operator(f"avg of {argument}")
    return None


def _has_digits(argument: tuple[int, int], result: DataType) -> bool:
    """Whether total by count keeps enough digits to be rounded once more without error.

    A quotient is at least 1 / (2 · 10^scale · rows) away from the middle of two results, so six
    more digits than the result has are exact for groups of up to a million rows, nine for a
    billion.
    """
    quotient = decimal_of(quotient_type(sum_type(argument)))
    shape = decimal_of(result)
    return quotient is not None and shape is not None and quotient[1] >= shape[1] + _SPARE_DIGITS

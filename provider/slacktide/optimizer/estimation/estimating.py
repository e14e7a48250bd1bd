"""Prices of a memo: every group has one size, every expression the cost of its operator."""

from __future__ import annotations

from collections.abc import Sequence

from slacktide.optimizer.estimation.known import DEFAULT_WIDTH, Statistics
from slacktide.optimizer.estimation.operators import SparkCosts
from slacktide.optimizer.estimation.sizes import Size, Sizes
from slacktide.optimizer.estimation.vector import CostVector
from slacktide.optimizer.memo.hole import ChangesBetween, Hole, SnapshotAt
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.trait import SetDelta, SetSnap, ValDelta, ValSnap
from slacktide.program import operator as o
from slacktide.program.operator import Operator, operator_inputs

_MANY = 1e12


class Estimated:
    """Sizes and prices of a memo.

    Args:
        memo: the plan space.
        statistics: what is known of its sources.
        costs: prices operators.
    """

    def __init__(self, memo: Memo, statistics: Statistics, costs: SparkCosts) -> None:
        self._memo = memo
        self._statistics = statistics
        self._costs = costs
        self._sizes = Sizes(statistics, memo.tables)
        self._known: dict[int, Size] = {}

    def price(self, flat: Operator) -> int:
        """What an expression costs, in millionths of a second of CPU."""
        return self.cost(flat).micros

    def carrying(self, group: int) -> tuple[int, int]:
        """What it costs to save a group, and to load it."""
        size = self.size(group)
        return self._costs.write(size).micros, self._costs.read(size).micros

    def cost(self, flat: Operator) -> CostVector:
        """What an expression costs, without its inputs."""
        inputs = [self.size(part.group) for part in operator_inputs(flat) if isinstance(part, Hole)]
        return self._costs.operator(flat, inputs, self._gives(flat, inputs))

    def size(self, number: int) -> Size:
        """How large a group is: from what it is to a relation, or else from an expression."""
        root = self._memo.groups.find(number)
        stack = [root]
        while root not in self._known:
            group = stack[-1]
            linked = self._linked(group)
            if linked is not None:
                self._known[group] = linked
                stack.pop()
                continue
            flat = self._memo.groups.expressions(group)[0]
            parts = [part.group for part in operator_inputs(flat) if isinstance(part, Hole)]
            missing = [part for part in parts if part not in self._known]
            if missing:
                stack.extend(missing)
                continue
            self._known[group] = self._gives(flat, [self._known[part] for part in parts])
            stack.pop()
        return self._known[root]

    def _linked(self, group: int) -> Size | None:
        for tvr, trait in sorted(
            self._memo.linked(group), key=lambda link: (link[0], repr(link[1]))
        ):
            rel = self._memo.relation(tvr)
            match trait:
                case SetSnap():
                    return self._sizes.snapshot(rel, trait.version)
                case SetDelta():
                    return self._sizes.change(rel, trait.start, trait.end)
                case ValSnap():
                    rows = self._sizes.snapshot(rel, trait.version)
                    return self._of_state(group, rows)
                case ValDelta():
                    change = self._sizes.change(rel, trait.start, trait.end)
                    return self._of_state(
                        group, Size(change.rows / 2, change.width, change.is_known)
                    )
                case _:
                    continue
        return None

    def _of_state(self, group: int, groups: Size) -> Size:
        """A row of a state has its keys and partial aggregates for measures."""
        columns = self._memo.groups.hole(group).columns
        return Size(groups.rows, len(columns) * DEFAULT_WIDTH, groups.is_known)

    def _gives(self, flat: Operator, inputs: Sequence[Size]) -> Size:
        """How large the result of an operator is, in the large."""
        width = len(flat.columns) * DEFAULT_WIDTH or 1.0
        is_known = all(size.is_known for size in inputs)
        rows = [size.rows for size in inputs]
        match flat:
            case SnapshotAt():
                found, is_known = self._statistics.rows(flat.source, flat.version or 1)
            case ChangesBetween():
                change, is_known = self._statistics.change(flat.source, flat.end)
                found = change.inserted + change.deleted
            case o.JoinBags():
                found, is_known = max(rows), False
            case o.Touched() | o.SemiBags() | o.Flips():
                found, is_known = min(rows), False
            case o.ExpandBag():
                found = rows[0] * len(flat.projections)
            case o.Add():
                found = sum(rows)
            case _:
                found = max(rows, default=0.0)
        return Size(min(found, _MANY), width, is_known)

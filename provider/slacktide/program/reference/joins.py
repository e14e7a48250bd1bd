"""Operators that hold rows of two operators against each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import Scalar
from slacktide.program import operator as o
from slacktide.program.reference.bags import Bag, consolidate
from slacktide.program.reference.ordering import Row, group_keys
from slacktide.program.reference.scalars import function_of
from slacktide.program.reference.steps import Operators, StepRun


def _join(run: StepRun, node: o.JoinBags) -> Bag:
    right = run.bag(node.right)
    condition = None if node.condition is None else function_of(node.condition, node.columns)
    return [
        (row + other, count * times)
        for row, count in run.bag(node.left)
        for other, times in right
        if condition is None or condition(row + other) is True
    ]


def _semi(run: StepRun, node: o.SemiBags) -> Bag:
    meets = _meeting(run, node.left, node.right, node.condition)
    return [(row, count) for row, count in run.bag(node.left) if meets(row) is not node.negated]


def _meeting(
    run: StepRun, left: o.Operator, right: o.Operator, condition: Scalar | None
) -> Callable[[Row], bool]:
    """Whether a row of the left side meets a row that occurs on the right."""
    rows = [row for row, _ in consolidate(run.bag(right))]
    if condition is None:
        return lambda _: bool(rows)
    test = function_of(condition, left.columns + right.columns)
    return lambda row: any(test(row + other) is True for other in rows)


def _flips(run: StepRun, node: o.Flips) -> Bag:
    before = _meeting(run, node.child, node.before, node.condition)
    after = _meeting(run, node.child, node.after, node.condition)
    return [
        (row, count * (after(row) - before(row)))
        for row, count in run.bag(node.child)
        if after(row) != before(row)
    ]


def _touched(run: StepRun, node: o.Touched) -> Any:
    own = _key([pair.own for pair in node.keys], node.child.columns)
    other = _key([pair.other for pair in node.keys], node.by.columns)
    by = {other(item if node.by.is_state else item[0]) for item in run.any(node.by)}
    rows = run.any(node.child)
    return [row for row in rows if own(row if node.child.is_state else row[0]) in by]


def _key(scalars: Sequence[Scalar], columns: Columns) -> Callable[[Row], object]:
    functions = [function_of(scalar, columns) for scalar in scalars]
    return lambda row: group_keys(function(row) for function in functions)


OPERATORS: Final[Operators] = {
    o.JoinBags: _join,
    o.SemiBags: _semi,
    o.Flips: _flips,
    o.Touched: _touched,
}

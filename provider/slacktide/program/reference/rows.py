"""Operators that take each row by itself, rows in an order, or equal rows together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from slacktide.algebra.relation import Columns, Generate, Scan
from slacktide.algebra.scalar import SortKey
from slacktide.program import operator as o
from slacktide.program.balance import BALANCES
from slacktide.program.operator import by_id
from slacktide.program.reference.bags import Bag, consolidate, expand, negate
from slacktide.program.reference.first import leading
from slacktide.program.reference.ordering import Row, group_keys
from slacktide.program.reference.relations import Evaluation, Rows
from slacktide.program.reference.scalars import function_of, outputs_of
from slacktide.program.reference.sorting import in_order
from slacktide.program.reference.steps import Operators, StepRun


def _select(run: StepRun, node: o.Select) -> Bag:
    predicate = function_of(node.predicate, node.child.columns)
    return [(row, count) for row, count in run.bag(node.child) if predicate(row) is True]


def _map(run: StepRun, node: o.Map) -> Bag:
    outputs = outputs_of(node.outputs, node.child.columns)
    return [(outputs(row), count) for row, count in run.bag(node.child)]


def _add(run: StepRun, node: o.Add) -> Any:
    return [item for child in node.children for item in run.any(child)]


def _expand(run: StepRun, node: o.ExpandBag) -> Bag:
    columns = node.child.columns
    projections = [[function_of(value, columns) for value in row] for row in node.projections]
    return [
        (tuple(value(row) for value in projection), count)
        for row, count in run.bag(node.child)
        for projection in projections
    ]


def _generate(run: StepRun, node: o.GenerateBag) -> Bag:
    """Generate from one row at a time, so that its multiplicity goes to all that it makes."""
    scan = Scan("input", by_id(node.child.columns))
    query = Generate(scan, node.generator, node.outer, node.kept, node.fields)
    return [
        (made, count)
        for row, count in run.bag(node.child)
        for made in Evaluation(partial(_only, row)).rows(query)
    ]


def _only(row: Row, _: Scan) -> Rows:
    return [row]


def _by_balance(run: StepRun, node: o.ByBalance) -> Bag:
    places = [node.columns.index(column) for column in node.keys]
    bag = run.bag(node.child)
    keys = [group_keys(row[place] for place in places) for row, _ in bag]
    sums: dict[object, int] = {}
    for key, (_, count) in zip(keys, bag, strict=True):
        sums[key] = sums.get(key, 0) + count
    meant = BALANCES[node.balance]
    return [item for key, item in zip(keys, bag, strict=True) if meant.has(sums[key])]


def _first(run: StepRun, node: o.First) -> Bag:
    rows = expand(run.bag(node.child), "what is cut off")
    values = _values(node.order, node.columns)
    return consolidate((row, 1) for row in leading(rows, node.order, values, node.count))


def _up_to(run: StepRun, node: o.UpTo) -> Bag:
    own, other = (_values(node.order, side.columns) for side in (node.child, node.fence))
    fences = [other(row) for row, _ in consolidate(run.bag(node.fence))]
    return [
        (row, count)
        for row, count in run.bag(node.child)
        if all(in_order(node.order, own(row), fence) <= 0 for fence in fences)
    ]


def _values(order: Sequence[SortKey], columns: Columns) -> Callable[[Row], Row]:
    """What a row is sorted by."""
    functions = [function_of(key.value, columns) for key in order]
    return lambda row: tuple(function(row) for function in functions)


OPERATORS: Final[Operators] = {
    o.Select: _select,
    o.Map: _map,
    o.Add: _add,
    o.Negate: lambda run, node: negate(run.bag(node.child)),
    o.Consolidate: lambda run, node: consolidate(run.bag(node.child)),
    o.ExpandBag: _expand,
    o.GenerateBag: _generate,
    o.ByBalance: _by_balance,
    o.First: _first,
    o.UpTo: _up_to,
}

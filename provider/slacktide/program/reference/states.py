"""Operators that make partial aggregates, and answers of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from slacktide.algebra.relation import Columns
from slacktide.program import operator as o
from slacktide.program.reference.aggregates import total
from slacktide.program.reference.bags import Bag, refuse_negative
from slacktide.program.reference.numbers import fit, negated
from slacktide.program.reference.ordering import Row, group_keys, normalised
from slacktide.program.reference.relations import Rows
from slacktide.program.reference.scalars import function_of, outputs_of
from slacktide.program.reference.steps import Operators, StepRun


def _summarise(run: StepRun, node: o.Summarise) -> Rows:
    columns = node.child.columns
    keys = outputs_of(node.keys, columns)
    groups: dict[object, tuple[Row, Bag]] = {}
    for row, count in run.bag(node.child):
        key = normalised(keys(row))
        groups.setdefault(group_keys(key), (key, []))[1].append((row, count))
    partials = [_partial(item, columns) for item in node.partials]
    return [key + tuple(of(bag) for of in partials) for key, bag in groups.values()]


def _partial(item: o.Partial, columns: Columns) -> Callable[[Bag], Any]:
    argument = None if item.argument is None else function_of(item.argument, columns)
    condition = None if item.filter is None else function_of(item.filter, columns)
    data_type = item.column.type

    def evaluate(bag: Bag) -> Any:
        values = [
            (1 if argument is None else argument(row), count)
            for row, count in bag
            if condition is None or condition(row) is True
        ]
        present = [(value, count) for value, count in values if value is not None]
        if item.function == "count":
            return fit(sum(count for _, count in present), data_type)
        repeated = [
            value if count > 0 else negated(value)
            for value, count in present
            for _ in range(abs(count))
        ]
        return total(data_type, repeated)

    return evaluate


def _combine(run: StepRun, node: o.Combine) -> Rows:
    columns = node.columns
    key_ids = {column.id for column in node.keys}
    of_key = [place for place, column in enumerate(columns) if column.id in key_ids]
    groups: dict[object, Rows] = {}
    if not node.keys:
        groups[()] = []
    for row in run.state(node.child):
        groups.setdefault(group_keys(row[place] for place in of_key), []).append(row)
    return [
        tuple(
            rows[0][place]
            if column.id in key_ids
            else total(column.type, [row[place] for row in rows])
            for place, column in enumerate(columns)
        )
        for rows in groups.values()
    ]


def _nonzero(run: StepRun, node: o.Nonzero) -> Rows:
    partials = {column.id for column in node.partials}
    places = [place for place, column in enumerate(node.columns) if column.id in partials]
    return [row for row in run.state(node.child) if any(row[place] for place in places)]


def _regroup(run: StepRun, node: o.Regroup) -> Rows:
    columns = node.child.columns
    outputs = outputs_of(node.outputs, columns)
    chosen = None if node.predicate is None else function_of(node.predicate, columns)
    return [outputs(row) for row in run.state(node.child) if chosen is None or chosen(row) is True]


def _finish(run: StepRun, node: o.Finish) -> Bag:
    columns = node.child.columns
    place = next(place for place, column in enumerate(columns) if column.id == node.count)
    outputs = outputs_of(node.outputs, columns)
    rows = run.state(node.child)
    refuse_negative([(row, row[place]) for row in rows], "an aggregate state")
    return [(outputs(row), 1) for row in rows if row[place] or node.is_global]


OPERATORS: Final[Operators] = {
    o.Summarise: _summarise,
    o.Combine: _combine,
    o.Nonzero: _nonzero,
    o.Regroup: _regroup,
    o.Finish: _finish,
}

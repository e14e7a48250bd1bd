"""Programs over a small world in memory: what the Spark executor must do, said in plain Python.

A bag is a list of rows with signed multiplicities, consolidated or not. A state is a list of
partial aggregates, merged or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from slacktide.algebra.relation import Columns, Generate, Scan
from slacktide.algebra.scalar import Assignment, Scalar, SortKey
from slacktide.common.tree import of_type
from slacktide.errors import DataError, InvariantError
from slacktide.program import operator as o
from slacktide.program.balance import BALANCES
from slacktide.program.operator import by_id
from slacktide.program.reference.aggregates import total
from slacktide.program.reference.first import is_dry, leading
from slacktide.program.reference.numbers import fit, negated
from slacktide.program.reference.ordering import Row, group_keys, image, normalised
from slacktide.program.reference.relations import Evaluation, Rows
from slacktide.program.reference.scalars import Evaluated, compile_scalar
from slacktide.program.reference.sorting import in_order

Bag = list[tuple[Row, int]]
Data = Bag | Rows


class World(Protocol):
    """What a program reads: sources and stored things, as they are when the run starts."""

    def changes(self, source: str, columns: Columns) -> Bag:
        """The changes of a source in this run."""

    def snapshot(self, source: str, columns: Columns, moment: o.Moment) -> Bag:
        """A source at the start or end of this run."""

    def bag(self, chain: str, columns: Columns) -> Bag:
        """A stored bag, base and segments; empty where none is stored."""

    def state(self, chain: str, columns: Columns) -> Rows:
        """The stored partial aggregates of a state; empty where none are stored."""

    def pieces(self, chain: str, columns: Columns, first: int, *, is_bag: bool) -> Data:
        """A stored bag or state without the pieces, base and segments, before one of them."""

    def answer(self, view: str) -> Bag:
        """The answer of a view before this run; empty where it has none."""

    def batch(self, view: str) -> Rows:
        """The query of a view as its author wrote it, over the sources at the end of this run."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What a step wrote to a chain: a bag or partial aggregates, as base or as segment."""

    columns: Columns
    data: Data
    is_state: bool
    is_base: bool


@dataclass(frozen=True, slots=True)
class Published:
    """What a step published: the new base or segment of an answer, and the changes for readers."""

    columns: Columns
    data: Bag
    changes: Bag
    is_base: bool


@dataclass(frozen=True, slots=True)
class Merged:
    """What the pieces of a chain from one on were written anew as."""

    data: Data
    first: int
    is_state: bool


@dataclass(slots=True)
class Outcome:
    """What a run wrote."""

    saved: dict[str, Saved] = field(default_factory=dict)
    merged: dict[str, Merged] = field(default_factory=dict)
    published: dict[str, Published] = field(default_factory=dict)


def run_program(program: o.Program, world: World) -> Outcome:
    """Execute the steps of a program in order.

    Raises:
        DataError: rows contradict the history, or a value fails in the query.
        InvariantError: the program cannot be right.
    """
    outcome = Outcome()
    for step in program.steps:
        if isinstance(step, o.Refill) and not is_dry(outcome.saved[step.chain].data, step.least):
            continue
        run = _Run(world, outcome)
        run.compute(step.child)
        columns = step.child.columns
        match step:
            case o.Save():
                data = run.any(step.child)
                outcome.saved[step.chain] = Saved(columns, data, step.child.is_state, step.is_base)
            case o.Refill():
                outcome.saved[step.chain] = Saved(
                    columns, run.bag(step.child), is_state=False, is_base=True
                )
            case o.Publish():
                outcome.published[step.view] = _publish(step, run.bag(step.child), world)
            case o.Merge():
                merged = Merged(run.any(step.child), step.first, step.child.is_state)
                outcome.merged[step.chain] = merged
    return outcome


def _publish(step: o.Publish, data: Bag, world: World) -> Published:
    changes = data
    if step.is_base:
        changes = consolidate([*data, *negate(world.answer(step.view))])
        _refuse_negative(consolidate(data), f"the answer of {step.view}")
    else:
        after = consolidate([*world.answer(step.view), *data])
        _refuse_negative(after, f"the answer of {step.view}")
    return Published(step.child.columns, data, changes, step.is_base)


def consolidate(bag: Iterable[tuple[Row, int]]) -> Bag:
    """Give equal rows once, with the sum of their multiplicities; none where that is zero."""
    sums: dict[object, tuple[Row, int]] = {}
    for row, count in bag:
        key = image(row)
        known = sums.get(key)
        sums[key] = (row, count if known is None else known[1] + count)
    return [(row, count) for row, count in sums.values() if count]


def negate(bag: Iterable[tuple[Row, int]]) -> Bag:
    """Give the same rows with opposite multiplicities."""
    return [(row, -count) for row, count in bag]


def expand(bag: Iterable[tuple[Row, int]], what: str) -> Rows:
    """Give each row as often as it occurs.

    Raises:
        DataError: a row occurs less than zero times.
    """
    rows = consolidate(bag)
    _refuse_negative(rows, what)
    return [row for row, count in rows for _ in range(count)]


def _refuse_negative(bag: Bag, what: str) -> None:
    for row, count in bag:
        if count < 0:
            raise DataError(
                f"{what} holds a row {count} times: {row}",
                hint="a change deletes a row that never was",
            )


class _Run:
    """The data of every distinct operator of one step, computed inputs first."""

    def __init__(self, world: World, outcome: Outcome) -> None:
        self.world = world
        self.outcome = outcome
        self._done: dict[bytes, Any] = {}

    def compute(self, root: o.Operator) -> None:
        """Compute an operator and all that it reads."""
        for operator in of_type(root, o.Operator):
            compute = _COMPUTE.get(type(operator))
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


def _read_saved(run: _Run, node: o.ReadSaved) -> Data:
    saved = run.outcome.saved.get(node.chain)
    if saved is None:
        raise InvariantError(f"no earlier step saved {node.chain}")
    if saved.is_state == node.is_bag:
        raise InvariantError(f"{node.chain} was saved in another form")
    if [column.type for column in saved.columns] != [column.type for column in node.fields]:
        raise InvariantError(f"{node.chain} was saved with other columns")
    return saved.data


def _select(run: _Run, node: o.Select) -> Bag:
    predicate = _function(node.predicate, node.child.columns)
    return [(row, count) for row, count in run.bag(node.child) if predicate(row) is True]


def _map(run: _Run, node: o.Map) -> Bag:
    outputs = _outputs(node.outputs, node.child.columns)
    return [(outputs(row), count) for row, count in run.bag(node.child)]


def _join(run: _Run, node: o.JoinBags) -> Bag:
    right = run.bag(node.right)
    condition = None if node.condition is None else _function(node.condition, node.columns)
    return [
        (row + other, count * times)
        for row, count in run.bag(node.left)
        for other, times in right
        if condition is None or condition(row + other) is True
    ]


def _add(run: _Run, node: o.Add) -> Any:
    return [item for child in node.children for item in run.any(child)]


def _by_balance(run: _Run, node: o.ByBalance) -> Bag:
    places = [node.columns.index(column) for column in node.keys]
    bag = run.bag(node.child)
    keys = [group_keys(row[place] for place in places) for row, _ in bag]
    sums: dict[object, int] = {}
    for key, (_, count) in zip(keys, bag, strict=True):
        sums[key] = sums.get(key, 0) + count
    meant = BALANCES[node.balance]
    return [item for key, item in zip(keys, bag, strict=True) if meant.has(sums[key])]


def _first(run: _Run, node: o.First) -> Bag:
    rows = expand(run.bag(node.child), "what is cut off")
    values = _values(node.order, node.columns)
    return consolidate((row, 1) for row in leading(rows, node.order, values, node.count))


def _up_to(run: _Run, node: o.UpTo) -> Bag:
    own, other = (_values(node.order, side.columns) for side in (node.child, node.fence))
    fences = [other(row) for row, _ in consolidate(run.bag(node.fence))]
    return [
        (row, count)
        for row, count in run.bag(node.child)
        if all(in_order(node.order, own(row), fence) <= 0 for fence in fences)
    ]


def _values(order: Sequence[SortKey], columns: Columns) -> Callable[[Row], Row]:
    """What a row is sorted by."""
    functions = [_function(key.value, columns) for key in order]
    return lambda row: tuple(function(row) for function in functions)


def _summarise(run: _Run, node: o.Summarise) -> Rows:
    columns = node.child.columns
    keys = _outputs(node.keys, columns)
    groups: dict[object, tuple[Row, Bag]] = {}
    for row, count in run.bag(node.child):
        key = normalised(keys(row))
        groups.setdefault(group_keys(key), (key, []))[1].append((row, count))
    partials = [_partial(item, columns) for item in node.partials]
    return [key + tuple(of(bag) for of in partials) for key, bag in groups.values()]


def _partial(item: o.Partial, columns: Columns) -> Callable[[Bag], Any]:
    argument = None if item.argument is None else _function(item.argument, columns)
    condition = None if item.filter is None else _function(item.filter, columns)
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


def _combine(run: _Run, node: o.Combine) -> Rows:
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


def _nonzero(run: _Run, node: o.Nonzero) -> Rows:
    partials = {column.id for column in node.partials}
    places = [place for place, column in enumerate(node.columns) if column.id in partials]
    return [row for row in run.state(node.child) if any(row[place] for place in places)]


def _regroup(run: _Run, node: o.Regroup) -> Rows:
    columns = node.child.columns
    outputs = _outputs(node.outputs, columns)
    chosen = None if node.predicate is None else _function(node.predicate, columns)
    return [outputs(row) for row in run.state(node.child) if chosen is None or chosen(row) is True]


def _touched(run: _Run, node: o.Touched) -> Any:
    own = _key([pair.own for pair in node.keys], node.child.columns)
    other = _key([pair.other for pair in node.keys], node.by.columns)
    by = {other(item if node.by.is_state else item[0]) for item in run.any(node.by)}
    rows = run.any(node.child)
    return [row for row in rows if own(row if node.child.is_state else row[0]) in by]


def _key(scalars: Sequence[Scalar], columns: Columns) -> Callable[[Row], object]:
    functions = [_function(scalar, columns) for scalar in scalars]
    return lambda row: group_keys(function(row) for function in functions)


def _semi(run: _Run, node: o.SemiBags) -> Bag:
    meets = _meeting(run, node.left, node.right, node.condition)
    return [(row, count) for row, count in run.bag(node.left) if meets(row) is not node.negated]


def _meeting(
    run: _Run, left: o.Operator, right: o.Operator, condition: Scalar | None
) -> Callable[[Row], bool]:
    """Whether a row of the left side meets a row that occurs on the right."""
    rows = [row for row, _ in consolidate(run.bag(right))]
    if condition is None:
        return lambda _: bool(rows)
    test = _function(condition, left.columns + right.columns)
    return lambda row: any(test(row + other) is True for other in rows)


def _flips(run: _Run, node: o.Flips) -> Bag:
    before = _meeting(run, node.child, node.before, node.condition)
    after = _meeting(run, node.child, node.after, node.condition)
    return [
        (row, count * (after(row) - before(row)))
        for row, count in run.bag(node.child)
        if after(row) != before(row)
    ]


def _expand(run: _Run, node: o.ExpandBag) -> Bag:
    columns = node.child.columns
    projections = [[_function(value, columns) for value in row] for row in node.projections]
    return [
        (tuple(value(row) for value in projection), count)
        for row, count in run.bag(node.child)
        for projection in projections
    ]


def _generate(run: _Run, node: o.GenerateBag) -> Bag:
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


def _finish(run: _Run, node: o.Finish) -> Bag:
    columns = node.child.columns
    place = next(place for place, column in enumerate(columns) if column.id == node.count)
    outputs = _outputs(node.outputs, columns)
    rows = run.state(node.child)
    _refuse_negative([(row, row[place]) for row in rows], "an aggregate state")
    return [(outputs(row), 1) for row in rows if row[place] or node.is_global]


def _evaluate(run: _Run, node: o.Evaluate) -> Bag:
    inputs = {
        item.name: (
            [column.id for column in item.operator.columns],
            expand(run.bag(item.operator), f"the input {item.name}"),
        )
        for item in node.inputs
    }

    def read(scan: Scan) -> Rows:
        ids, rows = inputs[scan.source]
        places = [ids.index(field.id) for field in scan.fields]
        return [tuple(row[place] for place in places) for row in rows]

    return [(row, 1) for row in Evaluation(read).rows(node.query)]


_COMPUTE: Final[Mapping[type[o.Operator], Callable[[_Run, Any], Any]]] = {
    o.ReadChanges: lambda run, node: run.world.changes(node.source, node.fields),
    o.ReadSnapshot: lambda run, node: run.world.snapshot(node.source, node.fields, node.moment),
    o.ReadBag: lambda run, node: run.world.bag(node.chain, node.fields),
    o.ReadState: lambda run, node: run.world.state(node.chain, node.fields),
    o.ReadSegments: lambda run, node: run.world.pieces(
        node.chain, node.fields, node.first, is_bag=node.is_bag
    ),
    o.ReadSaved: _read_saved,
    o.Select: _select,
    o.Map: _map,
    o.JoinBags: _join,
    o.SemiBags: _semi,
    o.Flips: _flips,
    o.ExpandBag: _expand,
    o.GenerateBag: _generate,
    o.Add: _add,
    o.Negate: lambda run, node: negate(run.bag(node.child)),
    o.Consolidate: lambda run, node: consolidate(run.bag(node.child)),
    o.ByBalance: _by_balance,
    o.First: _first,
    o.UpTo: _up_to,
    o.Summarise: _summarise,
    o.Combine: _combine,
    o.Nonzero: _nonzero,
    o.Regroup: _regroup,
    o.Touched: _touched,
    o.Finish: _finish,
    o.Evaluate: _evaluate,
    o.Batch: lambda run, node: [(row, 1) for row in run.world.batch(node.view)],
}


def _function(scalar: Scalar, columns: Columns) -> Evaluated:
    return compile_scalar(scalar, columns, {})


def _outputs(outputs: Sequence[Assignment], columns: Columns) -> Callable[[Row], Row]:
    functions = [_function(output.value, columns) for output in outputs]
    return lambda row: tuple(function(row) for function in functions)

"""Relations over whole tables, as batch computes them: the oracle of every incremental plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Scalar
from slacktide.algebra.tree import relations
from slacktide.errors import InvariantError
from slacktide.program.reference.aggregates import aggregate
from slacktide.program.reference.generators import generated
from slacktide.program.reference.ordering import Row, group_keys, normalised
from slacktide.program.reference.scalars import Evaluated, compile_scalar
from slacktide.program.reference.sorting import by_keys
from slacktide.program.reference.windows import windowed

Rows = list[Row]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a source and the names of their columns, in order."""

    names: tuple[str, ...]
    rows: Sequence[Row]

    def pick(self, names: Sequence[str]) -> Rows:
        """Give the rows with some of the columns, found by name."""
        places = [self.names.index(name) for name in names]
        return [tuple(row[place] for place in places) for row in self.rows]


def evaluate(root: r.Rel, tables: Mapping[str, Table]) -> Rows:
    """Compute a relation over tables, by the names that its scans use.

    Raises:
        DataError: a value fails in the query, as it would in Spark.
        InvariantError: the relation uses something that the reference does not know.
    """

    def read(scan: r.Scan) -> Rows:
        return tables[scan.source].pick([field.name for field in scan.fields])

    return Evaluation(read).rows(root)


class Evaluation:
    """The rows of every distinct relation met so far, computed inputs first.

    Args:
        read: gives the rows of a scan.
    """

    def __init__(self, read: Callable[[r.Scan], Rows]) -> None:
        self._read = read
        self._done: dict[bytes, Rows] = {}

    def rows(self, root: r.Rel) -> Rows:
        """The rows of a relation."""
        for rel in relations(root):
            if rel.digest not in self._done:
                self._done[rel.digest] = self._compute(rel)
        return self._done[root.digest]

    def _of(self, rel: r.Rel) -> Rows:
        return self._done[rel.digest]

    def _compute(self, rel: r.Rel) -> Rows:
        compute = _COMPUTE.get(type(rel))
        if compute is None:
            raise InvariantError(f"the reference does not know {rel.tag}")
        return compute(self, rel)

    def _scan(self, rel: r.Scan) -> Rows:
        return self._read(rel)

    def _range(self, rel: r.Range) -> Rows:
        return [(number,) for number in range(rel.start, rel.end, rel.step)]

    def _project(self, rel: r.Project) -> Rows:
        outputs = [self._compiled(item.value, rel.child.columns) for item in rel.outputs]
        return [_apply(outputs, row) for row in self._of(rel.child)]

    def _union(self, rel: r.Union) -> Rows:
        return [row for child in rel.children for row in self._of(child)]

    def _limit(self, rel: r.Limit) -> Rows:
        end = None if rel.count is None else rel.offset + rel.count
        return self._of(rel.child)[rel.offset : end]

    def _compiled(self, scalar: Scalar, columns: r.Columns) -> Evaluated:
        return compile_scalar(scalar, columns, self._done)

    def _values(self, rel: r.Values) -> Rows:
        return [tuple(self._compiled(value, ())(()) for value in row) for row in rel.rows]

    def _filter(self, rel: r.Filter) -> Rows:
        predicate = self._compiled(rel.predicate, rel.child.columns)
        return [row for row in self._of(rel.child) if predicate(row) is True]

    def _expand(self, rel: r.Expand) -> Rows:
        projections = [
            [self._compiled(value, rel.child.columns) for value in projection]
            for projection in rel.projections
        ]
        return [
            _apply(projection, row) for row in self._of(rel.child) for projection in projections
        ]

    def _join(self, rel: r.Join) -> Rows:
        left, right = self._of(rel.left), self._of(rel.right)
        both = rel.left.columns + rel.right.columns
        condition = None if rel.condition is None else self._compiled(rel.condition, both)
        matches = [
            [
                place
                for place, other in enumerate(right)
                if condition is None or condition(row + other) is True
            ]
            for row in left
        ]
        return list(_joined(rel, left, right, matches))

    def _aggregate(self, rel: r.Aggregate) -> Rows:
        columns = rel.child.columns
        keys = [self._compiled(key.value, columns) for key in rel.keys]
        groups: dict[object, tuple[Row, Rows]] = {}
        if not keys:
            groups[()] = ((), [])
        for row in self._of(rel.child):
            values = normalised(_apply(keys, row))
            groups.setdefault(group_keys(values), (values, []))[1].append(row)
        calls = [
            (
                measure.call,
                [self._compiled(argument, columns) for argument in measure.call.arguments],
                self._compiled(measure.call.filter, columns) if measure.call.filter else None,
            )
            for measure in rel.measures
        ]
        return [
            key + tuple(aggregate(call, arguments, only, rows) for call, arguments, only in calls)
            for key, rows in groups.values()
        ]

    def _sort(self, rel: r.Sort) -> Rows:
        values = [self._compiled(key.value, rel.child.columns) for key in rel.keys]
        order = by_keys(rel.keys)
        return sorted(self._of(rel.child), key=lambda row: order(_apply(values, row)))

    def _window(self, rel: r.Window) -> Rows:
        columns = rel.child.columns
        rows = self._of(rel.child)
        return windowed(rel, lambda scalar: self._compiled(scalar, columns), rows)

    def _generate(self, rel: r.Generate) -> Rows:
        columns = rel.child.columns
        arguments = [self._compiled(value, columns) for value in rel.generator.arguments]
        return generated(rel, arguments, self._of(rel.child))


_COMPUTE: Final[Mapping[type[r.Relation], Callable[[Evaluation, Any], Rows]]] = {
    r.Scan: Evaluation._scan,
    r.Values: Evaluation._values,
    r.Range: Evaluation._range,
    r.Filter: Evaluation._filter,
    r.Project: Evaluation._project,
    r.Join: Evaluation._join,
    r.Aggregate: Evaluation._aggregate,
    r.Union: Evaluation._union,
    r.Sort: Evaluation._sort,
    r.Limit: Evaluation._limit,
    r.Window: Evaluation._window,
    r.Expand: Evaluation._expand,
    r.Generate: Evaluation._generate,
}


def _apply(functions: Sequence[Evaluated], row: Row) -> Row:
    return tuple(function(row) for function in functions)


def _joined(rel: r.Join, left: Rows, right: Rows, matches: list[list[int]]) -> Iterator[Row]:
    no_left, no_right = (None,) * len(rel.left.columns), (None,) * len(rel.right.columns)
    for row, places in zip(left, matches, strict=True):
        match rel.kind:
            case "semi" | "anti":
                if bool(places) == (rel.kind == "semi"):
                    yield row
            case "existence":
                yield (*row, bool(places))
            case _:
                yield from (row + right[place] for place in places)
                if not places and rel.kind in {"left", "full"}:
                    yield row + no_right
    if rel.kind in {"right", "full"}:
        matched = {place for places in matches for place in places}
        yield from (no_left + row for place, row in enumerate(right) if place not in matched)

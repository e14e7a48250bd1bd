"""The work of a program, operator by operator, before it runs.

An operator that is read in several places is computed in each of them, as Spark puts a table of WITH in
its place. A table that a change bounds by the ranges of its keys (`spark_costs.md` §2) is read in part:
by its reach.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra.equalities import take_apart
from slacktide.algebra.scalar import Scalar
from slacktide.common.tree import of_type
from slacktide.optimizer.costs.operators import (
    WRITE_JOBS,
    operator_work,
    packed,
    query_work,
    read_work,
    write_work,
)
from slacktide.optimizer.costs.vector import Vector
from slacktide.optimizer.statistics import Cardinality, Sizes, Statistics
from slacktide.optimizer.statistics.facts import END, UNKNOWN_REACH
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Program, operator_inputs
from slacktide.program.origin import is_small, origins_of

MOST_TIMES: Final = 1000.0
"""As often an operator is counted at most."""


@dataclass(slots=True)
class _Times:
    """How often an operator is computed: whole, and within the reach of a change."""

    whole: float = 0.0
    bounded: float = 0.0

    def add(self, other: _Times, *, is_bounded: bool) -> None:
        whole = 0.0 if is_bounded else other.whole
        bounded = other.bounded + (other.whole if is_bounded else 0.0)
        self.whole = min(self.whole + whole, MOST_TIMES)
        self.bounded = min(self.bounded + bounded, MOST_TIMES)

    def at(self, reach: float) -> float:
        """How often, where within the reach only a share is computed."""
        return self.whole + reach * self.bounded


@dataclass(frozen=True, slots=True)
class ProgramWork:
    """The work of a program, and where it is done.

    Attributes:
        sizes: the rows of every operator.
        steps: the work of each operator of a step by itself, step by step.
        writes: the work of each step besides: what it writes.
    """

    sizes: Sizes
    steps: Sequence[Mapping[Operator, Vector]]
    writes: Sequence[Vector]

    @property
    def operators(self) -> Mapping[Operator, Vector]:
        """The work of each operator, in all steps together."""
        found: dict[Operator, Vector] = {}
        for step in self.steps:
            for operator, work in step.items():
                found[operator] = found.get(operator, Vector()).plus(work)
        return found

    @property
    def total(self) -> Vector:
        """All of it."""
        return self.since(0)

    def since(self, first: int) -> Vector:
        """The work from a step on, the first one being 0."""
        read = (work for step in self.steps[first:] for work in step.values())
        return reduce(Vector.plus, (*read, *self.writes[first:]), Vector())


def program_work(program: Program, statistics: Statistics, query: r.Rel | None = None) -> Vector:
    """Estimate the work of a program; arguments as of `work_by_node`."""
    return work_by_node(program, statistics, query).total


def work_by_node(
    program: Program,
    statistics: Statistics,
    query: r.Rel | None = None,
    written: Mapping[str, float] = MappingProxyType({}),
) -> ProgramWork:
    """Estimate the work of a program, node by node.

    Args:
        program: of one run.
        statistics: what is known as of that run.
        query: the relation that the author's text means, where the program runs it.
        written: how many rows steps add to chains, in place of what would be estimated.
    """
    sizes = Sizes(program, statistics, query, written)
    steps: list[Mapping[Operator, Vector]] = []
    writes: list[Vector] = []
    for step in program.steps:
        is_asked_for = isinstance(
            step, o.Refill
        )  # where rows have run dry, which no estimate tells
        steps.append({} if is_asked_for else operator_works(step.child, sizes))
        writes.append(Vector() if is_asked_for else _written(step, sizes))
    return ProgramWork(sizes, steps, writes)


def operator_works(root: Operator, sizes: Sizes) -> dict[Operator, Vector]:
    """The work of each operator of a step, by itself, as often as it is computed."""
    times = _times(root)
    return {operator: _work(operator, times[operator], sizes) for operator in times}


def _written(step: o.Step, sizes: Sizes) -> Vector:
    """The write of a step; a new answer is compared with the former one by another text besides."""
    rows, columns = sizes.of(step.child), step.child.columns
    work = write_work(rows, columns)
    if not (isinstance(step, o.Publish) and step.is_base):
        return work
    compared = Vector(
        rows_read=2.0 * rows.rows.value,
        bytes_shuffled=2.0 * packed(rows, columns),
        stages=WRITE_JOBS,
        jobs=WRITE_JOBS,
        plans=1.0,
    )
    return work.plus(compared)


def _times(root: Operator) -> Mapping[Operator, _Times]:
    """Walk from the root to the leaves: every path to an operator computes it once."""
    found: dict[Operator, _Times] = defaultdict(_Times)
    found[root].whole = 1.0
    for operator in reversed(list(of_type(root, Operator))):
        bounded = set(_bounded(operator))
        for below in operator_inputs(operator):
            found[below].add(found[operator], is_bounded=below in bounded)
    return found


def _bounded(operator: Operator) -> Iterator[Operator]:
    """The inputs of which only what the keys of a change can meet is read."""
    match operator:
        case o.JoinBags() | o.SemiBags():
            left, right = operator.left, operator.right
            parts = take_apart(operator.condition, left.columns, right.columns)
            if parts.equalities:
                if _has_origin(right, [equal.right for equal in parts.equalities]):
                    yield left
                if _has_origin(left, [equal.left for equal in parts.equalities]):
                    yield right
        case o.Touched() if operator.keys and _has_origin(
            operator.by, [pair.other for pair in operator.keys]
        ):
            yield operator.child
        case _:
            return


def _has_origin(operator: Operator, keys: list[Scalar]) -> bool:
    return any(origins_of(operator, [key]) is not None for key in keys)


def _work(operator: Operator, times: _Times, sizes: Sizes) -> Vector:
    known = sizes.statistics
    match operator:
        case o.ReadChanges():
            change = known.source(operator.source).change(END)
            return read_work(change.rows.value, change.bytes).times(times.at(1.0))
        case o.ReadSnapshot():
            source = known.source(operator.source)
            work = read_work(source.rows.value, source.bytes, source.files)
            return work.times(times.at(source.reach.value))
        case o.ReadBag() | o.ReadState() | o.ReadSegments() | o.ReadSaved():
            return _read_stored(operator, sizes).times(times.at(UNKNOWN_REACH))
        case o.Batch():
            query = sizes.query
            return Vector() if query is None else query_work(query, Cardinality(known), known)
        case _:
            inputs = [sizes.of(below) for below in operator_inputs(operator)]
            is_local = is_small(operator)
            work = operator_work(operator, inputs, sizes.of(operator), known, is_small=is_local)
            # Fixed prices are paid however little of a table is within the reach.
            reach = 1.0 if isinstance(operator, o.Evaluate) else UNKNOWN_REACH
            return work.times(times.at(reach), fixed=times.at(1.0))


def _read_stored(
    operator: o.ReadBag | o.ReadState | o.ReadSegments | o.ReadSaved, sizes: Sizes
) -> Vector:
    rows, known = sizes.of(operator), sizes.statistics.stored.get(operator.chain)
    if known is None or isinstance(operator, o.ReadSaved):
        return read_work(rows.rows.value, packed(rows, operator.columns))
    return read_work(rows.rows.value, known.bytes, known.files)

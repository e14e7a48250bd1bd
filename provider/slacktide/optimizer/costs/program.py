"""The work of a program, operator by operator, before it runs.

An operator that is read in several places is computed in each of them, as Spark puts a table of WITH in
its place. A table that a change bounds by the ranges of its keys (`spark_costs.md` §2) is read in part, by
its reach, where asking for the ranges pays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Reference
from slacktide.common.ranges import pays_to_ask
from slacktide.common.tree import of_type
from slacktide.optimizer.costs.operators import (
    EXCHANGE,
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
from slacktide.program.bounding import Bound, bounds
from slacktide.program.multiplicity import is_rowable
from slacktide.program.operator import Operator, Program, operator_inputs
from slacktide.program.origin import Origin, is_small

MOST_TIMES: Final = 1000.0
"""As often an operator is counted at most."""


@dataclass(slots=True)
class _Times:
    """How often an operator is computed: in all, whole, and within the reach of a change.

    Attributes:
        count: in all.
        whole: without any bound.
        unknown: bounded by keys of which nobody knows where they lie.
        known: bounded by keys of which that is known; each time counts by the share that they reach.
    """

    count: float = 0.0
    whole: float = 0.0
    unknown: float = 0.0
    known: float = 0.0

    def add(self, other: _Times, reach: float | None = 1.0) -> None:
        """Count a reader of this operator; `reach` is what its bound leaves, None where that is not known."""
        self.count = min(self.count + other.count, MOST_TIMES)
        # A second bound is seldom a narrower one.
        self.unknown = min(self.unknown + other.unknown, MOST_TIMES)
        self.known = min(self.known + other.known, MOST_TIMES)
        if reach is None:
            self.unknown = min(self.unknown + other.whole, MOST_TIMES)
        elif reach < 1.0:
            self.known = min(self.known + reach * other.whole, MOST_TIMES)
        else:
            self.whole = min(self.whole + other.whole, MOST_TIMES)

    def at(self, reach: float) -> float:
        """How often, where within an unknown reach such a share is computed."""
        return self.whole + self.known + reach * self.unknown


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
    times = _times(root, sizes)
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


def _times(root: Operator, sizes: Sizes) -> Mapping[Operator, _Times]:
    """Walk from the root to the leaves: every path to an operator computes it once."""
    found: dict[Operator, _Times] = defaultdict(_Times)
    found[root] = _Times(count=1.0, whole=1.0)
    for operator in reversed(list(of_type(root, Operator))):
        bounded = {bound.place: _reach(bound, sizes) for bound in bounds(operator)}
        for place, below in enumerate(operator_inputs(operator)):
            found[below].add(found[operator], bounded.get(place, 1.0))
    return found


def _reach(bound: Bound, sizes: Sizes) -> float | None:
    """The share of an input that is read: by the key that lies closest; None where nobody knows how one lies.

    Where it is known, what asking for the keys reads counts as read of the input, so that no larger change is
    thought to cost less.
    """
    rows = _rows_read(bound.large, sizes)
    asked = sum(_rows_read(one.by, sizes) for one in bound.origins)
    if not pays_to_ask(rows, asked):
        return 1.0
    shares = [_covered(bound.origins, place, sizes) for place in range(len(bound.pairs))]
    known = [share for share in shares if share is not None]
    return min(1.0, min(known) + asked / rows) if known else None


def _rows_read(operator: Operator, sizes: Sizes) -> float:
    """The rows of all tables that an operator reads."""
    leaves = (one for one in of_type(operator, Operator) if not operator_inputs(one))
    return sum(sizes.of(leaf).rows.value for leaf in leaves)


def _covered(origins: Sequence[Origin], place: int, sizes: Sizes) -> float | None:
    """The share of the range of a key in which the values of some changes lie."""
    shares = []
    for origin in origins:
        key = origin.keys[place]
        columns = sizes.of(origin.by).columns
        facts = columns.get(key.column) if isinstance(key, Reference) else None
        if facts is None or facts.covered is None:
            return None
        shares.append(facts.covered.value)
    return min(sum(shares), 1.0)


def _work(operator: Operator, times: _Times, sizes: Sizes) -> Vector:
    known = sizes.statistics
    match operator:
        case o.ReadChanges():
            change = known.source(operator.source).change(END)
            return read_work(change.rows.value, change.bytes).times(times.count)
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
            if isinstance(operator, o.Evaluate) and not is_local:
                counted = (_counted_out(item.operator, sizes) for item in operator.inputs)
                work = reduce(Vector.plus, counted, work)
            # Fixed prices are paid however little of a table is within the reach.
            reach = 1.0 if isinstance(operator, o.Evaluate) else UNKNOWN_REACH
            return work.times(times.at(reach), fixed=times.count)


def _counted_out(bag: Operator, sizes: Sizes) -> Vector:
    """The work of having plain rows of a bag: it is grouped by all of its columns."""
    if is_rowable(bag):
        return Vector()
    return EXCHANGE.plus(Vector(bytes_shuffled=packed(sizes.of(bag), bag.columns)))


def _read_stored(
    operator: o.ReadBag | o.ReadState | o.ReadSegments | o.ReadSaved, sizes: Sizes
) -> Vector:
    rows, known = sizes.of(operator), sizes.statistics.stored.get(operator.chain)
    if known is None or isinstance(operator, o.ReadSaved):
        return read_work(rows.rows.value, packed(rows, operator.columns))
    return read_work(rows.rows.value, known.bytes, known.files)

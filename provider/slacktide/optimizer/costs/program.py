"""The work of a program, operator by operator, before it runs.

An operator that is read in several places is computed in each of them, as Spark puts a table of WITH in
its place. A table that a change bounds by the ranges of its keys (`spark_costs.md` §2) is read in part:
by its reach. Rows that meet by keys are shuffled where neither side is small enough to be sent to all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra.equalities import take_apart
from slacktide.algebra.scalar import Scalar
from slacktide.algebra.tree import relations
from slacktide.common.tree import of_type
from slacktide.optimizer.costs.vector import Vector
from slacktide.optimizer.statistics import Cardinality, Sizes, Statistics
from slacktide.optimizer.statistics.facts import UNKNOWN_REACH
from slacktide.optimizer.statistics.program import width
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Program, operator_inputs
from slacktide.program.origin import is_small, origins_of

SENT: Final = 10 * 2**20
"""Bytes up to which Spark sends one side of a join to all tasks, and shuffles neither."""
MOST_TIMES: Final = 1000.0
"""As often an operator is counted at most."""
COMPRESSED: Final = 0.3
"""Bytes of a stored row for one of a shuffled row."""
STEP_JOBS: Final = 2.0
"""Jobs of a step that neither joins nor groups: the write, and what is asked before it."""


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


def program_work(program: Program, statistics: Statistics, query: r.Rel | None = None) -> Vector:
    """Estimate the work of a program.

    Args:
        program: of one run.
        statistics: what is known as of that run.
        query: the relation that the author's text means, where the program runs it.
    """
    sizes = Sizes(program, statistics, query)
    total = Vector()
    for step in program.steps:
        if isinstance(step, o.Refill):
            continue  # asked for where rows have run dry, which no estimate tells
        for work in operator_works(step.child, sizes).values():
            total = total.plus(work)
        total = total.plus(_written(step, sizes))
    return total


def operator_works(root: Operator, sizes: Sizes) -> dict[Operator, Vector]:
    """The work of each operator of a step, by itself, as often as it is computed."""
    times = _times(root)
    return {operator: _work(operator, times[operator], sizes) for operator in times}


def _written(step: o.Step, sizes: Sizes) -> Vector:
    """The write of a step; a new answer is compared with the former one besides."""
    rows = sizes.of(step.child).rows.value
    size = rows * width(step.child.columns)
    is_compared = isinstance(step, o.Publish) and step.is_base
    writes = 2.0 if is_compared else 1.0
    return Vector(
        rows_read=2.0 * rows if is_compared else 0.0,
        bytes_shuffled=2.0 * size if is_compared else 0.0,
        bytes_written=COMPRESSED * size,
        files=1.0,
        stages=STEP_JOBS * writes,
        jobs=STEP_JOBS * writes,
        plans=writes,
    )


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
    match operator:
        case o.ReadChanges():
            return _read_changes(operator, times, sizes)
        case o.ReadSnapshot():
            source = sizes.statistics.source(operator.source)
            often = times.at(source.reach.value)
            return Vector(
                source.rows.value * often, source.bytes * often, files=source.files * often
            )
        case o.ReadBag() | o.ReadState() | o.ReadSegments() | o.ReadSaved():
            return _read_stored(operator, times, sizes)
        case o.Batch() if sizes.query is not None:
            return query_work(sizes.query, Cardinality(sizes.statistics), sizes.statistics)
        case o.Evaluate():
            inputs = {item.name: sizes.of(item.operator) for item in operator.inputs}
            estimates = Cardinality(sizes.statistics, inputs)
            work = query_work(operator.query, estimates, sizes.statistics, set(inputs))
            return work.times(times.at(1.0))
        case _:
            return _exchanged(operator, times, sizes)


def _read_changes(operator: o.ReadChanges, times: _Times, sizes: Sizes) -> Vector:
    source = sizes.statistics.source(operator.source)
    often = times.whole + times.bounded
    return Vector(source.changed.value * often, source.changed_bytes * often, files=often)


def _read_stored(
    operator: o.ReadBag | o.ReadState | o.ReadSegments | o.ReadSaved, times: _Times, sizes: Sizes
) -> Vector:
    rows = sizes.of(operator).rows.value
    known = sizes.statistics.stored.get(operator.chain)
    is_known = known is not None and not isinstance(operator, o.ReadSaved)
    size = known.bytes if known and is_known else rows * width(operator.columns) * COMPRESSED
    files = known.files if known and is_known else 1
    often = times.at(UNKNOWN_REACH)
    return Vector(rows * often, size * often, files=files * often)


def _exchanged(operator: Operator, times: _Times, sizes: Sizes) -> Vector:
    """What meets or is grouped by keys is moved, at the price of a stage for each table that moves."""
    often = times.at(UNKNOWN_REACH)
    plain = times.whole + times.bounded
    if isinstance(operator, o.JoinBags | o.SemiBags | o.Touched | o.Flips):
        sides = [
            sizes.of(side).rows.value * width(side.columns) for side in operator_inputs(operator)
        ]
        moved = 0.0 if min(sides) <= SENT else sum(sides)
        return Vector(bytes_shuffled=moved * often, stages=plain, jobs=plain)
    if isinstance(operator, o.Consolidate | o.Summarise | o.Combine | o.First | o.ByBalance):
        moved = sizes.of(operator).rows.value * width(operator.columns)
        stages = 0.0 if is_small(operator) else plain
        return Vector(bytes_shuffled=moved * often, stages=stages, jobs=stages)
    return Vector()


def query_work(
    root: r.Rel, estimates: Cardinality, statistics: Statistics, given: set[str] | None = None
) -> Vector:
    """The work of a relation that Spark computes as batch.

    Args:
        root: the relation.
        estimates: of it and what lies below.
        statistics: of the sources that it scans.
        given: names of scans that are inputs, which are read elsewhere.
    """
    total = Vector()
    for rel in relations(root):
        match rel:
            case r.Scan() if rel.source not in (given or ()):
                source = statistics.source(rel.source)
                total = total.plus(
                    Vector(source.rows.value, source.bytes, files=float(source.files))
                )
            case r.Join():
                sides = [
                    estimates.of(side).rows.value * width(side.columns)
                    for side in (rel.left, rel.right)
                ]
                moved = 0.0 if min(sides) <= SENT else sum(sides)
                total = total.plus(Vector(bytes_shuffled=moved, stages=1.0, jobs=1.0))
            case r.Aggregate() | r.Window():
                moved = estimates.of(rel).rows.value * width(rel.columns)
                total = total.plus(Vector(bytes_shuffled=moved, stages=1.0, jobs=1.0))
            case _:
                pass
    return total

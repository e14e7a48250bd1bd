"""The work of one operator, from what its inputs and itself give: of programs and of memos alike.

What meets or is grouped by keys is moved, at the price of a stage and a job for each table that moves,
unless one side is small enough to be sent to all tasks. Rows are paid for where they are read, grouped and
moved, and nowhere else: that is what Spark counts, so that runs can be held against it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce
from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra.tree import relations
from slacktide.optimizer.costs.vector import Vector
from slacktide.optimizer.statistics import Cardinality, Estimate, Statistics
from slacktide.optimizer.statistics.widths import packed
from slacktide.program import operator as o
from slacktide.program.materialising import SENT
from slacktide.program.operator import Operator, operator_inputs

WRITE_JOBS: Final = 2.0
"""Jobs of a write, with what is asked before it."""
EXCHANGE: Final = Vector(stages=1.0, jobs=1.0)
WORKED_OUT: Final = Vector(stages=WRITE_JOBS, jobs=WRITE_JOBS, plans=1.0)
"""Of rows that are worked out before they are read: they are counted, too."""
_SENT_SIDES: Final = {
    "left": (1,),
    "right": (0,),
    "full": (),
    **dict.fromkeys(("semi", "anti", "existence"), (1,)),
}
"""Places of the sides that Spark may send to all tasks, by kind of join; of other kinds, either."""


def operator_work(
    operator: Operator,
    inputs: Sequence[Estimate],
    gives: Estimate,
    known: Statistics,
    *,
    is_small: bool = False,
) -> Vector:
    """The work of an operator that is no leaf, without that of its inputs.

    Args:
        operator: of a program, or of a memo over holes.
        inputs: what its inputs give, in the order of `operator_inputs`.
        gives: what it gives itself.
        known: of the sources that a query inside it scans.
        is_small: whether it reads nothing but changes: grouping these takes no stage of its own.
    """
    match operator:
        case o.JoinBags() | o.SemiBags() | o.Touched() | o.Flips():
            sides = zip(inputs, operator_inputs(operator), strict=True)
            found = [(size, side.columns) for size, side in sides]
            # Of a semi-join Spark sends the other side alone.
            return _met(*found, sent=(0, 1) if isinstance(operator, o.JoinBags) else (1,))
        case o.Consolidate() | o.Summarise() | o.Combine():
            fixed = Vector() if is_small else EXCHANGE
            return fixed.plus(grouped(inputs[0], gives, operator.columns))
        case o.First() | o.ByBalance():
            fixed = Vector() if is_small else EXCHANGE
            return fixed.plus(windowed(inputs[0], operator.child.columns))
        case o.Evaluate():
            named = {item.name: size for item, size in zip(operator.inputs, inputs, strict=True)}
            return query_work(operator.query, Cardinality(known, named), known, named)
        case _:
            return Vector()


def read_work(rows: float, size: float, files: float = 1.0) -> Vector:
    """The work of a scan of so many rows, bytes and files."""
    return Vector(rows_read=rows, bytes_read=size, files=files)


def write_work(rows: Estimate, columns: r.Columns) -> Vector:
    """The work of a write: a text that Spark plans, its jobs, and a file of so many bytes."""
    return Vector(
        bytes_written=packed(rows.rows, columns),
        files=1.0,
        stages=WRITE_JOBS,
        jobs=WRITE_JOBS,
        plans=1.0,
    )


def query_work(
    root: r.Rel, estimates: Cardinality, known: Statistics, given: Collection[str] = ()
) -> Vector:
    """The work of a relation that Spark computes as batch.

    Args:
        root: the relation.
        estimates: of it and what lies below.
        known: of the sources that it scans.
        given: names of scans that are inputs, which are read elsewhere.
    """
    total = Vector()
    for rel in relations(root):
        match rel:
            case r.Scan() if rel.source not in given:
                source = known.source(rel.source)
                total = total.plus(read_work(source.rows.value, source.bytes, source.files))
            case r.Join():
                sides = [(estimates.of(side), side.columns) for side in (rel.left, rel.right)]
                total = total.plus(_met(*sides, sent=_SENT_SIDES.get(rel.kind, (0, 1))))
            case r.Window():
                work = windowed(estimates.of(rel.child), rel.child.columns)
                total = total.plus(EXCHANGE).plus(work)
            case r.Aggregate():
                work = grouped(estimates.of(rel.child), estimates.of(rel), rel.columns)
                total = total.plus(EXCHANGE).plus(work)
            case _:
                pass
    return total


def _met(*sides: tuple[Estimate, r.Columns], sent: Collection[int] = (0, 1)) -> Vector:
    """Sides meet by keys: all of them move, or one that Spark expects to be small is sent to all.

    Args:
        sides: what each gives, and its columns.
        sent: places of those that may be sent.
    """
    if any(sides[place][0].planned_bytes <= SENT for place in sent):
        return EXCHANGE
    return reduce(Vector.plus, (moved(size, columns) for size, columns in sides), EXCHANGE)


def moved(rows: Estimate, columns: r.Columns) -> Vector:
    """The work of a shuffle of rows."""
    size = packed(rows.rows, columns)
    return Vector(rows_shuffled=rows.rows.value, bytes_shuffled=size)


def grouped(rows: Estimate, gives: Estimate, columns: r.Columns) -> Vector:
    """The work of a grouping that follows the data: tasks group their rows, move the groups, and group these.

    Args:
        rows: that go in.
        gives: what it gives.
        columns: of that.
    """
    count = rows.rows.value + gives.rows.value
    return moved(gives, columns).plus(Vector(rows_grouped=count))


def windowed(rows: Estimate, columns: r.Columns) -> Vector:
    """The work of windows over rows that follows the data: all rows move, and no task has fewer of them before."""
    return moved(rows, columns).plus(Vector(rows_grouped=rows.rows.value))

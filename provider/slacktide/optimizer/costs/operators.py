"""The work of one operator, from what its inputs and itself give: of programs and of memos alike.

What meets or is grouped by keys is moved, at the price of a stage and a job for each table that moves,
unless one side is small enough to be sent to all tasks. Rows are paid for where they are read and where
they are moved, and nowhere else: that is what Spark counts, so that runs can be held against it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra.tree import relations
from slacktide.optimizer.costs.vector import Vector
from slacktide.optimizer.statistics import Cardinality, Estimate, Statistics
from slacktide.program import operator as o
from slacktide.program.operator import Operator, operator_inputs

SENT: Final = 10 * 2**20
"""Bytes in memory up to which Spark sends one side of a join to all tasks, and shuffles neither."""
COMPRESSED: Final = 0.3
"""Bytes of a row in a file or a shuffle for one in memory; over the joins of TPC-H it is a quarter."""
WRITE_JOBS: Final = 2.0
"""Jobs of a write, with what is asked before it."""
EXCHANGE: Final = Vector(stages=1.0, jobs=1.0)
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
            sizes = (in_memory(size, side.columns) for size, side in sides)
            # Of a semi-join Spark sends the other side alone.
            return _met(*sizes, sent=(0, 1) if isinstance(operator, o.JoinBags) else (1,))
        case o.Consolidate() | o.Summarise() | o.Combine() | o.First() | o.ByBalance():
            fixed = Vector() if is_small else EXCHANGE
            return fixed.plus(Vector(bytes_shuffled=packed(gives, operator.columns)))
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
        bytes_written=packed(rows, columns),
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
                sides = [
                    in_memory(estimates.of(side), side.columns) for side in (rel.left, rel.right)
                ]
                total = total.plus(_met(*sides, sent=_SENT_SIDES.get(rel.kind, (0, 1))))
            case r.Aggregate() | r.Window():
                size = packed(estimates.of(rel), rel.columns)
                total = total.plus(EXCHANGE).plus(Vector(bytes_shuffled=size))
            case _:
                pass
    return total


def _met(*sides: float, sent: Collection[int] = (0, 1)) -> Vector:
    """Sides of so many bytes meet by keys: all of them move, or a small one is sent to all.

    Args:
        sides: bytes of each in memory, which Spark holds against its threshold.
        sent: places of those that may be sent.
    """
    is_sent = any(sides[place] <= SENT for place in sent)
    return EXCHANGE.plus(Vector(bytes_shuffled=0.0 if is_sent else COMPRESSED * sum(sides)))


def packed(rows: Estimate, columns: r.Columns) -> float:
    """Bytes of rows, as Spark packs them into files and shuffles."""
    return COMPRESSED * in_memory(rows, columns)


def in_memory(rows: Estimate, columns: r.Columns) -> float:
    """Bytes of rows, as Spark holds them in memory."""
    return rows.rows.value * width(columns)


def width(columns: r.Columns) -> float:
    """Bytes of a row in memory: eight for each value, and those of a text besides."""
    texts = sum(not _is_fixed(column.type) for column in columns)
    return 16.0 + 8.0 * len(columns) + 16.0 * texts


def _is_fixed(data_type: str) -> bool:
    fixed = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE")
    return data_type in fixed or data_type.startswith(("TIMESTAMP", "DECIMAL"))

"""Rows of one side of an outer join under the columns of both."""

from __future__ import annotations

from slacktide.algebra import scalar as s
from slacktide.algebra.literals import null_sql
from slacktide.algebra.relation import Columns
from slacktide.program import operator as o
from slacktide.program.operator import Operator


def padded(rows: Operator, columns: Columns) -> Operator:
    """Give rows under some columns, with NULL for those that they lack."""
    there = {column.id: column for column in rows.columns}
    return o.Map(
        rows,
        tuple(
            s.Assignment(
                column,
                s.reference(there[column.id])
                if column.id in there
                else s.Literal(null_sql(column.type), column.type, nullable=True),
            )
            for column in columns
        ),
    )

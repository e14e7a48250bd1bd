"""NULL in the place of columns that rows lack, as the rows of one side of an outer join do."""

from __future__ import annotations

from slacktide.algebra import scalar as s
from slacktide.algebra.literals import null_sql
from slacktide.algebra.relation import Columns
from slacktide.program import operator as o
from slacktide.program.operator import Operator


def padding_of(there: Columns, wanted: Columns) -> tuple[s.Assignment, ...]:
    """The wanted columns over rows that have some of them."""
    known = {column.id: column for column in there}
    return tuple(
        s.Assignment(
            column,
            s.reference(known[column.id])
            if column.id in known
            else s.Literal(null_sql(column.type), column.type, nullable=True),
        )
        for column in wanted
    )


def padded(rows: Operator, columns: Columns) -> Operator:
    """Give rows under some columns, with NULL for those that they lack."""
    return o.Map(rows, padding_of(rows.columns, columns))

"""Pieces of SQL that the rules of operators put together."""

from __future__ import annotations

from collections.abc import Callable

from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import Assignment
from slacktide.algebra.sql import column_name, scalar_sql
from slacktide.algebra.types import DataType
from slacktide.program import operator as o
from slacktide.spark.tables.columns import name, restored
from slacktide.spark.texts.marks import NEGATIVE


def names(columns: Columns) -> list[str]:
    """The names of columns."""
    return [name(column) for column in columns]


def typed(columns: Columns) -> list[tuple[str, DataType]]:
    """The names of columns, each with its type."""
    return [(name(column), column.type) for column in columns]


def assigned(assignments: tuple[Assignment, ...]) -> list[str]:
    """What is assigned, each under the name of its column."""
    return [f"{scalar_sql(item.value)} AS {name(item.column)}" for item in assignments]


def select_sql(
    outputs: list[str], table: str, *, is_state: bool, rest: str = "", hint: str = ""
) -> str:
    """A query over a table, with the multiplicity last unless it holds partial aggregates."""
    listed = outputs if is_state else [*outputs, o.MULTIPLICITY]
    return f"SELECT {hint}{', '.join(listed)} FROM {table}{rest}"


def positions(columns: Columns) -> list[str]:
    """Stored columns, each under the name of its column."""
    return [f"{restored(column, i)} AS {name(column)}" for i, column in enumerate(columns)]


def of_table(alias: str) -> Callable[[int], str]:
    """How columns are named that several tables of a query have."""
    return lambda column: f"{alias}.{column_name(column)}"


def guarded(count: str, value: str) -> str:
    """A value of a group, or an error where the group has a negative number of rows.

    The guard depends on where it runs: Spark does not infer it, then, for rows that are joined with the
    count, where a negative number is no error.

    Args:
        count: the number of rows of the group.
        value: what the group has otherwise.
    """
    error = f"raise_error('{NEGATIVE} a group has fewer rows than were deleted from it')"
    return f"CASE WHEN {count} < 0 AND spark_partition_id() >= 0 THEN {error} ELSE {value} END"

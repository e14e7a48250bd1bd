"""Pieces of SQL that the rules of operators put together."""

from __future__ import annotations

from collections.abc import Callable

from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import Assignment
from slacktide.algebra.sql import column_name, scalar_sql
from slacktide.program import operator as o
from slacktide.spark.columns import name, restored


def names(columns: Columns) -> list[str]:
    """The names of columns."""
    return [name(column) for column in columns]


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

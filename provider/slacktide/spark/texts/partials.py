"""Partial aggregates in SQL: sums and counts by sign, each exact in its type.

A value is never multiplied by a multiplicity, which would change its type and round it: a decimal of
scale 10 times a BIGINT has scale 6.
"""

from __future__ import annotations

from slacktide.algebra.literals import zero_sql
from slacktide.algebra.scalar import Column
from slacktide.algebra.sql import column_name, scalar_sql
from slacktide.algebra.types import DataType, decimal_of
from slacktide.program.operator import MULTIPLICITY, Partial
from slacktide.spark.texts.marks import OVERFLOW

_MINUS_DIGITS = 34


def partial_sql(partial: Partial) -> str:
    """Write a partial aggregate over rows with a multiplicity."""
    column = partial.column
    if partial.function == "count":
        weight = MULTIPLICITY
        if partial.argument is not None:
            weight = (
                f"CASE WHEN {scalar_sql(partial.argument)} IS NOT NULL THEN {weight} ELSE 0L END"
            )
    else:
        value = scalar_sql(partial.argument) if partial.argument is not None else "0"
        negative = _negative(value, "INT" if partial.argument is None else partial.argument.type)
        weight = f"CASE WHEN __m > 0 THEN {value} ELSE {negative} END"
    condition = "" if partial.filter is None else f" FILTER (WHERE {scalar_sql(partial.filter)})"
    return f"{total_sql(weight, condition, column.type)} AS {column_name(column.id)}"


def merged_sql(column: Column, condition: str = "") -> str:
    """The sum of partial aggregates, of which none is NULL, so that all have one number of rows.

    Args:
        column: that has them.
        condition: a FILTER clause, or an empty text.
    """
    return total_sql(column_name(column.id), condition, column.type, counted="*")


def total_sql(value: str, condition: str, data_type: DataType, counted: str = "") -> str:
    """A sum, zero over nothing; where Spark's own would be NULL by overflow it is an error.

    The error has the view computed by its author's text, which knows what overflow gives.

    Args:
        value: what is added up.
        condition: a FILTER clause, or an empty text.
        data_type: of the sum.
        counted: what COUNT takes in place of the value.
    """
    error = f"raise_error('{OVERFLOW} a sum does not fit its type')"
    total, count = f"SUM({value}){condition}", f"COUNT({counted or value}){condition}"
    checked = f"CASE WHEN {total} IS NULL AND {count} > 0 THEN {error} ELSE {total} END"
    return f"COALESCE(CAST({checked} AS {data_type}), {zero_sql(data_type)})"


def _negative(value: str, data_type: DataType) -> str:
    """Turn a sign without losing a digit: minus rounds decimals to 34 digits in Spark."""
    precision, _ = decimal_of(data_type) or (0, 0)
    if precision <= _MINUS_DIGITS:
        return f"-({value})"
    text = f"CAST({value} AS STRING)"
    turned = f"CASE WHEN {text} LIKE '-%' THEN substr({text}, 2) ELSE concat('-', {text}) END"
    return f"CAST({turned} AS {data_type})"

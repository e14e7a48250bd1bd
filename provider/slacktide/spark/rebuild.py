"""A read view as a DataFrame again: what the plan says, computed by Spark from given tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from slacktide.algebra.sql import column_name, quoted, relation_sql
from slacktide.errors import InvariantError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from slacktide.algebra.view import ReadView


def view_sql(view: ReadView, tables: Mapping[str, str]) -> str:
    """Write a read view as one query with the names, and nothing but the columns, of its readers.

    Args:
        view: a view with a relation.
        tables: for each source, what stands for it after FROM.

    Raises:
        InvariantError: the view was not read.
    """
    if view.relation is None:
        raise InvariantError("a view without a relation cannot be rebuilt")
    named = ", ".join(f"{column_name(c.id)} AS {quoted(c.name)}" for c in view.outputs)
    return f"SELECT {named} FROM ({relation_sql(view.relation, tables)})"


def to_dataframe(spark: SparkSession, view: ReadView, tables: Mapping[str, str]) -> DataFrame:
    """Compute a read view from tables of a session."""
    return spark.sql(view_sql(view, tables))

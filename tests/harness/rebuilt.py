"""A read view as a DataFrame again: what the plan says, computed by Spark from given tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from slacktide.algebra.sql import column_name, quoted, relation_sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from slacktide.algebra.view import ReadView


def to_dataframe(spark: SparkSession, view: ReadView, tables: Mapping[str, str]) -> DataFrame:
    """Compute a read view with the names, and nothing but the columns, of its readers.

    Args:
        spark: a session that has the tables.
        view: a view with a relation.
        tables: for each source, what stands for it after FROM.
    """
    assert view.relation is not None
    named = ", ".join(f"{column_name(c.id)} AS {quoted(c.name)}" for c in view.outputs)
    rows = relation_sql(view.relation, tables)
    return spark.sql(f"SELECT {named} FROM ({rows})")  # noqa: S608 - a text of ours

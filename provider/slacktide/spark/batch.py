"""A batch run as its author would write it: the query over plain tables, its answer as Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from slacktide.spark.cost import Cost
from slacktide.spark.metrics import Meter, described

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def batch_run(
    spark: SparkSession, sql: str, tables: Mapping[str, Sequence[str]], target: str
) -> Cost:
    """Answer a query from scratch and write the answer; tell what that cost.

    Args:
        spark: the user's session; the run has one of its own, with the same defaults.
        sql: the query.
        tables: the Parquet files of each table that it may read, by name.
        target: the directory for the answer, which is replaced.
    """
    session = spark.newSession()
    meter = Meter(session)
    for name, files in tables.items():
        if name in sql:
            session.read.parquet(*files).createOrReplaceTempView(name)
    before = meter.mark()
    began = perf_counter()
    with described(session, target):
        session.sql(sql).write.mode("overwrite").parquet(target)
    wall = perf_counter() - began
    cost = meter.cost(before, meter.mark(), {}, target=target)
    cost.wall_seconds = wall
    cost.rows_out = cost.rows_written
    return cost

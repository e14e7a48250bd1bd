"""A batch run as its author would write it: the query over plain tables, its answer as Parquet."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from slacktide.spark.measures.cost import Cost
from slacktide.spark.measures.metrics import Meter, described

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def batch_run(session: SparkSession, sql: str, target: str) -> Cost:
    """Answer a query from scratch and write the answer; tell what that cost.

    Args:
        session: has the tables that the query reads.
        sql: the query.
        target: the directory for the answer, which is replaced.
    """
    meter = Meter(session)
    before = meter.mark()
    began = perf_counter()
    with described(session, target):
        session.sql(sql).write.mode("overwrite").parquet(target)
    wall = perf_counter() - began
    cost = meter.cost(before, meter.mark(), {}, target=target)
    cost.wall_seconds = wall
    cost.rows_out = cost.rows_written
    return cost

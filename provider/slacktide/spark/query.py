"""A query as its author wrote it, over temporary views, with the clock fixed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def query_frame(
    session: SparkSession, sql: str, views: Mapping[str, str], now: datetime | None
) -> DataFrame:
    """Give the rows of a query.

    Args:
        session: has a temporary view for each source.
        sql: the text.
        views: texts of other views that it reads, each after those that it reads itself.
        now: what functions of the clock give; None leaves them to Spark.
    """
    for name, text in views.items():
        session.sql(text).createOrReplaceTempView(name)
    frame = session.sql(sql)
    return frame if now is None else _at(session, frame, now)


def _at(session: SparkSession, frame: DataFrame, now: datetime) -> DataFrame:
    from pyspark.sql import DataFrame

    jvm: Any = session._jvm
    rule = getattr(
        getattr(jvm.org.apache.spark.sql.catalyst.optimizer, "ComputeCurrentTime$"), "MODULE$"
    )
    instant = jvm.java.time.Instant.parse(now.isoformat().replace("+00:00", "Z"))
    truncate = getattr(rule, "applyWithTimestamp$default$3", lambda: None)()
    plan = frame._jdf.queryExecution().analyzed()
    fixed = (
        rule.applyWithTimestamp(plan, instant)
        if truncate is None
        else rule.applyWithTimestamp(plan, instant, truncate)
    )
    dataset = getattr(getattr(jvm.org.apache.spark.sql.classic, "Dataset$"), "MODULE$")
    return DataFrame(dataset.ofRows(session._jsparkSession, fixed), session)

"""A query as its author wrote it, over temporary views, with the clock fixed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import resources
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
    """Fix the clock in a plan, where its functions are still to be seen."""
    from pyspark.sql import DataFrame

    jvm: Any = session._jvm
    body = resources.files("slacktide.spark").joinpath("clock.java").read_text(encoding="utf-8")
    generator = jvm.org.apache.spark.sql.catalyst.expressions.codegen
    none = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap({})
    compiled = generator.CodeGenerator.compile(generator.CodeAndComment(body, none))._1()
    gateway: Any = session.sparkContext._gateway
    arguments = gateway.new_array(jvm.Object, 2)
    arguments[0] = frame._jdf.queryExecution().analyzed()
    arguments[1] = now.astimezone(UTC).isoformat().replace("+00:00", "Z")
    fixed = compiled.generate(arguments)
    dataset = getattr(getattr(jvm.org.apache.spark.sql.classic, "Dataset$"), "MODULE$")
    return DataFrame(dataset.ofRows(session._jsparkSession, fixed), session)

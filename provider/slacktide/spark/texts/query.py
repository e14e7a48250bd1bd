"""A query as its author wrote it, over temporary views, with the clock fixed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import resources
from typing import TYPE_CHECKING, Any

from slacktide.spark.sessions.classes import compiled, java_class
from slacktide.spark.sessions.shelf import Shelf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def query_frame(
    shelf: Shelf, sql: str, views: Mapping[str, str], now: datetime | None
) -> DataFrame:
    """Give the rows of a query.

    Args:
        shelf: for texts; a table has the name of each source.
        sql: the text.
        views: texts of other views that it reads, each after those that it reads itself.
        now: what functions of the clock give; None leaves them to Spark.
    """
    for name, text in views.items():
        shelf.alias(name, shelf.session.sql(text))
    frame = shelf.session.sql(sql)
    return frame if now is None else _at(shelf.session, frame, now)


def _at(session: SparkSession, frame: DataFrame, now: datetime) -> DataFrame:
    """Fix the clock in a plan, where its functions are still to be seen."""
    from pyspark.sql import DataFrame

    gateway: Any = session.sparkContext._gateway
    arguments = gateway.new_array(java_class(session, "java.lang.Object"), 2)
    arguments[0] = frame._jdf.queryExecution().analyzed()
    arguments[1] = now.astimezone(UTC).isoformat().replace("+00:00", "Z")
    fixed = _generate(session, arguments)
    dataset = java_class(session, "org.apache.spark.sql.classic.Dataset")
    return DataFrame(dataset.ofRows(session._jsparkSession, fixed), session)


def _generate(session: SparkSession, arguments: Any) -> Any:
    """Call what `clock.java` makes.

    Such classes all have one name, by which py4j would remember the method of another one.
    """
    body = resources.files("slacktide.spark").joinpath("clock.java").read_text(encoding="utf-8")
    gateway: Any = session.sparkContext._gateway
    types = gateway.new_array(java_class(session, "java.lang.Class"), 1)
    types[0] = arguments.getClass()
    values = gateway.new_array(java_class(session, "java.lang.Object"), 1)
    values[0] = arguments
    made = compiled(session, body)
    return made.getClass().getMethod("generate", types).invoke(made, values)

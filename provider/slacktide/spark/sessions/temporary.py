"""Names for rows, without a command of Spark, and frames that go from one session to another.

A command is analysed, planned, described for the pages of Spark and told to its listeners: four times
the work of the query itself, and a run names some hundreds of tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from slacktide.spark.sessions.classes import java_class, scala_object

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CATALYST: Final = "org.apache.spark.sql.catalyst"
_COMMAND: Final = "org.apache.spark.sql.execution.command.CreateViewCommand"


class Temporary:
    """Temporary views of one session.

    Args:
        session: in which rows get their names.
    """

    def __init__(self, session: SparkSession) -> None:
        self._session = session._jsparkSession
        self._dataset = java_class(session, "org.apache.spark.sql.classic.Dataset")
        self._context = scala_object(session, f"{_CATALYST}.analysis.AnalysisContext")
        self._identifier = java_class(session, f"{_CATALYST}.TableIdentifier")
        self._command = _command(session)

    def name(self, frame: DataFrame, name: str) -> None:
        """Make a temporary view of a frame of the session, in place of one that is there."""
        plan = frame._jdf.queryExecution().analyzed()
        command = self._command(self._identifier(name), plan)
        command.markAsAnalyzed(self._context.get()).run(self._session)

    def lend(self, frame: DataFrame, session: SparkSession) -> DataFrame:
        """The same rows, as a frame of another session."""
        from pyspark.sql import DataFrame

        plan = frame._jdf.queryExecution().analyzed()
        return DataFrame(self._dataset.ofRows(session._jsparkSession, plan), session)


def _command(session: SparkSession) -> Callable[[Any, Any], Any]:
    """What Spark itself makes of `createOrReplaceTempView`; what newer ones ask more has a default."""
    kind = java_class(session, _COMMAND)
    local = scala_object(session, f"{_CATALYST}.analysis.LocalTempView")
    nothing = java_class(session, "scala.Option").empty()
    no_columns = scala_object(session, "scala.collection.immutable.Nil")
    no_properties = scala_object(session, "scala.collection.immutable.Map").empty()
    before = [no_columns, nothing, nothing, no_properties, nothing]  # comment, collation; text
    after = [False, True, local]
    told = 1 + len(before) + 1 + len(after)
    (constructor,) = java_class(session, "java.lang.Class").forName(_COMMAND).getConstructors()
    more = [
        getattr(kind, f"$lessinit$greater$default${place}")()
        for place in range(told + 1, constructor.getParameterCount() + 1)
    ]
    return lambda name, plan: kind(name, *before, plan, *after, *more)

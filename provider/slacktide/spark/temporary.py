"""Names for rows, without a command of Spark, and frames that go from one session to another.

A command is analysed, planned, described for the pages of Spark and told to its listeners: four times
the work of the query itself, and a run names some hundreds of tables. The classes of Spark are looked up
once: each dotted name is a search through all jars.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COMMAND: Final = "org.apache.spark.sql.execution.command.CreateViewCommand"


class Temporary:
    """Temporary views of one session.

    Args:
        session: in which rows get their names.
    """

    def __init__(self, session: SparkSession) -> None:
        jvm: Any = session._jvm
        self._session = session._jsparkSession
        self._dataset = _module(jvm.org.apache.spark.sql.classic, "Dataset")
        self._context = _module(jvm.org.apache.spark.sql.catalyst.analysis, "AnalysisContext")
        self._identifier = jvm.org.apache.spark.sql.catalyst.TableIdentifier
        self._command = _command(jvm)

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


def _command(jvm: Any) -> Callable[[Any, Any], Any]:
    """What Spark itself makes of `createOrReplaceTempView`; what newer ones ask more has a default."""
    sql = jvm.org.apache.spark.sql
    kind = sql.execution.command.CreateViewCommand
    local = _module(sql.catalyst.analysis, "LocalTempView")
    immutable = jvm.scala.collection.immutable
    nothing, no_columns = jvm.scala.Option.empty(), _module(immutable, "Nil")
    no_properties = _module(immutable, "Map").empty()
    before = [no_columns, nothing, nothing, no_properties, nothing]  # comment, collation; text
    after = [False, True, local]
    told = 1 + len(before) + 1 + len(after)
    (constructor,) = jvm.java.lang.Class.forName(_COMMAND).getConstructors()
    more = [
        getattr(kind, f"$lessinit$greater$default${place}")()
        for place in range(told + 1, constructor.getParameterCount() + 1)
    ]
    return lambda name, plan: kind(name, *before, plan, *after, *more)


def _module(package: Any, name: str) -> Any:
    return getattr(getattr(package, f"{name}$"), "MODULE$")

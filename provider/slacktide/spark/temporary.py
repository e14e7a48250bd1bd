"""Names for rows, without a command of Spark, and frames that go from one session to another.

A command is analysed, planned, described for the pages of Spark and told to its listeners: four times
the work of the query itself, and a run names some hundreds of tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COMMAND: Final = "org.apache.spark.sql.execution.command.CreateViewCommand"


def name_rows(frame: DataFrame, name: str) -> None:
    """Make a temporary view of a frame in its own session, in place of one that is there."""
    session = frame.sparkSession._jsparkSession
    _command(frame, name).run(session)


def in_session(frame: DataFrame, session: SparkSession) -> DataFrame:
    """The same rows, as a frame of another session."""
    from pyspark.sql import DataFrame

    jvm: Any = session._jvm
    dataset = _module(jvm.org.apache.spark.sql.classic, "Dataset")
    plan = frame._jdf.queryExecution().analyzed()
    return DataFrame(dataset.ofRows(session._jsparkSession, plan), session)


def _command(frame: DataFrame, name: str) -> Any:
    """What Spark itself makes of `createOrReplaceTempView`; what newer ones ask more has a default."""
    jvm: Any = frame.sparkSession._jvm
    sql = jvm.org.apache.spark.sql
    nothing, no_columns = jvm.scala.Option.empty(), _module(jvm.scala.collection.immutable, "Nil")
    told = [
        sql.catalyst.TableIdentifier(name),
        no_columns,
        nothing,  # comment
        nothing,  # collation
        _module(jvm.scala.collection.immutable, "Map").empty(),
        nothing,  # text
        frame._jdf.queryExecution().analyzed(),
        False,
        True,
        _module(sql.catalyst.analysis, "LocalTempView"),
    ]
    kind = sql.execution.command.CreateViewCommand
    (constructor,) = jvm.java.lang.Class.forName(_COMMAND).getConstructors()
    given = [
        getattr(kind, f"$lessinit$greater$default${place}")()
        for place in range(len(told) + 1, constructor.getParameterCount() + 1)
    ]
    context = _module(sql.catalyst.analysis, "AnalysisContext").get()
    return kind(*told, *given).markAsAnalyzed(context)


def _module(package: Any, name: str) -> Any:
    return getattr(getattr(package, f"{name}$"), "MODULE$")

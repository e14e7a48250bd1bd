"""The JVM's side of reading: a plan, its facts or the table of functions in one call each.

Catalyst's nodes are walked inside the JVM by a small class that Spark's own code generator
compiles and keeps (`plan_dump.java`), because thousands of calls over py4j take seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from pyspark.logger import PySparkLogger

from slacktide.spark.sessions.classes import compiled, java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SQL: Final = "org.apache.spark.sql"


@contextmanager
def quiet() -> Iterator[None]:
    """Keep PySpark from logging, with its stack, an error that is told in one line."""
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    was_disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was_disabled


class Bridge:
    """Reads Catalyst trees of one session as JSON documents."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.session: Any = spark._jsparkSession
        self._gateway: Any = spark.sparkContext._gateway
        self._object = java_class(spark, "java.lang.Object")
        self._skip = java_class(spark, f"{_SQL}.execution.CommandExecutionMode").SKIP()
        self._struct = java_class(spark, f"{_SQL}.types.StructType")
        self._dataset = java_class(spark, f"{_SQL}.classic.Dataset")
        context = java_class(spark, "org.apache.spark.api.java.JavaSparkContext")
        self._context = context.fromSparkContext(self.session.sparkContext())
        body = resources.files("slacktide.spark.reader").joinpath("plan_dump.java").read_text()
        self._dumper = compiled(spark, body)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make the session the thread's own: the parser and types ask the active one's settings."""
        sessions = java_class(self.spark, f"{_SQL}.classic.SparkSession")
        before = sessions.getActiveSession()
        sessions.setActiveSession(self.session)
        try:
            yield
        finally:
            if before.isDefined():
                sessions.setActiveSession(before.get())
            else:
                sessions.clearActiveSession()

    def _ask(self, what: str, subject: Any) -> Any:
        arguments = self._gateway.new_array(self._object, 2)
        arguments[0] = what
        arguments[1] = subject
        return json.loads(self._dumper.generate(arguments))

    def tree(self, plan: Any) -> Any:
        """A plan with all its fields."""
        return self._ask("tree", plan)

    def facts(self, plan: Any) -> Any:
        """What occurs in a plan: classes, sources, leaves, names, commands, output."""
        return self._ask("facts", plan)

    def functions(self) -> dict[str, tuple[str, ...]]:
        """Names of the functions that make each class of expression, sorted; no operators."""
        registry = self.session.sessionState().functionRegistry()
        names: dict[str, list[str]] = {}
        for name, made in self._ask("functions", registry):
            if name.isidentifier():
                names.setdefault(made.rpartition(".")[2], []).append(name)
        return {made: tuple(sorted(found)) for made, found in names.items()}

    def parse(self, sql: str) -> Any:
        """Parse a text; nothing is executed."""
        return self.session.sessionState().sqlParser().parsePlan(sql)

    def execution(self, plan: Any) -> Any:
        """Analyse and optimise a parsed plan lazily; commands in it are not executed."""
        return self.session.sessionState().executePlan(plan, self._skip)

    def placeholder(self, name: str, ddl: str) -> int:
        """Register an empty relation under a name; give the number by which plans name it."""
        frame = self.session.createDataFrame(self._context.emptyRDD(), self._struct.fromDDL(ddl))
        frame.createOrReplaceTempView(name)
        (number,) = self.facts(frame.queryExecution().analyzed())["rdds"]
        return int(number)

    def define_view(self, name: str, plan: Any) -> None:
        """Register a parsed query as a view under a name."""
        self._dataset.ofRows(self.session, plan).createOrReplaceTempView(name)

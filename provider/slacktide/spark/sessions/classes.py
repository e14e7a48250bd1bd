"""Classes of Spark and Java by their whole names, and those that we bring along.

A name that is asked for part by part is searched in all jars for each part, and for the first one in every
package that PySpark imports; a class that is loaded is found at once by its whole name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def java_class(session: SparkSession, name: str) -> Any:
    """Give a class.

    Args:
        session: any session of the Java that has it.
        name: with the package.
    """
    return getattr(session._jvm, name)


def scala_object(session: SparkSession, name: str) -> Any:
    """Give an object of Scala, such as the companion of a class."""
    return getattr(java_class(session, f"{name}$"), "MODULE$")


def compiled(session: SparkSession, body: str) -> Any:
    """Give what the body of a class in Java makes, compiled and kept as Spark does with its own code."""
    codegen = "org.apache.spark.sql.catalyst.expressions.codegen"
    utilities = java_class(session, "org.apache.spark.api.python.PythonUtils")
    source = java_class(session, f"{codegen}.CodeAndComment")(body, utilities.toScalaMap({}))
    return java_class(session, f"{codegen}.CodeGenerator").compile(source)._1()

"""Which Spark and Java a session works with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slacktide.spark.sessions.classes import java_class

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession


def engine_of(spark: SparkSession) -> str:
    """Name the Spark and Java of a session, such as ``Spark 4.1.2 on Java 17``.

    Two that have one name give the same values for the same rows. Of Java the feature release is told: its updates
    mend what is unsafe, while another release may write a number, fold a letter or know a time zone otherwise.
    """
    system = java_class(spark, "java.lang.System")
    return f"Spark {spark.version} on Java {system.getProperty('java.specification.version')}"

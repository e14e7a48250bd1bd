"""Which Spark and Java a session works with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slacktide.spark.sessions.classes import java_class

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession


def engine_of(spark: SparkSession) -> str:
    """Name the Spark and Java of a session, such as ``Spark 4.1.2 on Java 17 with time zones 2025b``.

    What goes by it takes two of one name to give the same values for the same rows. Of Java the feature release is told,
    as another one may write a number or fold a letter otherwise, and the rules of time zones, which its updates bring;
    their other changes are not looked at. It is the driver's Java: executors are taken to have the same.
    """
    java = java_class(spark, "java.lang.System").getProperty("java.specification.version")
    zones = java_class(spark, "java.time.zone.ZoneRulesProvider").getVersions("UTC").lastKey()
    return f"Spark {spark.version} on Java {java} with time zones {zones}"

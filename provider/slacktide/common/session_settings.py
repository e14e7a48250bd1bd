"""What every session of Spark is told, whoever starts it: this process, a driver, or spark-submit."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# Many small queries run in one Java, and broadcasts are humongous to the default collector, which then marks
# the whole heap without end. Java must know when it starts, so spark-submit is told as well.
COLLECTOR: Final[Mapping[str, str]] = MappingProxyType(
    {"spark.driver.defaultJavaOptions": "-XX:+UseParallelGC"}
)
# Adaptive execution hides a wrong partition count; files are named by the log, so listing them in parallel
# jobs would only cost. Generated classes are not named by the place of a stage in its query: equal code of another
# place, or of another query, is compiled once.
RUNNING: Final[Mapping[str, str]] = MappingProxyType(
    {
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.codegen.useIdInClassName": "false",
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000",
    }
)
# A run of many views must not compile twice.
USUAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        **RUNNING,
        "spark.sql.codegen.cache.maxEntries": "10000",
        "spark.ui.showConsoleProgress": "false",
    }
)

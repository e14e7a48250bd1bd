"""The session in which programs run: the settings of the view, and those that make runs cheap."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from slacktide.common.session_settings import RUNNING
from slacktide.program.operator import MOST_FIRST
from slacktide.spark.files.parquet import COMPRESSION
from slacktide.spark.sessions.session import forget_meaning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Long paths must be told apart in metrics. Statistics of doubles may leave out NaN: see
# `slacktide.spark.tables.landed`. A line of text is checked whole, whatever a view reads and whichever rows it
# wants. Spark fails when it pushes an EXISTS of a projection into the branches of a union. The text of a
# plan for the pages of Spark is written anew at every stage; the short one costs half. The first rows of
# an order, as many as are kept, are picked out before they meet. Instants are written as 64 bits: Spark's default, INT96, has
# no ranges by which pages are passed over, and other readers lose its time zone.
EXECUTION: Final[Mapping[str, str]] = MappingProxyType(
    {
        **RUNNING,
        "spark.sql.csv.filterPushdown.enabled": "false",
        "spark.sql.csv.parser.columnPruning.enabled": "false",
        "spark.sql.json.filterPushdown.enabled": "false",
        "spark.sql.maxMetadataStringLength": "10000",
        "spark.sql.optimizer.excludedRules": (
            "org.apache.spark.sql.catalyst.optimizer.PushProjectionThroughUnion"
        ),
        "spark.sql.optimizer.nestedPredicatePushdown.supportedFileSources": "",
        "spark.sql.optimizer.windowGroupLimitThreshold": str(MOST_FIRST),
        "spark.sql.ui.explainMode": "simple",
        "spark.sql.parquet.compression.codec": COMPRESSION,
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    }
)
_TUNING: Final = ("spark.sql.shuffle.partitions", "spark.sql.autoBroadcastJoinThreshold")


def working_session(
    spark: SparkSession, conf: Mapping[str, str], reach: Mapping[str, str]
) -> SparkSession:
    """Make a session of its own for the views of one run with the same settings.

    Args:
        spark: the user's session; its settings for performance are kept.
        conf: settings that change what the query means.
        reach: settings with which object stores are reached; what Spark was told goes before them.
    """
    session = spark.newSession()
    tuned = {key: spark.conf.get(key) for key in _TUNING}
    told = {key: value for key, value in reach.items() if not _is_told(spark, key)}
    if conf:  # of a view
        forget_meaning(session, conf)
    for key, value in {**tuned, **told, **EXECUTION, **conf}.items():
        if value is not None:
            session.conf.set(key, value)
    return session


def _is_told(spark: SparkSession, key: str) -> bool:
    return spark.conf.get(f"spark.hadoop.{key}", None) is not None

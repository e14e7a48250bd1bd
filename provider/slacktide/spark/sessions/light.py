"""Light queries: those that read so few rows that planning them is dearer than running them.

Each stage of an adaptive plan is planned anew and run as a job of its own, each class that is generated
is compiled twice, and each task carries its plan along. For few rows a static plan, interpreted and
shuffled into one partition, costs half as much Java, a third where Java is young; small tables are gathered
there where they are read (`compile/gathering.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW_READ = (
    200_000  # rows that one task reads, the bytes of their files, and how many of these it opens
)
FEW_BYTES = 16 * 2**20
FEW_FILES = 64
# What has been gathered stays so: this would read the rows of a semi-join apart from each other.
_APART: Final = "org.apache.spark.sql.catalyst.optimizer.PushDownLeftSemiAntiJoin"
_SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "spark.sql.adaptive.enabled": "false",
        # Hints say what is sent; left to itself Spark would send what lies in one partition already.
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "1",
        # Casts of variants inside of scans have generated code alone.
        "spark.sql.variant.pushVariantIntoScan": "false",
    }
)


def fits_one_task(rows: int | None, size: int, files: int) -> bool:
    """Whether so many rows, in so many files of so many bytes together, are read by one task."""
    is_small = rows is not None and rows <= FEW_READ
    return is_small and size <= FEW_BYTES and files <= FEW_FILES


def light_session(session: SparkSession) -> SparkSession:
    """Make a session for light queries, in which they mean the same."""
    light = type(session)(session.sparkContext, session._jsparkSession.cloneSession())
    for key, value in _SETTINGS.items():
        light.conf.set(key, value)
    left_out = light.conf.get("spark.sql.optimizer.excludedRules", None)
    light.conf.set("spark.sql.optimizer.excludedRules", ",".join(filter(None, (left_out, _APART))))
    return light

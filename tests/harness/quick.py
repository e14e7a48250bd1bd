"""Settings of a session for campaigns: thousands of plans that run once over few rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# What it costs to prepare a plan for many rows is left out; the tiers of CI run with Spark's defaults.
COMPILED: Final[Mapping[str, str]] = {
    "spark.driver.memory": "4g",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.debug.maxToStringFields": "1",
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.ui.retainedExecutions": "100",
}
# Interpreted, Spark keeps the least string of a collation where it writes the next ones: not for collations.
QUICK: Final[Mapping[str, str]] = {**COMPILED, "spark.sql.codegen.factoryMode": "NO_CODEGEN"}

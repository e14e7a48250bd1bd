"""Plans of each method alone and of all together, run by Spark: a slice of `tests.campaigns.measured_methods`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.campaigns.measured_methods import FULL, landed, played, write_tables
from tests.campaigns.planning import MIXED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

QUERY, PATTERN = "q10", "delta-RS"


def test_every_method_gives_what_full_gives(spark: SparkSession, tmp_path: Path) -> None:
    landing = tmp_path / "landing"
    write_tables(landing, 0.005, PATTERN)
    workspace = landed(spark, tmp_path / "workspace", landing / PATTERN)
    found = played(workspace, QUERY, PATTERN, repetitions=1)
    assert found["different"] == []
    assert found["rows out"] > 1
    assert len(found["taken"]) > 1, "some methods give other programs than full"
    rows = {name: taken["rows"][0] for name, taken in found["taken"].items()}
    assert len({*rows.values()}) == len(rows), "each reads as much as it needs"
    assert found["as"].get(MIXED, MIXED) in rows
    assert rows[FULL] > found["rows out"]

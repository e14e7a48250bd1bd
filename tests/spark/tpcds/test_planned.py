"""Plans over three instants, run by Spark: a slice of `tests.campaigns.planned_tpcds`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.campaigns.planned_tpcds import INSTANTS, played, write_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

QUERY, PATTERN = "q85", "delta-RS"


def test_answers_are_those_of_batch_at_every_instant(spark: SparkSession, tmp_path: Path) -> None:
    write_tables(tmp_path, [PATTERN])
    found = played(spark, tmp_path, QUERY, PATTERN)
    assert found["equal"] == [True] * INSTANTS
    assert all(found["rows"])
    assert len({*found["rows"]}) > 1, "the answer changes"

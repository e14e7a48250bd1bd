"""A slice of the fault matrix; all of it is a campaign, `tests/campaigns/faults.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.faults import KINDS, Bench, counting_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

SLICE = (
    "aggregate",
    "rebuilt mirror",
    "written by Spark",
    "another view fails",
    "sums stored early",
    "sums due by their period",
)
EVERY = 5


@pytest.fixture(autouse=True)
def counting() -> Iterator[None]:
    with counting_spark():
        yield


@pytest.mark.parametrize("kind", SLICE)
def test_a_run_that_ends_at_a_point_is_retried(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    bench = Bench(spark, tmp_path, KINDS[kind])
    chosen = bench.points()[SLICE.index(kind) % EVERY :: EVERY]
    assert [found for found in map(bench.end_at, chosen) if found.wrong] == []

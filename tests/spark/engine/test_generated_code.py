"""Classes that Spark generated for one refresh serve the next one, though there are many of them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from slacktide.program import lightness
from tests.harness.constructs import CONSTRUCTS, T, U
from tests.harness.lab import Lab, Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DEFAULT_ENTRIES = 100
CHOSEN = (
    "inner join",
    "left join",
    "full join",
    "NOT EXISTS",
    "SUM, COUNT, AVG",
    "MIN, MAX",
    "COUNT DISTINCT",
    "window with PARTITION BY",
    "ORDER BY, LIMIT",
    "INTERSECT ALL",
)


def compiled(spark: SparkSession) -> int:
    """How many classes Spark has generated and compiled in this process."""
    jvm = spark._jvm
    assert jvm is not None
    metrics = getattr(jvm.org.apache.spark.metrics.source, "CodegenMetrics$")
    metrics = getattr(metrics, "MODULE$")
    return int(metrics.METRIC_COMPILATION_TIME().getCount())


def change(lab: Lab, number: int) -> None:
    """One more of the same kind, with other values."""
    lab.land("t", insert=[row(100 + number), row(200 + number)], delete=[row(number)])
    lab.land("u", insert=[(number, f"n{number}", number)], delete=[(number + 1, "n", 1)])


def row(number: int) -> Row:
    return (
        number,
        number % 7,
        "abc"[number % 3],
        number % 9,
        Decimal(number),
        number / 2,
        date(2026, 1, 1),
    )


def test_a_like_refresh_compiles_next_to_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lightness, "MOST_READ", -1)  # few rows would be interpreted
    lab.source("t", T, *map(row, range(60)))
    lab.source("u", U, *((number, "n", 1) for number in range(20)))
    for place, construct in enumerate(CHOSEN):
        lab.view(f"v{place}", CONSTRUCTS[construct])
    counts = [compiled(lab.spark)]
    lab.refresh()
    counts.append(compiled(lab.spark))
    for number in range(3):
        change(lab, number)
        report = lab.refresh()
        assert {view.method for view in report.views.values()} == {"incremental"}
        counts.append(compiled(lab.spark))
    build, first, second, third = (after - before for before, after in pairwise(counts))
    assert build + first > DEFAULT_ENTRIES, "more than Spark keeps by default"
    # What is left reads one piece more of a state, or merges some; which refresh merges is the planner's, by
    # what tests before this one taught it of prices. They may have left some of the first change's classes.
    assert max(second, third) <= max(first, DEFAULT_ENTRIES) / 4, (first, second, third)
    lab.verified()

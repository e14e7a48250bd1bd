"""The rows of a mirror after signed changes: by a key, or by all columns, the same bag."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from slacktide.spark.texts.bags import counted_out_sql, current_rows_sql, values_sql
from tests.harness.lab import bag

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COLUMNS = [("k", "INT"), ("a", "STRING"), ("x", "DOUBLE")]
VIEWS = ("current_base", "current_changes")
KEYS = [[], ["k"], ["k", "a"], ["x"]]
Row = tuple[int | None, str | None, float | None]


@pytest.fixture(autouse=True)
def _nothing_stays(spark: SparkSession) -> Iterator[None]:
    yield
    for view in VIEWS:
        spark.catalog.dropTempView(view)


def drawn(dice: random.Random) -> Row:
    return (
        dice.choice([None, 1, 2, 3]),
        dice.choice([None, "a", "b"]),
        dice.choice([None, 0.0, -0.0, float("nan"), 1.5]),
    )


def history(dice: random.Random) -> tuple[list[Row], list[tuple[Row, int]]]:
    """Rows with duplicates, of which no column is a key, and changes that take away what is there."""
    base = [drawn(dice) for _ in range(dice.randrange(9))]
    there = list(base)
    changes: list[tuple[Row, int]] = []
    for _ in range(dice.randrange(9)):
        if there and dice.random() < 0.6:
            changes.append((there.pop(dice.randrange(len(there))), -1))
        else:
            row, times = drawn(dice), dice.choice([1, 1, 2])
            there += [row] * times
            changes.append((row, times))
    dice.shuffle(changes)
    return base, changes


def defined(spark: SparkSession, base: list[Row], changes: list[tuple[Row, int]]) -> None:
    schema = ", ".join(f"{name} {kind}" for name, kind in COLUMNS)
    spark.createDataFrame(base, schema).createOrReplaceTempView("current_base")
    signed = [(*row, times) for row, times in changes]
    spark.createDataFrame(signed, f"{schema}, __m BIGINT").createOrReplaceTempView(
        "current_changes"
    )


def current(spark: SparkSession, key: list[str]) -> Counter[Row]:
    sql = current_rows_sql("current_base", "current_changes", COLUMNS, key, what="t")
    return bag(tuple(row) for row in spark.sql(sql).collect())


@pytest.mark.parametrize("seed", range(6))
def test_any_key_gives_the_rows_that_are_there(spark: SparkSession, seed: int) -> None:
    """Nothing is believed of a key: several rows may have it, and it may be NULL."""
    base, changes = history(random.Random(seed))  # noqa: S311
    defined(spark, base, changes)
    rows = bag(base)
    for row, times in changes:
        (same,) = bag([row])
        rows[same] += times
    expected = Counter({row: times for row, times in rows.items() if times})
    for key in KEYS:
        assert current(spark, key) == expected, key


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_row_that_never_was_cannot_go(spark: SparkSession, key: list[str]) -> None:
    defined(spark, [(1, "a", 1.5)], [((1, "a", 2.5), -1)])
    with pytest.raises(Exception, match="fewer copies of a row than were deleted"):
        current(spark, key)


@pytest.mark.parametrize("times", [0, 1, 4096, 4097, 10_000])
def test_a_row_comes_as_often_as_its_multiplicity_says(spark: SparkSession, times: int) -> None:
    bagged = f"(SELECT 7 AS k, {times}L AS __m)"
    counted = spark.sql(counted_out_sql(bagged, [("k", "INT")], what="a test"))
    assert counted.groupBy("k").count().collect() == ([(7, times)] if times else [])
    values = spark.sql(values_sql(bagged, [("k", "INT")]))
    assert values.collect() == ([(7,)] if times else [])


def test_what_went_more_often_than_it_came_is_an_error(spark: SparkSession) -> None:
    bagged = "(SELECT 7 AS k, 1L AS __m UNION ALL SELECT 7, -2L)"
    with pytest.raises(Exception, match="a test has fewer copies of a row"):
        spark.sql(values_sql(bagged, [("k", "INT")], what="a test")).collect()

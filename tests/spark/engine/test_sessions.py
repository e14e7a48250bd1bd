"""Runs work in sessions of their own: what the user has named stays as it is."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.harness.lab import Lab, Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_temporary_views_of_the_user_stay(lab: Lab) -> None:
    names = ("t", "base", "over")
    lab.source("t", "k INT", (1,), (2,))
    lab.view("base", "SELECT k FROM t", policy="full")
    lab.view(
        "over", "SELECT k + 1 AS k FROM base", lambda t: [(k + 1,) for (k,) in t], policy="full"
    )
    for name in names:
        lab.spark.sql(f"SELECT 'mine' AS {name}_of_the_user").createOrReplaceTempView(name)
    try:
        lab.step()
        lab.land("t", insert=[(3,)])
        lab.step(base="full", over="full")
        for name in names:
            table = lab.spark.table(name)
            assert (table.columns, table.collect()) == ([f"{name}_of_the_user"], [("mine",)])
    finally:
        for name in names:
            lab.spark.catalog.dropTempView(name)


GROUPED = (
    "SELECT CAST(at AS STRING) AS a, CAST(struct(v) AS STRING) AS s,"
    " max(at) AS m, count(*) AS n FROM t GROUP BY a, s"
)


@contextmanager
def told_to_all(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    """Set what every new session begins with, as a file of defaults does, and what the user's has."""
    defaults = spark.sparkContext._jsc.sc().conf()
    defaults.set(key, value)
    spark.conf.set(key, value)
    try:
        yield
    finally:
        defaults.remove(key)
        spark.conf.unset(key)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spark.sql.timestampType", "TIMESTAMP_NTZ"),
        ("spark.sql.legacy.castComplexTypesToString.enabled", "true"),
        ("spark.sql.jsonGenerator.ignoreNullFields", "false"),
    ],
)
def test_a_view_means_what_it_meant_when_it_was_added(lab: Lab, key: str, value: str) -> None:
    rows = [(1, day(2020, 1), None), (2, day(2020, 6), 5)]
    lab.source("t", "k INT, at TIMESTAMP, v INT", *rows)
    lab.view("grouped", GROUPED, said)
    lab.view("in_full", "SELECT k, to_json(struct(v)) AS j FROM t", in_json, policy="full")
    lab.step()
    with told_to_all(lab.spark, key, value):
        lab.land("t", insert=[(3, day(2021, 1), None)])
        lab.step()
        found = lab.ws.read(lab.spark, "grouped")
    assert dict(found.dtypes)["m"] == "timestamp"


def day(year: int, month: int) -> dt.datetime:
    return dt.datetime(year, month, 1, 12, tzinfo=dt.UTC)


def said(rows: list[Row]) -> list[Row]:
    return [
        (
            f"{at:%Y-%m-%d %H:%M:%S}",
            "{null}" if v is None else f"{{{v}}}",
            at.replace(tzinfo=None),
            1,
        )
        for _, at, v in rows
    ]


def in_json(rows: list[Row]) -> list[Row]:
    return [(key, "{}" if v is None else f'{{"v":{v}}}') for key, _, v in rows]

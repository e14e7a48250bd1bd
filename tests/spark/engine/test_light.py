"""Queries of few rows run otherwise than those of many, to the same answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slacktide.spark import light
from slacktide.spark.temporary import name_rows
from tests.harness.lab import Lab

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

JOINED = "SELECT a.k, count(*) AS n, max(b.v) AS top FROM a JOIN b ON a.k = b.k GROUP BY a.k"


def jobs_of_a_refresh(lab: Lab) -> int:
    lab.source("a", "k INT, v INT", *((i % 7, i) for i in range(40)))
    lab.source("b", "k INT, v INT", *((i % 5, i) for i in range(30)))
    lab.view("joined", JOINED, joined, "a", "b")
    lab.step()
    lab.land("a", insert=[(1, 100), (9, 1)], delete=[(0, 0)])
    lab.land("b", delete=[(4, 29)], insert=[(9, 9)])
    return int(lab.step(joined="incremental").views["joined"].actual["jobs"])


def joined(a, b):
    matches = [(k, v) for k, _ in a for other, v in b if k == other]
    for key in {k for k, _ in matches}:
        values = [v for k, v in matches if k == key]
        yield key, len(values), max(values)


def test_few_rows_take_fewer_jobs(spark: SparkSession, tmp_path, monkeypatch) -> None:
    few = jobs_of_a_refresh(Lab(spark, tmp_path / "few"))
    monkeypatch.setattr(light, "MOST_READ", -1)
    many = jobs_of_a_refresh(Lab(spark, tmp_path / "many"))
    assert few < many


def test_rows_have_the_name_that_was_given_last(spark: SparkSession) -> None:
    session = spark.newSession()
    name_rows(session.sql("SELECT 1 AS x"), "rows_here")
    assert session.sql("SELECT x FROM rows_here").collect() == [(1,)]
    name_rows(session.sql("SELECT 2 AS x, 'a' AS y"), "rows_here")
    assert session.sql("SELECT r.x, y FROM rows_here r").collect() == [(2, "a")]
    assert not spark.catalog.tableExists("rows_here")
    session.catalog.dropTempView("rows_here")
    assert not session.catalog.tableExists("rows_here")

"""Every kind of expression: read, rebuilt, and equal in value and type, in both ANSI modes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slacktide.spark.reader import read_view
from tests.harness.rebuilt import to_dataframe
from tests.spark.reader.conftest import SOURCES, bag

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

HERE = Path(__file__).parent
READ = (HERE / "expressions.txt").read_text().splitlines()
NOT_READ = (HERE / "expressions_not_read.txt").read_text().splitlines()
SIZE = 40  # so many columns share one query: each costs a plan


def _chunks() -> list[list[str]]:
    return [READ[start : start + SIZE] for start in range(0, len(READ), SIZE)]


def _select(expressions: list[str], table: str) -> str:
    listed = ", ".join(f"{text} AS v{place}" for place, text in enumerate(expressions))
    return f"SELECT {listed} FROM {table}"  # noqa: S608 - a text of this test


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("chunk", _chunks(), ids=lambda chunk: chunk[0])
def test_is_rebuilt(
    spark: SparkSession, tables: Mapping[str, str], chunk: list[str], ansi: str
) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        view = read_view(spark, _select(chunk, "many"), SOURCES)
        assert view.relation is not None, [str(reason) for reason in view.reasons]
        expected = spark.sql(_select(chunk, tables["many"]))
        found = to_dataframe(spark, view, tables)
        for own, said in zip(found.schema, expected.schema, strict=True):
            assert own.dataType.simpleString() == said.dataType.simpleString(), chunk[
                int(own.name[1:])
            ]
        assert bag(found) == bag(expected)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before or "true")


@pytest.mark.parametrize("expression", NOT_READ)
def test_what_is_not_read_says_so(spark: SparkSession, expression: str) -> None:
    view = read_view(spark, f"SELECT {expression} AS v FROM many", SOURCES)  # noqa: S608
    assert view.relation is None
    assert {reason.code for reason in view.reasons} <= {"UNREADABLE_EXPRESSION", "REBUILD_DIFFERS"}
    assert view.sources == ("many",)

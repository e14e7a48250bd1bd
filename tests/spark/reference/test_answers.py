"""The answers that the reference is tested with are Spark's."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from slacktide.algebra.textual import to_text
from slacktide.spark.reader import read_view
from tests.harness.answers import (
    COLUMNS,
    FAILS,
    FOLDER,
    ROWS,
    Answer,
    by_reference,
    read_answers,
    shown,
    write_answers,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SOURCES: Mapping[str, list[dict[str, Any]]] = {
    name: [{"name": column, "type": kind, "nullable": True} for column, kind in columns]
    for name, columns in COLUMNS.items()
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[None]:
    for name, columns in COLUMNS.items():
        ddl = ", ".join(f"{column} {kind}" for column, kind in columns)
        frame = spark.createDataFrame(ROWS[name], ddl).coalesce(1).localCheckpoint()
        frame.createOrReplaceTempView(name)
    yield
    for name in COLUMNS:
        spark.catalog.dropTempView(name)


def asked(spark: SparkSession, answer: Answer) -> Answer:
    """The same case as Spark has it now."""
    view = read_view(spark, answer.sql, SOURCES)
    relation = f"{view.reasons[0]}\n" if view.relation is None else to_text(view.relation)
    try:
        rows = shown(spark.sql(answer.sql).collect())
    except (PySparkException, Py4JJavaError):
        rows = (FAILS,)
    return dataclasses.replace(answer, relation=relation, rows=rows)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.answers")), ids=lambda path: path.stem)
def test_answers_are_those_of_spark(spark: SparkSession, path: Path) -> None:
    known = read_answers(path)
    found = [asked(spark, answer) for answer in known]
    if "REWRITE" in os.environ:
        write_answers(path, found)
        return
    assert [(a.sql, a.rows) for a in found] == [(a.sql, a.rows) for a in known]
    # Names and orders inside of a relation are those of the session, so its meaning is compared.
    wrong = [(a.relation, by_reference(a), a.rows) for a in found if by_reference(a) != a.rows]
    assert wrong == []

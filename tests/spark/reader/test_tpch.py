"""The 22 queries of TPC-H: read, rebuilt, and equal to the text on real data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

from slacktide.algebra.tree import CLASSES
from slacktide.common.serde import dump, load
from slacktide.spark.reader import read_view
from slacktide.workloads import tpch
from tests.harness.rebuilt import to_dataframe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SCALE = 0.01
NAMES: list[str] = sorted(tpch.QUERIES, key=lambda name: int(str(name)[1:]))
SCHEMAS: dict[str, list[dict[str, object]]] = {
    name: [{"name": c.name, "type": c.type, "nullable": c.nullable} for c in table.columns]
    for name, table in tpch.TABLES.items()
}


@pytest.fixture(scope="module")
def tables(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, str]]:
    root = tmp_path_factory.mktemp("tpch")
    tpch.generate_base(root, scale=SCALE)
    for name, table in tpch.TABLES.items():
        files = [str(path) for path in (root / name).glob("base-*")]
        columns = [column.name for column in table.columns]
        spark.read.parquet(*files).select(columns).createOrReplaceTempView(name)
    yield {name: name for name in tpch.TABLES}
    for name in tpch.TABLES:
        spark.catalog.dropTempView(name)


def rows(frame: DataFrame) -> list[str]:
    return sorted(repr(tuple(row)) for row in frame.collect())


@pytest.mark.parametrize("name", NAMES)
def test_is_rebuilt(spark: SparkSession, tables: Mapping[str, str], name: str) -> None:
    sql = tpch.query(name)
    view = read_view(spark, sql, SCHEMAS)
    assert view.relation is not None, [str(reason) for reason in view.reasons]
    assert load(dump(view.relation), CLASSES) == (view.relation,)
    expected, found = spark.sql(sql), to_dataframe(spark, view, tables)
    assert [(f.name, f.dataType) for f in found.schema] == [
        (f.name, f.dataType) for f in expected.schema
    ]
    assert rows(found) == rows(expected)


def test_the_plan_depends_on_nothing_but_text_and_schemas(
    spark: SparkSession, tables: Mapping[str, str]
) -> None:
    """Neither data under the names of the sources, nor statistics, caches or cost settings matter."""
    sql = tpch.query("q5")
    before = read_view(spark, sql, SCHEMAS).relation
    wandering = {
        "spark.sql.autoBroadcastJoinThreshold": "100000000",
        "spark.sql.cbo.enabled": "true",
        "spark.sql.cbo.joinReorder.enabled": "true",
        "spark.sql.cbo.planStats.enabled": "true",
        "spark.sql.optimizer.inSetConversionThreshold": "1",
    }
    spark.table("nation").cache().count()
    for key, value in wandering.items():
        spark.conf.set(key, value)
    try:
        assert read_view(spark, sql, SCHEMAS).relation == before
    finally:
        for key in wandering:
            spark.conf.unset(key)
        spark.table("nation").unpersist()

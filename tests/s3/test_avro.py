"""Avro, which Spark reads by a package of its own; the README names it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row

from slacktide.engine.workspace import Workspace
from slacktide.errors import SourceError
from tests.harness.landing import over_avro

SCHEMA = "id BIGINT, amount DECIMAL(10,2), _change_type STRING"


def land(spark: Any, folder: Path, *rows: tuple[int | None, str | None, str]) -> None:
    frame = spark.createDataFrame(rows, "id BIGINT, amount STRING, _change_type STRING")
    typed = frame.selectExpr("id", "CAST(amount AS DECIMAL(10,2))", "_change_type")
    typed.coalesce(1).write.format("avro").mode("append").save(str(folder))


@pytest.mark.s3
def test_a_feed_in_avro(spark, tmp_path: Path) -> None:
    landing = tmp_path / "orders"
    land(spark, landing, (1, "10.50", "insert"), (2, None, "insert"), (None, "3", "insert"))
    ws = Workspace.create(str(tmp_path / "ws"))
    ws.add_source("orders", kind="change-feed", path=str(landing), format="avro", schema=SCHEMA)
    ws.add_view(spark, "v", "SELECT sum(amount) AS total, count(id) AS n FROM orders")
    ws.refresh(spark)
    land(
        spark,
        landing,
        (2, None, "update_preimage"),
        (2, "1.25", "update_postimage"),
        (None, "3", "delete"),
    )
    ws.refresh(spark)
    assert ws.read(spark, "v").collect() == [Row(total=Decimal("11.75"), n=2)]
    assert ws.verify(spark).equal


@pytest.mark.s3
def test_a_file_that_is_no_avro_is_named(spark, tmp_path: Path) -> None:
    ws = over_avro(spark, tmp_path, b"no avro")
    with pytest.raises(SourceError, match=r"1\.avro"):
        ws.refresh(spark)
    assert ws.status().to_dict()["runs"] == 0

"""A Spark that has no connector for an object store or a format says what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from slacktide.engine.workspace import Workspace
from slacktide.errors import SetupError
from tests.harness.landing import over_avro
from tests.harness.s3 import Bucket

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("bare")]


@pytest.fixture
def bare(spark) -> None:
    """A session without connectors."""
    if spark.conf.get("spark.jars", None):
        pytest.skip("the session of this run has the connector, for tests of the tier s3")


@pytest.mark.parametrize("quarantine", [False, True], ids=["strict", "quarantine"])
def test_a_missing_connector_is_told_before_anything_is_written(
    spark, bucket: Bucket, tmp_path: Path, quarantine: bool
) -> None:
    bucket.put("t/1.csv", b"1\n")
    ws = Workspace.create(str(tmp_path / "ws"), storage_options=bucket.options)
    apart = {"quarantine": str(tmp_path / "apart")} if quarantine else {}
    given = {"path": bucket.spelling("t"), "format": "csv", "schema": "id INT", **apart}
    ws.add_source("t", kind="files", **given)
    ws.add_view(spark, "v", "SELECT sum(id) AS s FROM t")
    with pytest.raises(SetupError, match=r"no connector .*S3AFileSystem") as missing:
        ws.refresh(spark)
    assert "spark.jars.packages" in missing.value.hint
    assert ws.status().to_dict()["runs"] == 0


def test_a_missing_format_is_told_before_anything_is_written(spark, tmp_path: Path) -> None:
    ws = over_avro(spark, tmp_path, b"Obj")
    with pytest.raises(SetupError, match="no connector for files of the format avro") as missing:
        ws.refresh(spark)
    assert "spark-avro" in missing.value.hint
    assert ws.status().to_dict()["runs"] == 0

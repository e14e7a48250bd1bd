"""What files and texts are typed without a JVM is what Spark makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from slacktide.engine.sources import infer_schema, parse_ddl
from slacktide.errors import SourceError
from tests.harness.landing import write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = pytest.mark.spark

BOTH = [
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.float32(),
    pa.float64(),
    pa.bool_(),
    pa.string(),
    pa.binary(),
    pa.date32(),
    pa.decimal128(15, 2),
    pa.decimal128(38, 38),
    pa.timestamp("ns"),
    pa.list_(pa.struct([("x", pa.int32()), ("y z", pa.map_(pa.string(), pa.int64()))])),
]
PARQUET = [
    pa.timestamp("us"),
    pa.timestamp("ms", "Europe/Berlin"),
    pa.uint8(),
    pa.uint16(),
    pa.uint32(),
    pa.uint64(),
    pa.dictionary(pa.int32(), pa.string()),
    pa.large_string(),
    pa.duration("us"),
    pa.binary(4),
    pa.large_list(pa.date32()),
]
UNREADABLE = [pa.float16(), pa.timestamp("ns")]


def of_spark(frame: DataFrame) -> list[tuple[str, str, bool]]:
    fields = frame._jdf.schema().fields()
    return [(one.name(), one.dataType().sql(), one.nullable()) for one in fields]


def ours(columns):
    return [(one["name"], one["type"], one["nullable"]) for one in columns]


@pytest.mark.parametrize(
    ("suffix", "types"), [("parquet", BOTH[:-2] + PARQUET + BOTH[-1:]), ("orc", BOTH)]
)
def test_footers(spark, tmp_path, suffix, types):
    names = [f"c{i}" for i in range(len(types))]
    data = pa.table([pa.nulls(2, of) for of in types], names=names)
    write(tmp_path / "0" / f"0.{suffix}", data)
    path = str(tmp_path / "0")
    found = infer_schema("files", {"path": path, "format": suffix})
    assert ours(found) == of_spark(spark.read.format(suffix).load(path))


def test_int96(spark, tmp_path):
    data = pa.table({"t": pa.array([0], pa.timestamp("ns"))})
    pq.write_table(data, tmp_path / "0.parquet", use_deprecated_int96_timestamps=True)
    found = infer_schema("files", {"path": str(tmp_path)})
    assert ours(found) == of_spark(spark.read.parquet(str(tmp_path)))


@pytest.mark.parametrize("of", UNREADABLE)
def test_what_spark_does_not_read(spark, tmp_path, of):
    write(tmp_path / "0.parquet", pa.table({"k": pa.array([None], of)}))
    with pytest.raises(SourceError):
        infer_schema("files", {"path": str(tmp_path)})
    with pytest.raises(Exception, match=r"PARQUET_TYPE_ILLEGAL|Illegal Parquet type"):
        spark.read.parquet(str(tmp_path)).schema  # noqa: B018


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1Y a, 2S b, 3 c, 4L d, 1.5BD e, 1.5D f, 1.5F g, true h, 'x' i, X'00' j",
        "SELECT DATE'2020-01-01' a, TIMESTAMP'2020-01-01' b, TIMESTAMP_NTZ'2020-01-01' c",
        "SELECT array(named_struct('x', 1, 'y z', map('k', 2L))) a, 'x' COLLATE UTF8_LCASE b",
    ],
)
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_files_that_spark_wrote(spark, tmp_path, query, file_format):
    path = str(tmp_path / "out")
    frame = spark.sql(query)
    frame.coalesce(1).write.format(file_format).save(path)
    found = infer_schema("files", {"path": path, "format": file_format})
    written = [(n, t.replace(" NOT NULL", ""), True) for n, t, _ in of_spark(frame)]
    assert ours(found) == [(n, t.removesuffix(" COLLATE UTF8_LCASE"), True) for n, t, _ in written]
    declared = ", ".join(f"`{n}` {t}" for n, t, _ in written)
    arguments = {"path": path, "format": file_format, "schema": declared}
    assert ours(infer_schema("files", arguments)) == written


@pytest.mark.parametrize(
    "text",
    [
        "a byte, b short, c integer, d long, e real, f numeric(3,3), g dec, h decimal(5)",
        "a int, `b c` string NOT NULL COMMENT 'it''s', d timestamp_ltz, e timestamp_ntz",
        "m map<string,array<struct<a:long,`b c`:map<int,double>>>>, s struct<x: int, y date>",
        "s STRING COLLATE utf8_lcase, not boolean, date binary, tinyint float",
    ],
)
def test_texts(spark, text):
    schema = spark._jvm.org.apache.spark.sql.types.StructType.fromDDL(text)
    theirs = [(one.name(), one.dataType().sql(), one.nullable()) for one in schema.fields()]
    assert ours(parse_ddl(text)) == theirs

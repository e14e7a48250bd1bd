from __future__ import annotations

import os
from datetime import datetime

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from slacktide.engine.sources import check_source, infer_schema
from slacktide.engine.sources.options import check_options
from slacktide.errors import InvalidNameError, InvalidSettingError, SourceError
from tests.harness.landing import as_nobody, feed, table, write

ROWS = {
    "a": (pa.int8(), "TINYINT"),
    "b": (pa.int16(), "SMALLINT"),
    "c": (pa.int32(), "INT"),
    "d": (pa.int64(), "BIGINT"),
    "e": (pa.float32(), "FLOAT"),
    "f": (pa.float64(), "DOUBLE"),
    "g": (pa.bool_(), "BOOLEAN"),
    "h": (pa.string(), "STRING"),
    "i": (pa.binary(), "BINARY"),
    "j": (pa.date32(), "DATE"),
    "l": (pa.decimal128(15, 2), "DECIMAL(15,2)"),
    "n o": (
        pa.list_(pa.struct([("x", pa.int32()), ("y z", pa.map_(pa.string(), pa.int64()))])),
        "ARRAY<STRUCT<x: INT, `y z`: MAP<STRING, BIGINT>>>",
    ),
}
PARQUET_ONLY = {
    "p": (pa.timestamp("us"), "TIMESTAMP_NTZ"),
    "q": (pa.timestamp("ms", "Europe/Berlin"), "TIMESTAMP"),
    "r": (pa.uint8(), "SMALLINT"),
    "s": (pa.uint16(), "INT"),
    "t": (pa.uint32(), "BIGINT"),
    "u": (pa.uint64(), "DECIMAL(20,0)"),
    "v": (pa.dictionary(pa.int32(), pa.string()), "STRING"),
    "w": (pa.large_string(), "STRING"),
    "x": (pa.duration("us"), "BIGINT"),
    "y": (pa.binary(4), "BINARY"),
    "z": (pa.large_list(pa.date32()), "ARRAY<DATE>"),
}


def nulls(types):
    return pa.table({name: pa.nulls(2, of) for name, (of, _) in types.items()})


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("0.parquet", ROWS | PARQUET_ONLY),
        ("0.orc", ROWS | {"p": (pa.timestamp("ns"), "TIMESTAMP")}),
    ],
)
def test_columns_come_from_the_footer(landing, name, types):
    write(landing / "p=1" / name, nulls(types))
    arguments = {"path": str(landing), "format": name.rpartition(".")[2]}
    assert infer_schema("files", arguments) == tuple(
        {"name": column, "type": spark, "nullable": True} for column, (_, spark) in types.items()
    )


def test_what_spark_notes_beside_numbers_in_orc(landing):
    def noted(name, kind):
        return pa.field(name, pa.int64(), metadata={"spark.sql.catalyst.type": kind})

    schema = pa.schema([noted("n", "timestamp_ntz"), pa.field("k", pa.int64())])
    write(landing / "0.orc", pa.table([[1], [1]], schema=schema))
    found = infer_schema("files", {"path": str(landing), "format": "orc"})
    assert [one["type"] for one in found] == ["TIMESTAMP_NTZ", "BIGINT"]
    interval = pa.schema([noted("i", "interval day to second")])
    write(landing / "0.orc", pa.table([[1]], schema=interval))
    with pytest.raises(SourceError, match="the column i of type interval day to second, unknown"):
        infer_schema("files", {"path": str(landing), "format": "orc"})


def test_int96_is_a_timestamp(landing):
    data = pa.table({"t": pa.array([datetime(2020, 1, 1)], pa.timestamp("ns"))})  # noqa: DTZ001
    pq.write_table(data, landing / "0.parquet", use_deprecated_int96_timestamps=True)
    (column,) = infer_schema("files", {"path": str(landing)})
    assert column["type"] == "TIMESTAMP"


@pytest.mark.parametrize("of", [pa.time64("us"), pa.timestamp("ns"), pa.float16()])
def test_a_type_that_spark_does_not_read(landing, of):
    write(landing / "0.parquet", pa.table({"id": [1], "k": pa.array([None], of)}))
    with pytest.raises(SourceError, match=r"the column k of type .*unknown to Spark"):
        infer_schema("files", {"path": str(landing)})
    declared = {"path": str(landing), "schema": "id BIGINT"}
    assert [one["name"] for one in infer_schema("files", declared)] == ["id"]


def test_the_oldest_file_counts(landing):
    for seconds, name in enumerate(["b", "c", "a"]):
        path = write(landing / f"{name}.parquet", pa.table({name: [1]}))
        os.utime(path, (seconds, seconds))
    assert infer_schema("files", {"path": str(landing)})[0]["name"] == "b"


def test_a_feed_keeps_its_own_columns_to_itself(landing):
    write(landing / "0.parquet", feed("insert", _commit_version=pa.array([7], pa.int64())))
    found = infer_schema("change-feed", {"path": str(landing)})
    assert [one["name"] for one in found] == ["id", "name"]
    assert len(infer_schema("files", {"path": str(landing)})) == 4


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (table(), "0.parquet has no column _change_type (STRING)"),
        (table(1, _change_type=[1]), "has the column _change_type of type BIGINT, expected STRING"),
        (table(1, _Change_Type=["insert"]), "only _Change_Type, which differs in case"),
        (pa.table({"_change_type": ["insert"]}), "has no columns"),
    ],
)
def test_a_feed_that_is_none(landing, data, fact):
    write(landing / "0.parquet", data)
    with pytest.raises(SourceError) as caught:
        infer_schema("change-feed", {"path": str(landing)})
    assert fact in caught.value.message
    assert caught.value.hint


def test_a_declared_schema_is_checked_against_the_first_file(landing):
    arguments = {
        "path": str(landing),
        "schema": "id BIGINT NOT NULL, name STRING COLLATE UTF8_LCASE",
    }
    expected = (
        {"name": "id", "type": "BIGINT", "nullable": False},
        {"name": "name", "type": "STRING COLLATE UTF8_LCASE", "nullable": True},
    )
    assert infer_schema("files", arguments) == expected
    path = write(landing / "0.parquet")
    assert infer_schema("files", arguments) == expected
    write(path, pa.table({"id": pa.array([1], pa.int32()), "name": ["x"]}))
    with pytest.raises(
        SourceError, match=r"0.parquet has the column id of type INT, expected BIGINT"
    ):
        infer_schema("files", arguments)


@pytest.mark.parametrize("text_format", ["csv", "json", "avro"])
def test_formats_without_a_footer_take_the_declared_schema(landing, text_format):
    (landing / "0.csv").write_text("1,insert\n")
    found = infer_schema(
        "change-feed",
        {"path": str(landing), "format": text_format, "schema": "id INT, _change_type STRING"},
    )
    assert found == ({"name": "id", "type": "INT", "nullable": True},)


def test_a_whole_declaration(landing):
    write(landing / "0.parquet")
    arguments = {
        "path": f"file://{landing.as_posix().replace('%', '%25').replace('#', '%23')}/",
        "key": ("id",),
        "references": {"name": "people.name"},
        "append_only": True,
        "settle": "30s",
        "expect": {"every": "10min", "rows": 50000},
        "max_backlog": "2GB",
        "options": {"datetimeRebaseMode": "CORRECTED"},
        "schema": None,
    }
    found = check_source("orders", "files", arguments)
    assert found.arguments["path"] == str(landing)
    assert found.arguments["format"] == "parquet"
    assert found.arguments["key"] == ["id"]
    assert "schema" not in found.arguments
    assert [one["name"] for one in found.schema] == ["id", "name"]
    assert check_source("orders", "files", found.arguments) == found


CSV = {"format": "csv", "schema": "id INT"}


@pytest.mark.parametrize(
    ("kind", "arguments", "fact"),
    [
        ("delta", {}, "there is no source kind 'delta'"),
        ("files", {"pth": "x"}, "no argument 'pth'"),
        ("files", {"path": None}, "needs a path"),
        ("files", {"path": ""}, "path is ''"),
        ("files", {"path": "ftp://x/y"}, "the scheme 'ftp'"),
        ("files", {"format": "xml"}, "format is 'xml'"),
        ("files", {"schema": 1}, "schema is 1"),
        ("files", {"schema": "id FOO"}, "the type FOO"),
        ("files", {"format": "csv"}, "csv files need a schema"),
        ("files", {"format": "json", "schema": "id INT NOT NULL"}, "NOT NULL of id"),
        ("files", {"options": ["a"]}, "options is"),
        ("files", {"options": {"a": []}}, "options a is"),
        ("files", {"options": {"Mode": "PERMISSIVE"}}, "options has 'Mode'"),
        ("files", {"options": {"header": "maybe"}}, "options header is 'maybe'"),
        ("files", {"options": {"timeZone": "Mars/Base"}}, "options timeZone is 'Mars/Base'"),
        ("files", {"options": {"sep": ";", "SEP": ","}}, "options has 'sep' and 'SEP'"),
        ("files", {"key": "id"}, "key is 'id'"),
        ("files", {"key": []}, "key is []"),
        ("files", {"key": ["id", "id"]}, "each once"),
        ("files", {"key": ["nope"]}, "key names the column nope"),
        ("files", {"key": ["id"], "schema": "id ARRAY<INT>"}, "id of type ARRAY<INT>"),
        ("files", {"references": {"nope": "a.b"}}, "references names the column nope"),
        ("files", {"references": {"id": "b"}}, "references is"),
        ("files", {"references": "id"}, "references is"),
        ("files", {"append_only": "yes"}, "append_only is 'yes'"),
        ("files", {"settle": 30}, "settle is 30"),
        ("files", {"expect": {"every": "soon"}}, "expect every is 'soon'"),
        ("files", {"expect": {"rows": -1}}, "expect rows is -1"),
        ("files", {"expect": {"size": 1}}, "expect is"),
        ("files", {"max_backlog": 0}, "max_backlog is 0"),
        ("files", {"max_backlog": "0B"}, "max_backlog is '0B'"),
        ("files", {"max_backlog": "2 chickens"}, "max_backlog is '2 chickens'"),
        ("files", {"max_backlog": True}, "max_backlog is True"),
        ("files", {"quarantine": "/x"}, "quarantine is for csv and json"),
        (
            "files",
            CSV | {"format": "json", "quarantine": "/x", "options": {"multiLine": True}},
            "quarantine is for json of one row",
        ),
        ("files", CSV | {"quarantine": 5}, "quarantine is 5, which is not a text"),
        ("change-feed", {"schema": "_change_type STRING"}, "no column of the relation"),
        ("change-feed", {"schema": "id INT, _change_type INT"}, "_change_type the type INT"),
        ("change-feed", CSV | {"schema": "_change_type STRING, id INT"}, "not the last column"),
        ("change-feed", CSV | {"schema": "id INT, _commit_version BIGINT"}, "_commit_version"),
    ],
)
def test_what_cannot_be_declared(landing, kind, arguments, fact):
    given = {"path": str(landing), "schema": "id INT"} | arguments
    if arguments == {"format": "csv"}:
        del given["schema"]
    with pytest.raises(InvalidSettingError) as caught:
        check_source("orders", kind, given)
    assert fact in caught.value.message
    assert caught.value.hint


def test_unknown_things_are_answered_with_the_known_ones(landing):
    with pytest.raises(InvalidSettingError, match="files, change-feed"):
        check_source("orders", "kafka", {"path": str(landing)})
    with pytest.raises(InvalidSettingError, match=r"path, format, schema, .*max_backlog"):
        check_source("orders", "files", {"topic": "x"})


def test_a_name_is_checked(landing):
    with pytest.raises(InvalidNameError):
        check_source("a b", "files", {"path": str(landing)})


def test_no_directory(landing):
    with pytest.raises(SourceError, match=r"there is no directory .*/nope") as caught:
        check_source("orders", "files", {"path": str(landing / "nope")})
    assert caught.value.hint


def test_a_file_for_a_directory(landing):
    path = write(landing / "0.parquet")
    for wrong in (path, path / "below"):
        with pytest.raises(SourceError) as caught:
            check_source("orders", "files", {"path": str(wrong)})
        assert caught.value.hint


def test_no_file_yet(landing):
    write(landing / "_temporary" / "0.parquet")
    write(landing / ".0.parquet")
    with pytest.raises(SourceError, match="has no data file yet") as caught:
        check_source("orders", "files", {"path": str(landing)})
    assert "schema" in caught.value.hint


def test_a_first_file_that_is_corrupt(landing):
    for name, content in {"0.parquet": b"", "0.orc": b"ORC" * 9}.items():
        (landing / name).write_bytes(content)
        given = {"path": str(landing), "format": name.rpartition(".")[2]}
        with pytest.raises(SourceError, match=r"is corrupt, or not a file of the format") as caught:
            check_source("orders", "files", given)
        assert caught.value.hint
        (landing / name).unlink()


def test_a_directory_that_may_not_be_read(landing):
    landing.chmod(0)
    try:
        with as_nobody(), pytest.raises(SourceError, match="may not be read") as caught:
            check_source("orders", "files", {"path": str(landing)})
        assert caught.value.hint
    finally:
        landing.chmod(0o700)


@pytest.mark.parametrize(
    "zone", ["UTC", "Z", "Europe/Oslo", "+02:00", "GMT+1", "UTC-03:30", "EST", "PST", "Etc/GMT+5"]
)
def test_zones_that_spark_knows_are_taken(zone: str) -> None:
    check_options({"timeZone": zone, "header": True, "multiLine": "false"})

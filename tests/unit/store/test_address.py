"""One address, its spellings, and what is no address."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from slacktide.errors import InvalidSettingError, InvariantError
from slacktide.store import from_spark, parse_address


@pytest.mark.parametrize(
    ("text", "spelling", "spark"),
    [
        ("/data/my ws%20x", "/data/my ws%20x", "file:/data/my ws%20x"),
        ("/data//x/./y/../z/", "/data/x/z", "file:/data/x/z"),
        ("file:///data/my%20ws%2520x", "/data/my ws%20x", "file:/data/my ws%20x"),
        ("file:/data", "/data", "file:/data"),
        ("file://localhost/data", "/data", "file:/data"),
        ("s3://b/a b%20c/", "s3://b/a b%20c", "s3a://b/a b%20c"),
        ("s3a://b/x", "s3://b/x", "s3a://b/x"),
        ("S3://b", "s3://b", "s3a://b"),
        ("gs://b/x", "gs://b/x", "gs://b/x"),
        ("abfss://c@a.dfs/x", "abfss://c@a.dfs/x", "abfss://c@a.dfs/x"),
    ],
)
def test_spellings(text: str, spelling: str, spark: str) -> None:
    address = parse_address(text)
    assert (address.spelling, address.spark) == (spelling, spark)
    assert parse_address(spelling) == address
    scheme, _, rest = spark.partition(":")
    assert from_spark(f"{scheme}:{quote(rest)}") == address


def test_relative_paths_begin_at_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "own"))
    assert parse_address("ws").spelling == str(tmp_path / "ws")
    assert parse_address("~/ws").spelling == str(tmp_path / "own" / "ws")


@pytest.mark.parametrize(
    "text",
    ["", "  ", "http://h/x", "hdfs://h/x", "file://other/x", "s3://", "s3:/b/x", "s3://b/../x"],
)
def test_refuses_what_is_no_address(text: str) -> None:
    with pytest.raises(InvalidSettingError) as caught:
        parse_address(text)
    assert caught.value.hint


@pytest.mark.parametrize("text", ["s3://key:secret@b/x", "https://me:secret@h/x", "gs://secret@b"])
def test_never_repeats_credentials(text: str) -> None:
    with pytest.raises(InvalidSettingError) as caught:
        parse_address(text)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("root", ["/data/w s", "/", "s3://b", "s3://b/w s"])
def test_children_lie_below_their_root(root: str) -> None:
    address = parse_address(root)
    child = address.child("states/x%/1")
    assert child.spelling == root.rstrip("/") + "/states/x%/1"
    assert address.relative(child) == "states/x%/1"
    assert address.relative(parse_address("gs://b/states")) is None


def test_a_neighbour_is_not_below() -> None:
    assert parse_address("s3://b/ws").relative(parse_address("s3://b/ws2/x")) is None


@pytest.mark.parametrize("relative", ["", "/x", "x/", "a//b", "../x", "a/./b", "a\nb"])
def test_a_child_never_climbs_out(relative: str) -> None:
    with pytest.raises(InvariantError):
        parse_address("/data").child(relative)

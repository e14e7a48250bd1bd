"""Sources in an object store that speaks S3: what is listed, pinned and found changed."""

from __future__ import annotations

import io
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slacktide.engine.sources.arriving import accept, peek
from slacktide.engine.sources.pins import check_pins
from slacktide.errors import ArrivalChangedError
from slacktide.store import Source
from slacktide.store.arrivals import Arrivals, PinnedFile
from tests.harness.landing import NOW, table
from tests.harness.s3 import Bucket

SCHEMA = (
    {"name": "id", "type": "BIGINT", "nullable": True},
    {"name": "name", "type": "STRING", "nullable": True},
)
FOLDER = "in b%20c/o=1 é+#"
NAMES = ("a b.parquet", "p%20q.parquet", "day=2026-01-01/x.parquet", 'q"?*[x]{y}~|^`.parquet')


def parquet(data: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(data, buffer)
    return buffer.getvalue()


def orders(bucket: Bucket, file_format: str = "parquet") -> Source:
    arguments = {"path": bucket.spelling(FOLDER), "format": file_format}
    return Source("orders", "files", arguments, SCHEMA)


def found(bucket: Bucket, source: Source) -> list[PinnedFile]:
    return peek(source, storage_options=bucket.options, now=NOW).fresh


def test_any_name_is_found_and_pinned(bucket: Bucket) -> None:
    for name in (*NAMES, "_hidden/x.parquet", "day=2026-01-01/_x.parquet"):
        bucket.put(f"{FOLDER}/{name}", parquet(table(2)))
    bucket.put(f"{FOLDER}2/x.parquet", parquet(table(2)))
    source = orders(bucket)
    taken = accept(source, found(bucket, source), storage_options=bucket.options, now=NOW)
    arrivals = taken.arrivals
    pins = [file for arrival in arrivals for file in arrival.files]
    assert sorted(pin.path for pin in pins) == sorted(
        bucket.spelling(f"{FOLDER}/{name}") for name in NAMES
    )
    assert all(pin.etag and pin.digest and pin.rows == 2 for pin in pins)
    check_pins(pins, storage_options=bucket.options)
    assert found(bucket, replace(source, arrivals=Arrivals.of(arrivals))) == []


def test_marks_of_folders_are_no_files(bucket: Bucket) -> None:
    for folder in (FOLDER, f"{FOLDER}/day=1", f"{FOLDER}/day=1/deep", f"{FOLDER}/none"):
        bucket.mark_folder(folder)
    bucket.put(f"{FOLDER}/day=1/deep/x.csv", b"1,a\n")
    bucket.put(f"{FOLDER}/empty.csv", b"")
    source = orders(bucket, "csv")
    files = found(bucket, source)
    assert {file.path.removeprefix(bucket.spelling(FOLDER)): file.size for file in files} == {
        "/day=1/deep/x.csv": 4,
        "/empty.csv": 0,
    }
    accepted = accept(source, files, storage_options=bucket.options, now=NOW)
    assert len(accepted.arrivals) == 2


def test_a_file_delivered_again_is_the_same_until_its_content_changes(bucket: Bucket) -> None:
    key = f"{FOLDER}/a b.parquet"
    bucket.put(key, parquet(table(2)))
    source = orders(bucket)
    taken = accept(source, found(bucket, source), storage_options=bucket.options, now=NOW)
    (arrival,) = taken.arrivals
    bucket.put(key, parquet(table(2)))
    check_pins(arrival.files, storage_options=bucket.options)
    other = replace(arrival.files[0], etag='"of a store with other marks"', modified="long ago")
    check_pins([other], storage_options=bucket.options)
    bucket.put(key, parquet(table(2, extra=pa.array([1, 2]))))
    with pytest.raises(ArrivalChangedError, match=r"a b\.parquet changed"):
        check_pins(arrival.files, storage_options=bucket.options)
    bucket.delete(key)
    with pytest.raises(ArrivalChangedError, match="is gone"):
        check_pins(arrival.files, storage_options=bucket.options)

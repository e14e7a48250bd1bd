"""Sources in an object store in memory, whose files change while they are looked at."""

from __future__ import annotations

import io
from dataclasses import replace

import obstore
import pyarrow as pa
import pytest
from obstore.store import MemoryStore
from pyarrow import parquet as pq

from slacktide.engine.sources.arriving import look, take
from slacktide.engine.sources.directory import Directory
from slacktide.engine.sources.pins import difference
from slacktide.errors import SourceError, StorageError
from slacktide.store import Arrivals, Source, parse_address
from tests.harness.landing import NOW, SCHEMA, great_noise, table


class Bucket:
    """A bucket in memory, with the files of one source."""

    def __init__(self):
        self.store = MemoryStore()
        self.directory = Directory(self.store, parse_address("s3://bucket/a b%20c/orders"))
        self.orders = Source("orders", "files", {"path": self.directory.address.spelling}, SCHEMA)

    def put(self, name, data):
        buffer = io.BytesIO()
        pq.write_table(data, buffer)
        obstore.put(self.store, f"a b%20c/{name}", buffer.getvalue())

    def look(self):
        return look(self.directory, self.orders, now=NOW).fresh


def test_an_object_store():
    bucket = Bucket()
    bucket.put("orders/x=1/0.parquet", table(4))
    bucket.put("orders2/0.parquet", table(5))
    bucket.put("orders/_log/0.parquet", table(6))
    arrivals = take(bucket.directory, bucket.orders, bucket.look(), now=NOW).arrivals
    assert [arrival.rows for arrival in arrivals] == [4]
    (pin,) = arrivals[0].files
    assert pin.path == "s3://bucket/a b%20c/orders/x=1/0.parquet"

    def differs() -> str | None:
        key = "x=1/0.parquet"
        return difference(bucket.directory, key, pin, bucket.directory.head(key))

    assert differs() is None
    bucket.put("orders/x=1/0.parquet", table(4))
    assert differs() is None
    bucket.put("orders/x=1/0.parquet", table(4, extra=[0] * 4))
    assert "changed" in (differs() or "")
    bucket.orders = replace(bucket.orders, arrivals=Arrivals.of(arrivals))
    assert bucket.look() == []
    obstore.delete(bucket.store, "a b%20c/orders/x=1/0.parquet")
    assert differs() == "is gone"


def test_an_object_store_gives_the_first_error_in_order():
    bucket = Bucket()
    for name in "abcdef":
        bucket.put(f"orders/{name}.parquet", table(1) if name < "d" else pa.table({name: [1]}))
    with pytest.raises(SourceError, match=r"/d\.parquet has no column id"):
        take(bucket.directory, bucket.orders, sorted(bucket.look(), key=lambda f: f.path), now=NOW)


@pytest.mark.parametrize("name", ["name", "other"])
def test_a_file_that_is_written_while_it_is_read(name):
    bucket = Bucket()
    content = table(10_000).set_column(1, name, pa.array(great_noise()))
    bucket.put("orders/0.parquet", content)
    files = bucket.look()
    assert files[0].size > 16 * 1024 * 1024

    class Moving(Directory):
        """Writes the file anew as soon as a part of it was read."""

        def read_range(self, key, start, length):
            part = super().read_range(key, start, length)
            bucket.put("orders/0.parquet", content)
            return part

    moving = Moving(bucket.store, bucket.directory.address)
    with pytest.raises(StorageError, match="was written while it was read") as caught:
        take(moving, bucket.orders, files, now=NOW)
    assert "settle" in caught.value.hint

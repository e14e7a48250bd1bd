"""A laboratory whose workspace and sources are in an object store."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from slacktide.engine.workspace import Workspace
from slacktide.store.naming import segments
from tests.harness.lab import Lab
from tests.harness.objects import TickingClock
from tests.harness.s3 import Bucket

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

ROOT = "w s/100% é+=&'#"


class Lake(Lab):
    """The same as a `Lab`, in a bucket, under names with signs that URLs treat in their own way."""

    def __init__(
        self, spark: SparkSession, bucket: Bucket, *, options: Mapping[str, Any] | None = None
    ) -> None:
        self.bucket = bucket
        clock = TickingClock()
        root = bucket.spelling(ROOT)
        given = bucket.options if options is None else options
        ws = Workspace.create(root, storage_options=given, clock=clock)
        self._begin(spark, clock, ws)

    def landing(self, name: str) -> str:
        self.bucket.mark_folder(self.key(name))
        return self.bucket.spelling(self.key(name))

    def key(self, name: str) -> str:
        """The key below which the files of a source land."""
        return f"landing b%20c/{name} é+=&#"

    def write(self, name: str, number: int, rows: pa.Table) -> str:
        buffer = io.BytesIO()
        pq.write_table(rows, buffer)
        key = f"{self.key(name)}/day={number % 3}/{number:04} [x]{{y}}*?%41.parquet"
        self.bucket.put(key, buffer.getvalue())
        return key

    def named(self, prefix: str = "") -> Iterator[str]:
        """The keys of the files that the log names for some chains."""
        for name, chain in self.ws._store.world().chains.items():
            if name.startswith(prefix):
                for segment in segments(chain):
                    yield from (f"{ROOT}/{file.path}" for file in segment.files)

    def written(self) -> set[str]:
        """The keys of all that runs have written, as the server lists them."""
        folders = ("states", "sources", "views", "changes")
        return {key for folder in folders for key in self.bucket.listed(f"{ROOT}/{folder}/")}

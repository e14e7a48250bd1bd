"""Files as they land in the directory of a source, and the source."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import orc
from pyarrow import parquet as pq

from slacktide.engine.sources import accept
from slacktide.engine.workspace import Workspace
from slacktide.store import Source
from slacktide.store.arrivals import Arrival, PinnedFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SCHEMA = (
    {"name": "id", "type": "BIGINT", "nullable": True},
    {"name": "name", "type": "STRING", "nullable": True},
)


def over_avro(spark: SparkSession, folder: Path, content: bytes) -> Workspace:
    """A workspace with a view over one file that is called Avro."""
    landing = folder / "t"
    landing.mkdir()
    (landing / "1.avro").write_bytes(content)
    ws = Workspace.create(str(folder / "ws"))
    ws.add_source("t", kind="files", path=str(landing), format="avro", schema="id INT")
    ws.add_view(spark, "v", "SELECT sum(id) AS s FROM t")
    return ws


def source(
    landing: Path,
    kind: str = "files",
    schema: Sequence[dict[str, Any]] = SCHEMA,
    **arguments: Any,
) -> Source:
    """A source of orders over a directory, with a known schema."""
    given = {"path": str(landing), "format": "parquet", **arguments}
    return Source("orders", kind, given, tuple(schema))


def arrivals_of(source: Source, files: Sequence[PinnedFile], *, now: datetime) -> Sequence[Arrival]:
    """What is accepted of files."""
    return accept(source, files, now=now).arrivals


@contextmanager
def as_nobody() -> Iterator[None]:
    """Be a user that permissions bind, also where the tests run as root."""
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(mine)


def accepted(source: Source, arrivals: Sequence[Arrival]) -> Source:
    """A source that has got these arrivals, too."""
    return replace(source, arrivals=source.arrivals.appended(arrivals))


def table(rows: int = 3, **more: Any) -> pa.Table:
    """Some rows of orders."""
    columns = {
        "id": pa.array(range(rows), pa.int64()),
        "name": pa.array(["x"] * rows, pa.string()),
        **more,
    }
    return pa.table(columns)


def feed(*changes: str | None, **more: Any) -> pa.Table:
    """Some rows with what change each of them is."""
    return table(len(changes), _change_type=pa.array(changes, pa.string()), **more)


def write(path: Path, data: pa.Table | None = None) -> Path:
    """Write a file in the format of its suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = table() if data is None else data
    if path.suffix == ".orc":
        orc.write_table(content, str(path))
    else:
        pq.write_table(content, path)
    return path


def great_noise() -> list[str]:
    """Texts that take more than 16 MiB in a file."""
    return [os.urandom(1024).hex() for _ in range(10_000)]

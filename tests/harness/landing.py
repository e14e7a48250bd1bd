"""Files as they land in the directory of a source."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import orc
from pyarrow import parquet as pq

NOW = datetime(2030, 1, 1, tzinfo=UTC)


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

"""Files of a change feed: their columns, and how they are written and published.

A file is written under a name that begins with a dot, which no reader takes for data, and renamed
when it is whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from slacktide.common.change_feed import CHANGE_TYPE, COMMIT_VERSION
from slacktide.errors import InvariantError
from slacktide.workloads.tpch.schema import Table

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_schema(table: Table) -> pa.Schema:
    """Give the columns of the relation in Arrow's types."""
    import pyarrow as pa

    types = {
        "BIGINT": pa.int64(),
        "INT": pa.int32(),
        "DECIMAL(15,2)": pa.decimal128(15, 2),
        "DATE": pa.date32(),
        "STRING": pa.string(),
    }
    return pa.schema(
        [pa.field(column.name, types[column.type], column.nullable) for column in table.columns]
    )


def feed_schema(table: Table) -> pa.Schema:
    """Give the columns of the relation and the two of a change feed."""
    import pyarrow as pa

    schema = arrow_schema(table)
    schema = schema.append(pa.field(CHANGE_TYPE, pa.string(), nullable=False))
    return schema.append(pa.field(COMMIT_VERSION, pa.int64(), nullable=False))


def as_changes(rows: pa.RecordBatch | pa.Table, change: str, version: int) -> pa.Table:
    """Give rows as changes of one kind."""
    import pyarrow as pa

    table = rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows])
    kinds = pa.repeat(pa.scalar(change), table.num_rows)
    versions = pa.repeat(pa.scalar(version, pa.int64()), table.num_rows)
    extra = [
        (pa.field(CHANGE_TYPE, pa.string(), nullable=False), kinds),
        (pa.field(COMMIT_VERSION, pa.int64(), nullable=False), versions),
    ]
    for field, values in extra:
        table = table.append_column(field, values)
    return table


def write_hidden(target: Path, table: Table, parts: Iterable[pa.Table]) -> Path:
    """Write the rows beside the target under a hidden name, and give that name.

    Each part becomes a row group; a file without parts has the columns and no rows.
    """
    import pyarrow.parquet as pq

    schema = feed_schema(table)
    target.parent.mkdir(parents=True, exist_ok=True)
    hidden = hidden_name(target)
    with pq.ParquetWriter(hidden, schema) as writer:
        for part in parts:
            writer.write_table(part.cast(schema))
    return hidden


def hidden_name(target: Path) -> Path:
    """Give the name that a file has until it is whole."""
    return target.with_name(f".{target.name}.part")


def publish(target: Path) -> None:
    """Give a hidden file its name; one that has it already is left as it is.

    Raises:
        InvariantError: there is neither.
    """
    hidden = hidden_name(target)
    if hidden.exists():
        hidden.replace(target)
    elif not target.exists():
        raise InvariantError(f"{target.name} was never written", hint="generate the base anew")

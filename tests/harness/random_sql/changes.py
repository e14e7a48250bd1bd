"""Batches of changes: what they do to rows, their inverse, and their form in a fixture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from tests.harness.lab import canonical
from tests.harness.random_sql.schema import TABLES, Row

INSERT, DELETE = "insert", "delete"
BEFORE, AFTER = "update_preimage", "update_postimage"
OPPOSITE = {INSERT: DELETE, DELETE: INSERT, BEFORE: AFTER, AFTER: BEFORE}

Change = tuple[str, Row]
# The files that land at once, each of one source; each is legal when applied in its order.
Batch = Sequence[tuple[str, Sequence[Change]]]
Rows = dict[str, list[Row]]


def no_rows() -> Rows:
    """The sources before anything landed."""
    return {name: [] for name in TABLES}


def applied(rows: Mapping[str, Sequence[Row]], batch: Batch) -> Rows:
    """The rows after a batch.

    Raises:
        ValueError: a row is deleted that is not there.
    """
    after = {name: list(kept) for name, kept in rows.items()}
    for source, changes in batch:
        kept = after[source]
        for kind, row in changes:
            if kind in {INSERT, AFTER}:
                kept.append(row)
                continue
            image = canonical(row)
            place = next((i for i, other in enumerate(kept) if canonical(other) == image), None)
            if place is None:
                raise ValueError(f"{source} has no row {row}")
            del kept[place]
    return after


def inverse(batch: Batch) -> Batch:
    """The batch that undoes a batch."""
    return [
        (source, _paired([(OPPOSITE[kind], row) for kind, row in reversed(changes)]))
        for source, changes in reversed(batch)
    ]


def _paired(changes: list[Change]) -> list[Change]:
    """Put the two images of an update in their order again."""
    ordered = list(changes)
    for place in range(len(ordered) - 1):
        if (ordered[place][0], ordered[place + 1][0]) == (AFTER, BEFORE):
            ordered[place], ordered[place + 1] = ordered[place + 1], ordered[place]
    return ordered


def write(path: Any, source: str, changes: Sequence[Change]) -> None:
    """Write one file of a change feed."""
    rows = arrow_rows(source, [row for _, row in changes])
    kinds = pa.array([kind for kind, _ in changes], pa.string())
    pq.write_table(rows.append_column("_change_type", kinds), path)


def arrow_rows(source: str, rows: Sequence[Row]) -> pa.Table:
    """Rows of a source, under the columns that files hold them in."""
    schema = arrow_schema(source)
    columns = [[row[place] for row in rows] for place in range(len(schema))]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def arrow_schema(source: str) -> pa.Schema:
    """The columns of a source as files hold them."""
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    return to_arrow_schema(cast("StructType", StructType.fromDDL(TABLES[source].ddl)))


# ------------------------------------------------------------------------ fixtures


def to_json(batches: Iterable[Batch]) -> list[Any]:
    """Batches as JSON values."""
    return [
        [
            {"source": source, "changes": [[kind, *map(_encoded, row)] for kind, row in changes]}
            for source, changes in batch
        ]
        for batch in batches
    ]


def from_json(document: Sequence[Any]) -> list[Batch]:
    """Read batches back."""
    return [
        [
            (file["source"], [_change(file["source"], change) for change in file["changes"]])
            for file in batch
        ]
        for batch in document
    ]


def _change(source: str, change: Sequence[Any]) -> Change:
    kind, *values = change
    fields = TABLES[source].fields
    row = tuple(_decoded(v, f.type) for v, f in zip(values, fields, strict=True))
    return kind, row


def _encoded(value: Any) -> Any:
    match value:
        case dict():
            return {key: _encoded(item) for key, item in value.items()}
        case list() | tuple():
            return [_encoded(item) for item in value]
        case float() | Decimal():
            return str(value)
        case date():
            return value.isoformat()
        case _:
            return value


def _decoded(value: Any, data_type: str) -> Any:
    if value is None:
        return None
    match data_type.split("(")[0]:
        case "DECIMAL":
            return Decimal(value)
        case "DOUBLE":
            return float(value)
        case "DATE":
            return date.fromisoformat(value)
        case "TIMESTAMP":
            return datetime.fromisoformat(value)
        case kind if kind.startswith("MAP"):
            return [tuple(entry) for entry in value]
        case kind if kind.startswith("STRUCT"):
            return {**value, "w": None if value["w"] is None else Decimal(value["w"])}
        case _:
            return value

"""Footers of Parquet and ORC files: the columns as Spark would type them, and the rows.

Parquet is typed from its own logical types, as Spark does it, and not from the Arrow schema that a
writer may have left beside them: the two differ for INT96, unsigned numbers and durations.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from slacktide.engine.sources.column_statistics import leaves, statistics_of
from slacktide.engine.sources.ddl import quoted
from slacktide.store.record import ColumnStatistics

if TYPE_CHECKING:
    import pyarrow as pa

FOOTED: Final = ("parquet", "orc")
_INTEGERS: Final = {
    (8, True): "TINYINT",
    (16, True): "SMALLINT",
    (32, True): "INT",
    (64, True): "BIGINT",
    (8, False): "SMALLINT",
    (16, False): "INT",
    (32, False): "BIGINT",
    (64, False): "DECIMAL(20,0)",
}
_PHYSICAL: Final = {
    "BOOLEAN": "BOOLEAN",
    "INT32": "INT",
    "INT64": "BIGINT",
    "INT96": "TIMESTAMP",
    "FLOAT": "FLOAT",
    "DOUBLE": "DOUBLE",
    "BYTE_ARRAY": "BINARY",
    "FIXED_LEN_BYTE_ARRAY": "BINARY",
}
_TEXTS: Final = {"String": "STRING", "Enum": "STRING", "JSON": "STRING", "BSON": "BINARY"}
_CATALYST: Final = b"spark.sql.catalyst.type"


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of a file.

    Attributes:
        type: as Spark types it; where Spark cannot read it, the words of the format.
    """

    name: str
    type: str
    is_readable: bool = True


class Footer:
    """An open Parquet or ORC file.

    Raises:
        ValueError: the file is not what it should be; OSError and pyarrow's errors likewise.
    """

    def __init__(self, file_format: str, source: Any) -> None:
        self._is_parquet = file_format == "parquet"
        if self._is_parquet:
            from pyarrow import parquet

            self._source = source
            self._file: Any = parquet.ParquetFile(source)
            self.rows: int = self._file.metadata.num_rows
            self.columns = _parquet_columns(self._file)
        else:
            from pyarrow import orc

            self._file = orc.ORCFile(source)
            self.rows = self._file.nrows
            self.columns = tuple(FileColumn(one.name, *_orc_type(one)) for one in self._file.schema)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read some columns, a piece of the file at a time."""
        if self._is_parquet:
            yield from self._file.iter_batches(columns=list(columns))
        else:
            for stripe in range(self._file.nstripes):
                yield self._file.read_stripe(stripe, columns=list(columns))

    def statistics(self, names: Collection[str]) -> Mapping[str, ColumnStatistics]:
        """What a Parquet file tells of some columns; nothing of another."""
        return statistics_of(self._file, self._source, names) if self._is_parquet else {}

    @cached_property
    def _leaves(self) -> Mapping[str, int]:
        return leaves(self._file.metadata)

    def null_count(self, column: str) -> int | None:
        """Tell how many NULLs a column of plain values has, from the footer; None if not there."""
        if not self._is_parquet:
            return None
        metadata, count = self._file.metadata, 0
        leaf = self._leaves.get(column)
        if leaf is None:
            return None
        for group in range(metadata.num_row_groups):
            statistics = metadata.row_group(group).column(leaf).statistics
            if statistics is None or not statistics.has_null_count:
                return None
            count += statistics.null_count
        return count


def _parquet_columns(file: Any) -> tuple[FileColumn, ...]:
    # Arrow gives the nesting, the Parquet schema the leaves; both in depth-first order.
    leaves = iter(file.schema.column(i) for i in range(len(file.schema)))
    return tuple(
        FileColumn(one.name, *_parquet_type(one.type, leaves)) for one in file.schema_arrow
    )


def _parquet_type(arrow: Any, leaves: Iterator[Any]) -> tuple[str, bool]:
    from pyarrow import types

    if types.is_struct(arrow):
        return _struct(
            (arrow.field(i).name, *_parquet_type(arrow.field(i).type, leaves))
            for i in range(arrow.num_fields)
        )
    if types.is_map(arrow):
        return _map(_parquet_type(arrow.key_type, leaves), _parquet_type(arrow.item_type, leaves))
    if _is_list(arrow):
        return _list(_parquet_type(arrow.value_type, leaves))
    leaf = next(leaves)
    return _leaf(leaf.physical_type, json.loads(leaf.logical_type.to_json()))


def _leaf(physical: str, logical: dict[str, Any]) -> tuple[str, bool]:
    kind = logical["Type"]
    name: str | None = None
    match kind:
        case "None":
            name = _PHYSICAL.get(physical)
        case "Int":
            name = _INTEGERS.get((logical["bitWidth"], logical["isSigned"]))
        case "Decimal" if logical["precision"] <= 38:
            name = f"DECIMAL({logical['precision']},{logical['scale']})"
        case "Date":
            name = "DATE"
        case "Timestamp" if logical["timeUnit"] in {"milliseconds", "microseconds"}:
            name = "TIMESTAMP" if logical["isAdjustedToUTC"] else "TIMESTAMP_NTZ"
        case _:
            name = _TEXTS.get(kind)
    if name is not None:
        return name, True
    unit = f" in {logical['timeUnit']}" if "timeUnit" in logical else ""
    return f"{kind}{unit} ({physical})", False


def _orc_type(one: Any) -> tuple[str, bool]:
    from pyarrow import types

    arrow, metadata = one.type, one.metadata or {}
    if types.is_struct(arrow):
        return _struct(
            (arrow.field(i).name, *_orc_type(arrow.field(i))) for i in range(arrow.num_fields)
        )
    if types.is_map(arrow):
        return _map(_orc_type(arrow.key_field), _orc_type(arrow.item_field))
    if _is_list(arrow):
        return _list(_orc_type(arrow.value_field))
    if types.is_decimal(arrow):
        return f"DECIMAL({arrow.precision},{arrow.scale})", True
    if types.is_timestamp(arrow):
        return "TIMESTAMP", True
    # Spark keeps types that ORC does not have as numbers, and notes beside them what they are.
    noted = metadata.get(_CATALYST, b"").decode()
    if noted == "timestamp_ntz":
        return "TIMESTAMP_NTZ", True
    if noted.startswith("interval"):
        return noted, False
    name = _ORC.get(str(arrow))
    return (str(arrow), False) if name is None else (name, True)


_ORC: Final = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date32[day]": "DATE",
    "string": "STRING",
    "binary": "BINARY",
}


def _is_list(arrow: Any) -> bool:
    from pyarrow import types

    return bool(
        types.is_list(arrow) or types.is_large_list(arrow) or types.is_fixed_size_list(arrow)
    )


def _list(item: tuple[str, bool]) -> tuple[str, bool]:
    return f"ARRAY<{item[0]}>", item[1]


def _map(key: tuple[str, bool], value: tuple[str, bool]) -> tuple[str, bool]:
    return f"MAP<{key[0]}, {value[0]}>", key[1] and value[1]


def _struct(fields: Iterator[tuple[str, str, bool]]) -> tuple[str, bool]:
    known = list(fields)
    inner = ", ".join(f"{quoted(name)}: {kind}" for name, kind, _ in known)
    return f"STRUCT<{inner}>", all(is_readable for _, _, is_readable in known)

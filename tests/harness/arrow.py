"""Values of the reference as Arrow has them, and back."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from slacktide.algebra.nested import fields, is_array, is_map, is_struct, part_types
from slacktide.algebra.types import decimal_of

_SIMPLE: dict[str, pa.DataType] = {
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "STRING": pa.string(),
    "DATE": pa.date32(),
    "BOOLEAN": pa.bool_(),
}


def arrow_type(data_type: str) -> pa.DataType:
    """The type of a column in a Parquet file."""
    shape = decimal_of(data_type)
    if shape:
        return pa.decimal128(*shape)
    if is_array(data_type):
        return pa.list_(pa.field("element", arrow_type(part_types(data_type)[0])))
    if is_map(data_type):
        return pa.map_(*map(arrow_type, part_types(data_type)))
    if is_struct(data_type):
        return pa.struct([(name, arrow_type(own)) for name, own in fields(data_type)])
    return _SIMPLE[data_type]


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type with nothing said of NULL inside, as the types of columns do not say it either."""
    if pa.types.is_list(kind):
        return pa.list_(pa.field("element", plain_type(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([(own.name, plain_type(own.type)) for own in kind])
    return kind


def to_arrow(value: Any, kind: pa.DataType) -> Any:
    """A value as `pyarrow.array` takes it: structs by name."""
    if value is None:
        return None
    if pa.types.is_list(kind):
        return [to_arrow(item, kind.value_type) for item in value]
    if pa.types.is_struct(kind):
        return {f.name: to_arrow(item, f.type) for f, item in zip(kind, value, strict=True)}
    return value


def from_arrow(value: Any, kind: pa.DataType) -> Any:
    """A value as the reference has it: arrays and structs are tuples, maps dictionaries."""
    if value is None:
        return None
    if pa.types.is_list(kind):
        return tuple(from_arrow(item, kind.value_type) for item in value)
    if pa.types.is_struct(kind):
        return tuple(from_arrow(value[f.name], f.type) for f in kind)
    return dict(value) if pa.types.is_map(kind) else value


def column_array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """A column of values of the reference."""
    return pa.array([to_arrow(value, kind) for value in values], kind)


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of a table as the reference has them."""
    columns = [[from_arrow(v, c.type) for v in c.to_pylist()] for c in table.columns]
    return list(zip(*columns, strict=True))

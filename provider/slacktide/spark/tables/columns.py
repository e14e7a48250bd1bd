"""How columns are named in the SQL of a program, and how the files of a chain hold them."""

from __future__ import annotations

from slacktide.algebra.nested import nullable, storable
from slacktide.algebra.scalar import Column
from slacktide.algebra.sql import column_name
from slacktide.algebra.types import DataType, type_sql


def stored_type(data_type: DataType) -> DataType:
    """The type under which a column is stored; NULL alone has none of its own."""
    return "BOOLEAN" if data_type == "VOID" else storable(data_type)


def stored(column: Column, position: int) -> str:
    """A column of a program as one that is stored."""
    kept = stored_type(column.type)
    if kept == column.type:
        return f"{name(column)} AS c{position}"
    value = "NULL" if column.type == "VOID" else name(column)
    return f"CAST({value} AS {type_sql(kept)}) AS c{position}"


def restored(column: Column, position: int) -> str:
    """A stored column with its own type."""
    if column.type == "VOID":
        return "NULL"
    if stored_type(column.type) == column.type:
        return f"c{position}"
    return f"CAST(c{position} AS {type_sql(nullable(column.type))})"


def name(column: Column) -> str:
    """The name of a column inside the SQL of a program."""
    return column_name(column.id)

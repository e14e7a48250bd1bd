"""An answer with texts in place of values that Python does not have, or shows in another way than Spark.

These are intervals of months, and dates and times, of which Python knows none before the year 1 or after 9999. An instant
is shown with its offset from UTC: without, two instants of the hour that a clock is put back by would look alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import types as t

from slacktide.algebra.sql import quoted

_POLICY = "spark.sql.legacy.timeParserPolicy"


@contextmanager
def readable(frame: Any) -> Iterator[Any]:
    """The rows of a frame, each column as it was or as texts, while it is entered: patterns of old formatters have no offsets."""
    conf = frame.sparkSession.conf
    former = conf.get(_POLICY)
    conf.set(_POLICY, "CORRECTED")
    try:
        yield _readable(frame)
    finally:
        conf.set(_POLICY, former)


def _readable(frame: Any) -> Any:
    types = [field.dataType for field in frame.schema.fields]
    names = [f"c{place}" for place in range(len(types))]
    shown = [_shown(name, data_type) for name, data_type in zip(names, types, strict=True)]
    if not any(shown):
        return frame
    outputs = (f"{sql or name} AS {name}" for sql, name in zip(shown, names, strict=True))
    return frame.toDF(*names).selectExpr(*outputs)


def _shown(value: str, data_type: t.DataType, depth: int = 0) -> str | None:
    """The SQL of a value as it is shown; None where that is the value itself."""
    match data_type:
        case t.TimestampType():
            return f"concat(CAST({value} AS STRING), date_format({value}, 'xxxxx'))"
        case t.TimestampNTZType() | t.DateType() | t.YearMonthIntervalType():
            return f"CAST({value} AS STRING)"
        case t.ArrayType():
            item = f"x{depth}"
            inner = _shown(item, data_type.elementType, depth + 1)
            return inner and f"transform({value}, {item} -> {inner})"
        case t.MapType():
            return _map(value, data_type.keyType, data_type.valueType, depth)
        case t.StructType():
            return _struct(value, data_type, depth)
        case _:
            return None


def _map(value: str, key_type: t.DataType, value_type: t.DataType, depth: int) -> str | None:
    entry = f"x{depth}"
    parts = {
        name: _shown(f"{entry}.{name}", data_type, depth + 1)
        for name, data_type in (("key", key_type), ("value", value_type))
    }
    if not any(parts.values()):
        return None
    both = ", ".join(sql or f"{entry}.{name}" for name, sql in parts.items())
    return f"map_from_entries(transform(map_entries({value}), {entry} -> struct({both})))"


def _struct(value: str, data_type: Any, depth: int) -> str | None:
    fields = {
        field.name: (f"{value}.{quoted(field.name)}", field.dataType) for field in data_type.fields
    }
    shown = {name: _shown(*field, depth) for name, field in fields.items()}
    if not any(shown.values()):
        return None
    parts = ", ".join(f"{sql or fields[name][0]} AS {quoted(name)}" for name, sql in shown.items())
    return f"if({value} IS NULL, NULL, struct({parts}))"

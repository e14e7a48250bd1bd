"""Signed bags in SQL: consolidating them, and counting them out as plain rows.

Grouping merges what it finds equal: ``-0.0`` and ``0.0``, and what a collation equates. A bag must
not, so rows are grouped by an image of each column in which only identical values are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from slacktide.algebra.literals import text_sql
from slacktide.algebra.nested import fields, is_array, is_struct, part_types
from slacktide.algebra.sql import quoted
from slacktide.algebra.types import DataType, has_floating, is_comparable, is_floating, is_groupable
from slacktide.spark.texts.marks import NEGATIVE

Typed = Sequence[tuple[str, DataType]]
Image = Callable[[str, DataType], str]

_EXACT = (
    "map('ignoreNullFields', 'false',"
    " 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX',"
    " 'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
)


def image_sql(column: str, data_type: DataType) -> str:
    """An expression that is equal for two values just when they are identical.

    Maps are written entry by entry, in the order of their keys: Spark groups by maps too, but gives
    NULL values inside them as zeros. Strings inside are written as bytes, as JSON has one sign for all that are no text.
    """
    if data_type.startswith("STRING COLLATE"):
        return f"CAST({column} AS BINARY)"
    if is_floating(data_type):
        return f"CAST({column} AS STRING)"
    if data_type.startswith("MAP<") and data_type.count("MAP<") == 1:
        entries = f"array_sort(map_entries({column}))"
        key, value = part_types(data_type)
        listed = f"ARRAY<STRUCT<key: {key}, value: {value}>>"
        return f"to_json(struct({_in_bytes(entries, listed)}), {_EXACT})"
    if has_floating(data_type) or not is_groupable(data_type):
        return f"to_json(struct({_in_bytes(column, data_type)}), {_EXACT})"
    return column


def _in_bytes(value: str, data_type: DataType, depth: int = 0) -> str:
    """The same value with bytes for strings, of which no two that differ are written alike; maps inside stay as they are."""
    if data_type.startswith("STRING"):
        return f"CAST({value} AS BINARY)"
    if is_array(data_type):
        item, (part,) = f"x{depth}", part_types(data_type)
        turned = _in_bytes(item, part, depth + 1)
        return value if turned == item else f"transform({value}, {item} -> {turned})"
    if not is_struct(data_type):
        return value
    names = [name for name, _ in fields(data_type)]
    if len({name.casefold() for name in names}) < len(names):
        return value  # such a field has no name to be asked by
    parts = {name: f"{value}.{quoted(name)}" for name in names}
    turned_parts = {name: _in_bytes(parts[name], part, depth) for name, part in fields(data_type)}
    if turned_parts == parts:
        return value
    pairs = ", ".join(f"{text_sql(name)}, {part}" for name, part in turned_parts.items())
    return f"IF({value} IS NULL, NULL, named_struct({pairs}))"


def nearly_sql(column: str, data_type: DataType) -> str:
    """An expression that is equal for identical values, and for most doubles that differ by 1e-10.

    The sign of a zero stays.
    """
    if not is_floating(data_type):
        return image_sql(column, data_type)
    return f"format_string('%.10e', CAST({column} AS DOUBLE))"


def consolidate_sql(table: str, columns: Typed, image_of: Image = image_sql) -> str:
    """Equal rows once, with the sum of their multiplicities, without those that sum to zero."""
    outputs, keys = [], []
    for column, data_type in columns:
        image = image_of(column, data_type)
        keys.append(image)
        outputs.append(column if image == column else f"any_value({column}) AS {column}")
    listed = ", ".join([*outputs, "SUM(__m) AS __m"])
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {listed} FROM {table}{group} HAVING SUM(__m) <> 0"


def rows_sql(table: str, columns: Typed, *, what: str = "a snapshot") -> str:
    """The rows of a bag, each as often as its multiplicity says; a negative one is an error."""
    return counted_out_sql(f"({consolidate_sql(table, columns)})", columns, what=what)


def counted_out_sql(table: str, columns: Typed, *, what: str) -> str:
    """The rows of a bag in which equal rows stand once, or all are there; a negative multiplicity is an error."""
    names = ", ".join(column for column, _ in columns) or "1 AS __none"
    error = f"raise_error('{NEGATIVE} {what} has fewer copies of a row than were deleted')"
    times = f"CASE WHEN __m < 0 THEN {error} ELSE __m END"
    return f"SELECT {names} FROM {table} {copies_sql(times)}"


def copies_sql(times: str = "abs(__m)") -> str:
    """What stands behind a table so that each of its rows comes as often as an expression says."""
    return f"LATERAL VIEW explode(array_repeat(0, CAST({times} AS INT))) __slacktide_copies AS __slacktide_copy"


def units_sql(table: str, listed: Sequence[str]) -> str:
    """The rows of a bag with multiplicities of one and minus one alone, repeated where they are more."""
    outputs = ", ".join([*listed, "CAST(sign(__m) AS BIGINT) AS __m"])
    return f"SELECT {outputs} FROM {table} {copies_sql()}"


def current_rows_sql(
    base: str, changes: str, columns: Typed, key: Sequence[str], *, what: str
) -> str:
    """The rows of `base`, which are plain, after signed changes, without grouping the whole base.

    Only rows are grouped that may equal one that went: those with its key, or with all of its values where no
    key is declared. Nothing is believed of a key: rows that are equal have equal keys. The other rows pass as they
    are, and of these a reader takes from the files the columns alone that it needs.

    Args:
        base: a table of rows.
        changes: a table of rows and ``__m``.
        columns: of both.
        key: names of columns, quoted, by which rows are told apart; none where that is not known.
        what: is told of where fewer copies are there than went.
    """
    comparable = {column: data_type for column, data_type in columns if is_comparable(data_type)}
    by = [column for column in key if column in comparable] or [*comparable]
    names = ", ".join(column for column, _ in columns)
    keys = ", ".join(by) or "1 AS __none"
    gone = f"(SELECT DISTINCT {keys} FROM {changes} WHERE __m < 0)"
    equal = " AND ".join(f"b.{column} <=> d.{column}" for column in by) or "true"
    listed = ", ".join(f"b.{column}" for column, _ in columns)
    touched = (
        f"(SELECT {listed}, 1L AS __m FROM {base} b LEFT SEMI JOIN {gone} d ON {equal}"
        f" UNION ALL SELECT {listed}, __m FROM {changes} b LEFT SEMI JOIN {gone} d ON {equal})"
    )
    came = f"(SELECT {listed}, __m FROM {changes} b LEFT ANTI JOIN {gone} d ON {equal})"
    return (
        f"SELECT {listed} FROM {base} b LEFT ANTI JOIN {gone} d ON {equal}"
        f" UNION ALL SELECT {names} FROM {came} {copies_sql('__m')}"
        f" UNION ALL {rows_sql(touched, columns, what=what)}"
    )

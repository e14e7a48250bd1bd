"""Signed bags in SQL: consolidating them, and counting them out as plain rows.

Grouping merges what it finds equal: ``-0.0`` and ``0.0``, and what a collation equates. A bag must
not, so rows are grouped by an image of each column in which only identical values are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from slacktide.algebra.literals import text_sql
from slacktide.algebra.nested import fields, is_array, is_map, is_struct, part_types, storable
from slacktide.algebra.sql import quoted
from slacktide.algebra.types import (
    DataType,
    has_floating,
    is_comparable,
    is_floating,
    is_groupable,
    type_sql,
)
from slacktide.spark.texts.marks import NEGATIVE

Typed = Sequence[tuple[str, DataType]]
Image = Callable[[str, DataType], str]

_EXACT = (
    "map('ignoreNullFields', 'false',"
    " 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXXXX',"
    " 'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
)
_PART = 4096
"""Copies of a row that are made at once."""
_BY_KEY = "(a, b) -> CASE WHEN a.k < b.k THEN -1 WHEN a.k > b.k THEN 1 ELSE 0 END"
"""Keys are unique, and values need not have an order, without which array_sort refuses their entries."""


def image_sql(column: str, data_type: DataType) -> str:
    """An expression that is equal for two values just when they are identical; not of variants.

    What Spark does not group exactly is written as JSON; so are maps, by which Spark groups, but takes NULL values
    inside for zeros.
    """
    if data_type.startswith("STRING COLLATE"):
        return f"CAST({column} AS BINARY)"
    if is_floating(data_type):
        return f"CAST({column} AS STRING)"
    if has_floating(data_type) or not is_groupable(data_type):
        # Fields of one name cannot be asked for one by one: they are counted instead.
        named = storable(data_type)
        value = column if named == data_type else f"CAST({column} AS {type_sql(named)})"
        return f"to_json(struct({_unlike_in_json(value, named)}), {_EXACT})"
    return column


def _unlike_in_json(value: str, data_type: DataType, depth: int = 0) -> str:
    """The same value as JSON can tell it from all others.

    Strings are bytes, as JSON has one sign for all that are no text; maps are entries in the order of their keys, as
    JSON has only texts for keys.
    """
    item = f"x{depth}"
    if data_type.startswith("STRING"):
        return f"CAST({value} AS BINARY)"
    if is_array(data_type):
        (part,) = part_types(data_type)
        turned = _unlike_in_json(item, part, depth + 1)
        return value if turned == item else f"transform({value}, {item} -> {turned})"
    if is_map(data_type):
        key, part = part_types(data_type)
        parts = {"k": (f"{item}.key", key), "v": (f"{item}.value", part)}
        entry = _struct_sql({name: _unlike_in_json(*one, depth + 1) for name, one in parts.items()})
        entries = f"transform(map_entries({value}), {item} -> {entry})"
        return f"array_sort({entries}, {_BY_KEY})"
    if not is_struct(data_type):
        return value
    parts = {name: (f"{value}.{quoted(name)}", part) for name, part in fields(data_type)}
    turned_parts = {name: _unlike_in_json(*one, depth) for name, one in parts.items()}
    if all(turned_parts[name] == plain for name, (plain, _) in parts.items()):
        return value
    return f"IF({value} IS NULL, NULL, {_struct_sql(turned_parts)})"


def _struct_sql(parts: Mapping[str, str]) -> str:
    listed = ", ".join(f"{text_sql(name)}, {part}" for name, part in parts.items())
    return f"named_struct({listed})"


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
    return (
        f"SELECT {_listed(columns)} FROM {_counted_sql(table, columns, what)} {copies_sql('__m')}"
    )


def values_sql(table: str, columns: Typed, *, what: str = "a snapshot") -> str:
    """The rows of a bag, each once however many copies of it there are; a negative multiplicity is an error."""
    counted = _counted_sql(f"({consolidate_sql(table, columns)})", columns, what)
    return f"SELECT {_listed(columns)} FROM {counted} WHERE __m > 0"


def _listed(columns: Typed) -> str:
    """The columns of plain rows; a query has at least one."""
    return ", ".join(column for column, _ in columns) or "1 AS __none"


def _counted_sql(table: str, columns: Typed, what: str) -> str:
    """A bag of which reading a negative multiplicity is an error."""
    listed = "".join(f"{column}, " for column, _ in columns)
    error = f"raise_error('{NEGATIVE} {what} has fewer copies of a row than were deleted')"
    return f"(SELECT {listed}CASE WHEN __m < 0 THEN {error} ELSE __m END AS __m FROM {table})"


def copies_sql(times: str = "abs(__m)") -> str:
    """What stands behind a table so that each of its rows comes as often as an expression says.

    In parts, as Spark holds in memory what it explodes: few values of many rows may have millions of copies each.
    """
    parts = f"IF({times} <= {_PART}, array(0L), sequence(0L, {times} - 1L, {_PART}L))"
    size = f"CAST(least({times} - __slacktide_from, {_PART}) AS INT)"
    return (
        f"LATERAL VIEW explode({parts}) __slacktide_parts AS __slacktide_from"
        f" LATERAL VIEW explode(array_repeat(0, {size})) __slacktide_copies AS __slacktide_copy"
    )


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

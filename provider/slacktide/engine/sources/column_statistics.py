"""What Parquet files tell of their columns without a data page being read.

Ranges and NULLs stand in the footer. How many different values a column has stands in the header of
the page that holds its dictionary, some thirty bytes before the data: one small read for each column of
the first row group. Where a writer gave the dictionary up, a whole number has at most as many values
as its range; of anything else nobody knows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from decimal import Decimal
from functools import reduce
from math import isfinite
from typing import Any, Final

from slacktide.store.record import ColumnStatistics

MOST_COLUMNS: Final = 64
"""Columns of a source that are kept track of, the first ones."""
FEWEST_ROWS: Final = 10_000
"""Rows of a file from which on its dictionaries are looked at; fewer tell little of all values."""
LARGEST_DICTIONARY: Final = 900_000
"""Bytes of a dictionary that is whole; writers give one up at a mebibyte."""
_HEADER: Final = 64
_INTEGERS: Final = frozenset({"INT32", "INT64"})


def statistics_of(file: Any, source: Any, names: Collection[str]) -> dict[str, ColumnStatistics]:
    """Read what a Parquet file tells of some columns.

    Args:
        file: pyarrow's `ParquetFile`.
        source: what it is read from, with `seek` and `read`.
        names: of columns that are not nested; others are left out.
    """
    metadata = file.metadata
    leaves = {metadata.schema.column(i).path: i for i in range(metadata.num_columns)}
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    groups = [group for group in groups if group.num_rows]
    found: dict[str, ColumnStatistics] = {}
    for name in [name for name in names if name in leaves and groups][:MOST_COLUMNS]:
        chunks = [group.column(leaves[name]) for group in groups]
        is_looked_at = metadata.num_rows >= FEWEST_ROWS
        entries = _dictionary_entries(chunks[0], source) if is_looked_at else None
        told = [_chunk(c, group.num_rows, entries) for c, group in zip(chunks, groups, strict=True)]
        found[name] = reduce(merged, told)
    return found


def _chunk(chunk: Any, rows: int, entries: int | None) -> ColumnStatistics:
    told = chunk.statistics if chunk.is_stats_set else None
    nulls = told.null_count if told is not None and told.has_null_count else None
    low = high = None
    if told is not None and told.has_min_max:
        low, high = as_number(told.min), as_number(told.max)
    there = rows - (nulls or 0)
    distinct = None if entries is None else float(min(entries, there))
    is_whole = chunk.physical_type in _INTEGERS
    if entries is None and is_whole and told is not None and low is not None and high is not None:
        distinct = min(float(there), (high - low) / _step(told.min) + 1.0)
    return ColumnStatistics(rows, nulls, low, high, distinct)


def as_number(value: object) -> float | None:
    """A value as a number that keeps its order; a date counts its days. None where it is neither."""
    if type(value) is date:
        return float(value.toordinal())
    if isinstance(value, int | float | Decimal) and isfinite(value):
        return float(value)
    return None


def _step(value: object) -> float:
    """The least distance of two values of a column."""
    if isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        return 10.0**exponent if isinstance(exponent, int) else 1.0
    return 1.0


def merged(one: ColumnStatistics, other: ColumnStatistics) -> ColumnStatistics:
    """What is known of a column of two sets of rows together."""
    rows = one.rows + other.rows
    nulls = None if one.nulls is None or other.nulls is None else one.nulls + other.nulls
    return ColumnStatistics(
        rows,
        nulls,
        _outer(min, one.low, other.low),
        _outer(max, one.high, other.high),
        _values(one, other, float(rows - (nulls or 0))),
    )


def _outer(choose: Any, one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return choose(known) if known else None


def _values(one: ColumnStatistics, other: ColumnStatistics, most: float) -> float | None:
    """Values that lie in both ranges are taken for the same ones, as far as there may be so many."""
    if one.distinct is None or other.distinct is None:
        larger = max(one, other, key=lambda known: known.rows)
        return larger.distinct
    added = _outside(one, other) * other.distinct
    return min(max(one.distinct, other.distinct, one.distinct + added), most)


def _outside(one: ColumnStatistics, other: ColumnStatistics) -> float:
    """The share of the other's range that lies outside of the one's."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return 0.0
    shared = min(one.high, other.high) - max(one.low, other.low)
    if other.high == other.low:
        return 0.0 if shared >= 0 else 1.0
    return 1.0 - max(shared, 0.0) / (other.high - other.low)


def noted(
    before: Mapping[str, ColumnStatistics], files: Collection[Mapping[str, ColumnStatistics]]
) -> dict[str, ColumnStatistics]:
    """What is known of a source's columns once files have come; those alone of which these tell."""
    found: dict[str, ColumnStatistics] = {}
    for told in files:
        for name, column in told.items():
            known = found.get(name) or before.get(name)
            found[name] = column if known is None else merged(known, column)
    return found


# ------------------------------------------------------------------ headers of pages


def _dictionary_entries(chunk: Any, source: Any) -> int | None:
    """How many entries the dictionary of a chunk has; None without one, or where it was given up."""
    offset = chunk.dictionary_page_offset
    if not chunk.has_dictionary_page or offset is None:
        return None
    source.seek(offset)
    try:
        size, entries = dictionary_page(source.read(_HEADER))
    except (IndexError, ValueError):  # a page that this does not know costs an estimate, no more
        return None
    return entries if size < LARGEST_DICTIONARY else None


def dictionary_page(header: bytes) -> tuple[int, int]:
    """Read the bytes and the entries of a dictionary from the header of its page.

    The header is a struct of Thrift's compact protocol: page type, bytes before and after
    compression, maybe a checksum, and a struct of the kind of the page (Parquet's format, `PageHeader`).

    Raises:
        ValueError: it is no header of a dictionary; IndexError: it ends too early.
    """
    at, field, size = 0, 0, 0
    while True:
        at, field, kind = _field(header, at, field)
        if field == _DICTIONARY and kind == _STRUCT:
            at, inner, number = _field(header, at, 0)
            if (inner, number) != (_ENTRIES, _I32):
                break
            return size, _whole(header, at)[1]
        if kind != _I32:
            break
        at, value = _whole(header, at)
        size = value if field == _BYTES else size
    raise ValueError("no dictionary page")


_BYTES, _DICTIONARY, _ENTRIES = 2, 7, 1
_I32, _STRUCT = 5, 12


def _field(header: bytes, at: int, before: int) -> tuple[int, int, int]:
    """The place after the head of a field, its number, and its type; the type 0 ends a struct."""
    step, kind = header[at] >> 4, header[at] & 15
    if not step:
        raise ValueError("the struct ends, or its fields are in no order")
    return at + 1, before + step, kind


def _whole(header: bytes, at: int) -> tuple[int, int]:
    """The place after a number, and the number: seven bits a byte, the sign in the lowest bit."""
    value, shift = 0, 0
    while True:
        byte = header[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return at, (value >> 1) ^ -(value & 1)
        shift += 7

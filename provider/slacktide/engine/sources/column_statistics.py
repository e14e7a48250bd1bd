"""What Parquet files tell of their columns without a data page being read.

Ranges and NULLs stand in the footer. How many different values a column has stands in the header of
the page that holds its dictionary, some thirty bytes before the data: one small read for each column of
the first row group. Where a writer gave the dictionary up, a whole number has at most as many values
as its range; of anything else nobody knows.

Nothing here refuses a file: what cannot be made sense of is not known.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial, reduce
from math import isfinite
from typing import Any, Final

from slacktide.optimizer.statistics.constants import FIRST_DAY
from slacktide.store.record import ColumnStatistics

MOST_COLUMNS: Final = 64
"""Columns of a source that are kept track of, the first ones."""
MOST_GROUPS: Final = 100
"""Row groups of a file that are looked at, evenly spread where it has more."""
FEWEST_ROWS: Final = 50_000
"""Rows of a file from which on its dictionaries are looked at: fewer tell little of all values, and each costs a read."""
LARGEST_DICTIONARY: Final = 900_000
"""Bytes of a dictionary that is whole; most writers give one up at a mebibyte."""
FEW: Final = 0.1
"""Rows of which nothing is known, over those of which something is, that change no figure."""
REPEATED: Final = 0.1
"""Different values over rows up to which each comes so many times that few rows more have no others."""
NEARLY_ALL: Final = 0.9
"""Different values over rows from which on hardly two rows of a file are taken for alike."""
_HEADER: Final = 64
_TAIL: Final = 8
_OVERHEAD: Final = 10_000  # bytes of a chunk for the headers of its pages
_IN_A_DAY: Final = {"milliseconds": 86_400e3, "microseconds": 86_400e6, "nanoseconds": 86_400e9}
_NUMBERS: Final = frozenset({"INT32", "INT64", "FLOAT", "DOUBLE"})
_logger = logging.getLogger(__name__)


def statistics_of(file: Any, source: Any, names: Collection[str]) -> dict[str, ColumnStatistics]:
    """Read what a Parquet file tells of some columns.

    Args:
        file: pyarrow's `ParquetFile`.
        source: what it is read from, with `seek` and `read`.
        names: of columns that are not nested; others are left out.
    """
    metadata = file.metadata
    if not _is_plain(metadata, source):
        return {}
    return _told(metadata, names, partial(_dictionary_entries, source=source))


def ranges_of(metadata: Any, names: Collection[str]) -> dict[str, ColumnStatistics]:
    """Read what a footer alone tells of some columns; of different values no more than a range bounds.

    Args:
        metadata: pyarrow's `FileMetaData`.
        names: as of `statistics_of`.
    """
    return _told(metadata, names, lambda *_: None)


def _told(
    metadata: Any, names: Collection[str], entries_of: Callable[[Any, int], int | None]
) -> dict[str, ColumnStatistics]:
    """What the row groups of a file tell of some columns, the dictionaries of the first one by a function."""
    places = leaves(metadata)
    step = max(1, -(-metadata.num_row_groups // MOST_GROUPS))
    groups = [metadata.row_group(i) for i in range(0, metadata.num_row_groups, step)]
    groups = [group for group in groups if group.num_rows]
    found: dict[str, ColumnStatistics] = {}
    for name in [name for name in names if name in places and groups][:MOST_COLUMNS]:
        try:
            found[name] = _column(metadata, places[name], groups, entries_of)
        except Exception:
            _logger.debug("column %s tells nothing", name, exc_info=True)
    return found


def leaves(metadata: Any) -> dict[str, int]:
    """The places of leaves by path; none of a path that two have: a struct's field may be called like a dotted column."""
    paths = [metadata.schema.column(place).path for place in range(metadata.num_columns)]
    times = Counter(paths)
    return {path: place for place, path in enumerate(paths) if times[path] == 1}


def _is_plain(metadata: Any, source: Any) -> bool:
    """Whether the footer ends with the metadata: one that is signed has columns that are encrypted."""
    end = source.seek(0, 2)
    source.seek((source.tell() if end is None else end) - _TAIL)
    size: int = metadata.serialized_size
    return int.from_bytes(source.read(4), "little") == size


def _column(
    metadata: Any,
    leaf: int,
    groups: Sequence[Any],
    entries_of: Callable[[Any, int], int | None],
) -> ColumnStatistics:
    logical = metadata.schema.column(leaf).logical_type
    kind = _unit(logical) or str(logical.type)
    chunks = [group.column(leaf) for group in groups]
    entries: int | None = None
    if metadata.num_rows >= FEWEST_ROWS:
        entries = entries_of(chunks[0], groups[0].num_rows)
    told = [
        _chunk(chunk, kind, group.num_rows, entries)
        for chunk, group in zip(chunks, groups, strict=True)
    ]
    return reduce(merged, told)


def _chunk(chunk: Any, kind: str, rows: int, entries: int | None) -> ColumnStatistics:
    told = chunk.statistics if chunk.is_stats_set else None
    nulls = told.null_count if told is not None and told.has_null_count else None
    nulls = nulls if nulls is not None and 0 <= nulls <= rows else None
    low = high = None
    if told is not None and told.has_min_max:
        low, high = _range(told, kind, chunk.physical_type)
    there = float(rows - (nulls or 0))
    distinct = None if entries is None else min(float(entries), there)
    if distinct is None and low is not None and high is not None and not isinstance(low, float):
        distinct = min(_between(low, high), there)
    return ColumnStatistics(rows, nulls, _finite(low), _finite(high), distinct)


_Number = int | float | Decimal


def _unit(logical: Any) -> str | None:
    """The unit of an instant that is stored as a number; None of anything else."""
    if str(logical.type) != "TIMESTAMP":
        return None
    return str(json.loads(logical.to_json())["timeUnit"])


def _range(told: Any, kind: str, physical: str) -> tuple[_Number | None, _Number | None]:
    """The least and the greatest value of what is a number, a day or an instant; a day that no calendar has, too."""
    if kind in _IN_A_DAY and physical == "INT64":
        low, high = (FIRST_DAY + raw / _IN_A_DAY[kind] for raw in (told.min_raw, told.max_raw))
    elif kind == "DATE":
        low, high = told.min_raw + FIRST_DAY, told.max_raw + FIRST_DAY
    elif kind in {"INT", "DECIMAL"} or (kind == "NONE" and physical in _NUMBERS):
        low, high = told.min, told.max
    else:
        return None, None
    return (None, None) if low > high else (low, high)


def _between(low: _Number, high: _Number) -> float:
    """How many values of a type there are from one to another, both included."""
    distance = Decimal(high) - Decimal(low)
    exponent = low.as_tuple().exponent if isinstance(low, Decimal) else 0
    return float(distance.scaleb(-exponent if isinstance(exponent, int) else 0)) + 1.0


def _finite(value: _Number | None) -> float | None:
    return float(value) if value is not None and isfinite(value) else None


def merged(one: ColumnStatistics, other: ColumnStatistics) -> ColumnStatistics:
    """What is known of a column of two sets of rows together."""
    rows = one.rows + other.rows
    nulls = None if one.nulls is None or other.nulls is None else one.nulls + other.nulls
    low, high = _bounds(one, other)
    return ColumnStatistics(rows, nulls, low, high, _values(one, other, float(rows - (nulls or 0))))


def _bounds(one: ColumnStatistics, other: ColumnStatistics) -> tuple[float | None, float | None]:
    """The range of both; where one has values and no bound, nobody knows that of both."""
    valued = [each for each in (one, other) if each.nulls != each.rows]
    if len(valued) < 2:
        return (valued[0].low, valued[0].high) if valued else (None, None)
    low = None if one.low is None or other.low is None else min(one.low, other.low)
    high = None if one.high is None or other.high is None else max(one.high, other.high)
    return low, high


def _values(one: ColumnStatistics, other: ColumnStatistics, most: float) -> float | None:
    """Values that lie in both ranges are taken for the same ones, but for those of which a file has no two rows."""
    if one.distinct is None or other.distinct is None:
        return _told_by_one(one, other) if one.distinct is not None else _told_by_one(other, one)
    # Files come one by one, so that what is added up must not drift: of the fewer, those that lie outside.
    more, fewer = (one, other) if one.distinct >= other.distinct else (other, one)
    found = max(one.distinct, other.distinct)
    found += _outside(more, fewer) * min(one.distinct, other.distinct)
    low, high = _bounds(one, other)
    if low is not None and high is not None and _is_capped(other):
        found = max(found, min(one.distinct + other.distinct, high - low + 1.0))
    return min(found, most)


def _told_by_one(known: ColumnStatistics, unknown: ColumnStatistics) -> float | None:
    """The values of both where one knows nothing of its own; None where it has too many rows of which nobody knows.

    Few rows of values that come many times have no others, and of those that hardly come twice they have others only.
    """
    distinct, there = known.distinct, float(unknown.rows - (unknown.nulls or 0))
    if distinct is None:
        return None
    if there and _is_capped(known):
        return distinct + there
    is_few = there < FEWEST_ROWS and distinct <= REPEATED * known.rows
    return distinct if is_few or there <= FEW * known.rows else None


def _is_capped(one: ColumnStatistics) -> bool:
    """Whether as many values are known as there are rows: of a column of more of them another file has others."""
    there = one.rows - (one.nulls or 0)
    return one.distinct is not None and one.distinct >= NEARLY_ALL * there


def _outside(one: ColumnStatistics, other: ColumnStatistics) -> float:
    """The share of the other's range that lies outside of the one's."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return 0.0
    shared, width = min(one.high, other.high) - max(one.low, other.low), other.high - other.low
    if not width:
        return 0.0 if shared >= 0 else 1.0
    return 1.0 - max(shared, 0.0) / width if isfinite(width) else 0.0


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


def narrowed(known: ColumnStatistics, left: ColumnStatistics) -> ColumnStatistics:
    """What is known of a column once rows have gone: of its values as many are left as of its range.

    Args:
        known: of all rows that have come.
        left: what footers tell of those that are there.
    """
    if left.low is None or left.high is None:  # of some types our own files tell no range
        left = replace(left, low=known.low, high=known.high)
    if known.distinct is None:
        return left
    most = float(left.rows) if left.distinct is None else left.distinct
    return replace(left, distinct=min(known.distinct * (1.0 - _outside(left, known)), most))


# ------------------------------------------------------------------ headers of pages


def _dictionary_entries(chunk: Any, rows: int, source: Any) -> int | None:
    """How many entries the dictionary of a chunk has; None without one, or where it was given up."""
    offset = chunk.dictionary_page_offset
    if not chunk.has_dictionary_page or not offset or offset < 0:
        return None
    if {"PLAIN_DICTIONARY", "PLAIN"} <= {*chunk.encodings}:
        return None
    source.seek(offset)
    size, entries = dictionary_page(source.read(_HEADER))
    # A whole dictionary leaves a few bits of each row: its place, and whether there is a value.
    most = size + rows * (entries.bit_length() + 1) / 8 + _OVERHEAD
    is_whole = size < LARGEST_DICTIONARY and chunk.total_uncompressed_size <= most
    return entries if entries > 0 and is_whole else None


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

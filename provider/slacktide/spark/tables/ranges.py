"""Which keys a change touches, as few ranges: the literals by which Parquet skips pages.

A join with a small change needs only the rows of the big table whose keys occur in the change.
Spark's semi-join reads every page for that; ranges as literals are pushed down to the scans, through
projections, joins and unions: of 6 million rows 21 thousand are read for a thousand adjacent keys. A
source of growing keys deletes at one end and inserts at the other, so a single range would say nothing:
the keys are cut at their widest gaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyarrow import compute

from slacktide.algebra.types import DataType
from slacktide.common.ranges import MOST_RANGES, covered


@dataclass(frozen=True, slots=True)
class KeyRanges:
    """The keys that occur.

    Attributes:
        bounds: least and greatest key of each range, in ascending order, both inclusive; of dates, days since 1970.
        has_null: whether NULL occurs.
    """

    bounds: tuple[tuple[Any, Any], ...]
    has_null: bool

    def predicate(self, key: str, data_type: DataType) -> str:
        """Write the condition that a key lies in one of the ranges, or is NULL where that occurs.

        Args:
            key: the SQL text of the key.
            data_type: its type.
        """
        tests = [
            f"{key} = {_literal(low, data_type)}"
            if low == high
            else f"{key} BETWEEN {_literal(low, data_type)} AND {_literal(high, data_type)}"
            for low, high in self.bounds
        ]
        if self.has_null:
            tests.append(f"{key} IS NULL")
        return f"({' OR '.join(tests)})" if tests else "false"

    def share(self, low: float | None, high: float | None) -> float:
        """The share of a table that is read for them, see `covered`; 1.0 where that is not known.

        Args:
            low: the least key of the table, as a number; of dates, as of `bounds`.
            high: the greatest one.
        """
        if low is None or high is None:
            return 1.0
        ranges = ((float(first), float(last)) for first, last in self.bounds)
        return covered(ranges, None, low, high)


def cut(keys: pa.ChunkedArray) -> KeyRanges:
    """Cut keys at their widest gaps.

    Args:
        keys: of a type that `has_ranges`, in any order.
    """
    if pa.types.is_date(keys.type):
        keys = keys.cast(pa.int32())  # Spark has days that Python's calendar has not
    values = keys.unique().drop_null()
    values = values.take(compute.sort_indices(values))
    if not len(values):
        return KeyRanges((), keys.null_count > 0)
    gaps = compute.pairwise_diff(values.cast(pa.float64(), safe=False))
    # The first one has none before it.
    widest = compute.top_k_unstable(gaps[1:], k=min(MOST_RANGES, len(values)) - 1)
    starts = [0, *sorted(place + 1 for place in widest.to_pylist())]
    ends = [*starts[1:], len(values)]
    pairs = zip(starts, ends, strict=True)
    bounds = tuple((values[start].as_py(), values[end - 1].as_py()) for start, end in pairs)
    return KeyRanges(bounds, keys.null_count > 0)


def _literal(value: int | Decimal, data_type: DataType) -> str:
    if data_type == "DATE":
        return f"date_from_unix_date({value})"
    return f"CAST('{value}' AS {data_type})"

"""How much of the range of a key the changes of a run cover: the share of a table that is read for them.

A run reads of a large table what lies in a few ranges of the keys that changed (spark_costs.md §2): new orders meet
the end of their lines, updates of any order all of them. Too many keys are asked for nowhere, and the table is read whole.
"""

from __future__ import annotations

from collections.abc import Iterable

from slacktide.common.ranges import MOST_KEYS, few_ranges


def covered(
    ranges: Iterable[tuple[float, float]], keys: int | None, low: float, high: float
) -> float:
    """The share of a range of values in which those of some changes lie.

    Args:
        ranges: in which they lie, of all changes.
        keys: how many they are at most; None where nobody knows, as of ranges alone.
        low: the least of all values.
        high: the greatest.
    """
    if keys is not None and keys > MOST_KEYS:
        return 1.0
    if high <= low:
        return 1.0
    wide = sum(max(min(end, high) - max(start, low), 0.0) for start, end in few_ranges(ranges))
    return min(wide / (high - low), 1.0)

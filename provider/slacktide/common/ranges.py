"""Ranges in which the keys of changes lie: a few, apart at the widest gaps.

A source of growing keys deletes at one end and inserts at the other, so that a single range would say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Final, TypeVar

MOST_KEYS: Final = 200_000
"""Different keys of which it is asked where they lie."""
MOST_RANGES: Final = 12
LARGE_ROWS: Final = 20_000
"""Rows of a table that is read by ranges of keys; in a smaller one, a page holds all keys."""
ASKING: Final = 2.0
"""What a row costs of which it is asked where its keys lie, in rows of the table that is read by them."""
_Key = TypeVar("_Key", bound=Any)


def few_ranges(ranges: Iterable[tuple[_Key, _Key]]) -> list[tuple[_Key, _Key]]:
    """Give as few ranges in which the same keys lie, in ascending order, that do not meet.

    Args:
        ranges: the least and the greatest key of each, both included; of a single key, it twice.
    """
    merged: list[tuple[_Key, _Key]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    places = range(1, len(merged))
    gaps = sorted(places, key=lambda at: merged[at][0] - merged[at - 1][1], reverse=True)
    starts = [0, *sorted(gaps[: MOST_RANGES - 1]), len(merged)]
    return [
        (merged[first][0], merged[end - 1][1]) for first, end in pairwise(starts) if end > first
    ]

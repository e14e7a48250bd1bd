"""Ranges in which the keys of changes lie: a few, apart at the widest gaps.

A source of growing keys deletes at one end and inserts at the other, so that a single range would say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import log
from typing import Any, Final, TypeVar

MOST_KEYS: Final = 200_000
"""Different keys of which it is asked where they lie."""
MOST_RANGES: Final = 12
"""Ranges of the keys of one change."""
LARGE_ROWS: Final = 20_000
"""Rows of a table that is read by ranges of keys; of a smaller one, a page holds all keys (ADR 15)."""
ASKING: Final = 2.0
"""Rows of a table for each row that is read to know where keys lie, below which it is read whole (ADR 9, point 2)."""
_Key = TypeVar("_Key", bound=Any)
_EULER: Final = 0.5772156649
"""Of Euler and Mascheroni, to which the harmonic numbers without their logarithm tend."""


def pays_to_ask(rows: float, asked: float) -> bool:
    """Whether the ranges in which keys lie may spare more of a table than asking for them reads.

    Args:
        rows: of the table.
        asked: rows that are read to know the ranges.
    """
    return rows >= LARGE_ROWS and ASKING * asked <= rows


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


def covered(
    ranges: Iterable[tuple[float, float]], keys: int | None, low: float, high: float
) -> float:
    """The share of a table that is read for keys in some ranges: as if keys were whole numbers, and none were rarer than others.

    Args:
        ranges: in which keys lie.
        keys: how many they are at most; None where nobody knows, as of ranges alone.
        low: the least key of the table.
        high: the greatest one.
    """
    if keys is not None and keys > MOST_KEYS:
        return 1.0
    within = [(max(start, low), min(end, high)) for start, end in few_ranges(ranges)]
    wide = sum(end - start + 1.0 for start, end in within if end >= start)
    return min(wide / (high - low + 1.0), 1.0)


def covered_evenly(keys: float) -> float:
    """The share of a range that the few ranges of some keys cover, where these are drawn evenly from it.

    n keys leave m = n - 1 gaps between them, each 1 / (n + 1) of the range on average. The i-th widest of m is
    H(m) - H(i - 1) times that, H the harmonic numbers (H. A. David and H. N. Nagaraja, *Order Statistics*, 2003, §6.4),
    so that the k widest, which are cut out, are k (H(m) - H(k) + 1) times it. What lies before the first key and behind
    the last one is no part of the ranges either.

    Args:
        keys: how many different ones there are.
    """
    cuts = MOST_RANGES - 1
    if keys <= MOST_RANGES:
        return 0.0
    left_out = cuts * (_harmonic(keys - 1.0) - _harmonic(cuts) + 1.0)
    return max(keys - 1.0 - left_out, 0.0) / (keys + 1.0)


def _harmonic(number: float) -> float:
    """A harmonic number, by its asymptotic series."""
    return log(number) + _EULER + 1.0 / (2.0 * number)

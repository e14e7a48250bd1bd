"""How many different values several sets of values have together, by the ranges in which they lie.

Each is taken for evenly spread. Of what lies within several ranges it is not known which of them have the same values: the
fewer are taken to be among the more. What lies in the range of one alone, as the days of a table a year do, is its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import pairwise
from math import isfinite
from typing import NamedTuple


class Range(NamedTuple):
    """Values between two ends, which are among them, and how many different ones there are."""

    low: float
    high: float
    values: float


def values_together(ranges: Sequence[Range]) -> float:
    """How many different values ranges have together; no fewer than any of them."""
    most = max((one.values for one in ranges), default=0.0)
    if not all(isfinite(one.high - one.low) for one in ranges):
        return most  # they lie apart as far as numbers reach
    wide = sorted(one for one in ranges if one.low < one.high)
    points: dict[float, float] = {}
    for one in ranges:
        if one.low == one.high:
            points[one.low] = max(points.get(one.low, 0.0), one.values)
    found = _of_wide(wide) + sum(
        values
        for point, values in points.items()
        if not any(one.low <= point <= one.high for one in wide)
    )
    return max(found, most)


def _of_wide(wide: Sequence[Range]) -> float:
    """The values of ranges, the least of which begins first: in each part those of the one that has most of them there."""
    found, begun, densest = 0.0, 0, list[tuple[float, float]]()
    for low, high in pairwise(sorted({end for one in wide for end in (one.low, one.high)})):
        while begun < len(wide) and wide[begun].low <= low:
            one = wide[begun]
            heappush(densest, (-one.values / (one.high - one.low), one.high))
            begun += 1
        while densest and densest[0][1] <= low:
            heappop(densest)
        found += -densest[0][0] * (high - low) if densest else 0.0
    return found

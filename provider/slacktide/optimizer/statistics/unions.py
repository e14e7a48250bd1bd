"""What is expected of the rows of several relations one after another.

Of a value that lies within the ranges of two of them it is not known whether both have it; the more of them are taken to
have those of the fewer. What lies in the range of one alone, as the days of a table a year do, is its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from slacktide.algebra import relation as r
from slacktide.optimizer.statistics.estimate import Estimate
from slacktide.optimizer.statistics.facts import UNKNOWN_COLUMN, ColumnFacts, Figure, total, worst


def added(children: Sequence[Estimate], sides: Sequence[r.Columns], fields: r.Columns) -> Estimate:
    """The rows of several relations one after another, columns by position."""
    rows = [child.rows for child in children]
    columns: dict[int, ColumnFacts] = {}
    for at, field in enumerate(fields):
        known = [
            child.columns.get(side[at].id, UNKNOWN_COLUMN)
            for child, side in zip(children, sides, strict=True)
        ]
        columns[field.id] = _column(known, rows)
    return Estimate(total(rows), columns, sum(child.planned_bytes for child in children))


def _column(known: Sequence[ColumnFacts], rows: Sequence[Figure]) -> ColumnFacts:
    ranges = [found for facts in known if (found := _range(facts)) is not None]
    wholes = {facts.whole for facts in known}
    is_ranged = len(ranges) == len(known) > 0
    return ColumnFacts(
        _distinct(known, ranges if is_ranged else ()),
        low=min(low for low, _, _ in ranges) if is_ranged else None,
        high=max(high for _, high, _ in ranges) if is_ranged else None,
        nulls=_nulls(known, rows),
        whole=known[0].whole if len(wholes) == 1 else None,
    )


class _Range(NamedTuple):
    low: float
    high: float
    distinct: float


def _range(facts: ColumnFacts) -> _Range | None:
    if facts.low is None or facts.high is None or facts.distinct is None:
        return None
    return _Range(facts.low, facts.high, facts.distinct.value)


def _distinct(known: Sequence[ColumnFacts], ranges: Sequence[_Range]) -> Figure | None:
    figures = [facts.distinct for facts in known if facts.distinct is not None]
    if not figures or len(figures) < len(known):
        return None
    most = max(figure.value for figure in figures)
    return Figure(max(most, _within(ranges)), worst(*figures))


def _within(ranges: Sequence[_Range]) -> float:
    """How many values several ranges have together, as evenly as each has its own."""
    ends = sorted({end for one in ranges for end in (one.low, one.high)})
    points = {one.low: one.distinct for one in ranges if one.low == one.high}
    pieces = (max(_share(one, *piece) for one in ranges) for piece in pairwise(ends))
    return sum(pieces) + sum(points.values())


def _share(one: _Range, low: float, high: float) -> float:
    """How many of its values a range has in a part, which lies inside or outside of it."""
    is_inside = one.low <= low and high <= one.high and one.low < one.high
    return one.distinct * (high - low) / (one.high - one.low) if is_inside else 0.0


def _nulls(known: Sequence[ColumnFacts], rows: Sequence[Figure]) -> Figure:
    told = [(facts.nulls, figure.value) for facts, figure in zip(known, rows, strict=True)]
    all_rows = sum(count for _, count in told)
    share = sum(nulls.value * count for nulls, count in told) / all_rows if all_rows else 0.0
    return Figure(share, worst(*(nulls for nulls, _ in told)))

"""What is expected of the rows of several relations one after another."""

from __future__ import annotations

from collections.abc import Sequence

from slacktide.algebra import relation as r
from slacktide.optimizer.statistics.estimate import Estimate
from slacktide.optimizer.statistics.facts import UNKNOWN_COLUMN, ColumnFacts, Figure, total, worst
from slacktide.optimizer.statistics.ranges import Range, values_together


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
    figures = [facts.values for facts in known if facts.values is not None]
    ranges = [
        Range(*facts.ends, facts.values.value)
        for facts in known
        if facts.ends is not None and facts.values is not None
    ]
    is_known, is_ranged = len(figures) == len(known), len(ranges) == len(known)
    values = (
        values_together(ranges) if is_ranged else max((one.value for one in figures), default=0.0)
    )
    origins = {facts.source_column for facts in known}
    return ColumnFacts(
        Figure(values, worst(*figures)) if is_known else None,
        low=min(one.low for one in ranges) if is_ranged else None,
        high=max(one.high for one in ranges) if is_ranged else None,
        nulls=_nulls(known, rows),
        source_column=known[0].source_column if len(origins) == 1 else None,
    )


def _nulls(known: Sequence[ColumnFacts], rows: Sequence[Figure]) -> Figure:
    told = [(facts.nulls, figure.value) for facts, figure in zip(known, rows, strict=True)]
    all_rows = sum(count for _, count in told)
    share = sum(nulls.value * count for nulls, count in told) / all_rows if all_rows else 0.0
    return Figure(share, worst(*(nulls for nulls, _ in told)))

"""How many combinations of values several columns have.

Those of a declared key are the rows of its source, and what else is of that source follows from them. Of other columns there
are at most as many as rows, and at most the product of their values: that bound is taken for groups. Keys by which rows meet are damped,
as columns that are equal together are seldom independent: the square root of the second one's values, the fourth root of the third one's, and so
on, the most first (exponential backoff, as in SQL Server's estimator of 2014). Of both sides the smaller number is taken: a program that is thought
too cheap costs more than one that is thought too dear.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import prod

from slacktide.optimizer.statistics.facts import ColumnFacts, Figure, worst


def of_groups(columns: Sequence[ColumnFacts]) -> tuple[Figure, bool]:
    """How many combinations are known of, and whether there are columns of which nobody knows how many values they have."""
    by_source: dict[str, list[ColumnFacts]] = defaultdict(list)
    alone: list[list[ColumnFacts]] = []
    for column in columns:
        if column.source_column is None:
            alone.append([column])
        else:
            by_source[column.source_column.source].append(column)
    found = [_of_source(some) for some in (*by_source.values(), *alone)]
    figures = [figure for figure, _ in found]
    product = Figure(prod(max(figure.value, 1.0) for figure in figures), worst(*figures))
    return product, any(is_open for _, is_open in found)


def _of_source(columns: Sequence[ColumnFacts]) -> tuple[Figure, bool]:
    rows = rows_by_key(columns)
    if rows is not None:
        return rows, False
    counts = _sure(columns)
    most = [c.source_column.rows for c in columns if c.source_column is not None][:1]
    product = Figure(prod(count.value for count in counts), worst(*counts))
    return min([product, *most], key=lambda one: one.value), len(counts) < len(columns)


def that_meet(left: Sequence[ColumnFacts], right: Sequence[ColumnFacts]) -> Figure | None:
    """How many combinations two sides have that meet by several columns; None where nobody knows."""
    keys = [rows for side in (left, right) if (rows := rows_by_key(side)) is not None]
    if keys:
        return max(keys, key=lambda rows: rows.value)
    known = [figure for side in (left, right) if (figure := _damped(side)) is not None]
    return min(known, key=lambda figure: figure.value, default=None)


def rows_by_key(columns: Sequence[ColumnFacts]) -> Figure | None:
    """The rows of the source of which some columns hold the declared key; None where they are of several sources, or lack a part of it."""
    origins = [column.source_column for column in columns if column.source_column is not None]
    if not origins or len(origins) < len(columns):
        return None
    first = origins[0]
    is_one = all(one.source == first.source for one in origins)
    is_key = bool(first.key) and {one.column for one in origins} >= {*first.key}
    return first.rows if is_one and is_key else None


def _damped(columns: Sequence[ColumnFacts]) -> Figure | None:
    counts = sorted(_sure(columns), key=lambda count: -count.value)
    if not counts:
        return None
    value = prod(max(count.value, 1.0) ** 0.5**place for place, count in enumerate(counts))
    damped = Figure(value, worst(*counts))
    origins = [column.source_column for column in columns]
    if origins[0] is not None and {one and one.source for one in origins} == {origins[0].source}:
        most = max(origins[0].rows, counts[0], key=lambda one: one.value)
        return min(damped, most, key=lambda one: one.value)
    return damped


def _sure(columns: Sequence[ColumnFacts]) -> list[Figure]:
    """How many values columns have, of those of which somebody has said so."""
    return [column.sure for column in columns if column.sure is not None]

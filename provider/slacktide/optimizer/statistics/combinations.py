"""How many combinations of values several columns have.

Those of a declared key are the rows of its source, and what else is of that source follows from them. Of other columns there
are at most as many as rows, and at most the product of their values: for groups that bound is taken, as they are found by looking. Rows that
meet by several columns are thought to do so by the square root of the second one's values, the fourth root of the third one's, and so on:
columns that are equal together are seldom independent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from slacktide.optimizer.statistics.facts import ColumnFacts, Figure, Whole, worst


def of_groups(columns: Sequence[ColumnFacts]) -> tuple[Figure, bool]:
    """How many combinations are known of, and whether there are columns of which nobody knows how many values they have."""
    by_source: dict[str, list[ColumnFacts]] = defaultdict(list)
    alone: list[list[ColumnFacts]] = []
    for column in columns:
        if column.whole is None:
            alone.append([column])
        else:
            by_source[column.whole.source].append(column)
    found = [_of_source(some) for some in (*by_source.values(), *alone)]
    figures = [figure for figure, _ in found]
    product = Figure(prod(max(figure.value, 1.0) for figure in figures), worst(*figures))
    return product, any(is_open for _, is_open in found)


def _of_source(columns: Sequence[ColumnFacts]) -> tuple[Figure, bool]:
    whole = key_of(columns)
    if whole is not None:
        return whole.rows, False
    counts = _sure(columns)
    most = [c.whole.rows for c in columns if c.whole is not None][:1]
    value = min([prod(count.value for count in counts), *(rows.value for rows in most)])
    return Figure(value, worst(*counts)), len(counts) < len(columns)


def that_meet(left: Sequence[ColumnFacts], right: Sequence[ColumnFacts]) -> Figure | None:
    """How many combinations two sides have that meet by several columns; None where nobody knows."""
    keys = [whole.rows for side in (left, right) if (whole := key_of(side)) is not None]
    if keys:
        return max(keys, key=lambda rows: rows.value)
    known = [figure for side in (left, right) if (figure := _damped(side)) is not None]
    return min(known, key=lambda figure: figure.value, default=None)


def key_of(columns: Sequence[ColumnFacts]) -> Whole | None:
    """The source of which some columns hold the declared key; None where they are of several sources, or lack a part of it."""
    wholes = [column.whole for column in columns if column.whole is not None]
    if not wholes or len(wholes) < len(columns):
        return None
    first = wholes[0]
    is_one = all(one.source == first.source for one in wholes)
    is_key = bool(first.key) and {one.column for one in wholes} >= {*first.key}
    return first if is_one and is_key else None


def _damped(columns: Sequence[ColumnFacts]) -> Figure | None:
    counts = sorted(_sure(columns), key=lambda count: -count.value)
    if not counts:
        return None
    value = prod(max(count.value, 1.0) ** 0.5**place for place, count in enumerate(counts))
    wholes = [column.whole for column in columns]
    if wholes[0] is not None and {one and one.source for one in wholes} == {wholes[0].source}:
        value = min(value, max(wholes[0].rows.value, counts[0].value))
    return Figure(value, worst(*counts))


def _sure(columns: Sequence[ColumnFacts]) -> list[Figure]:
    """How many values columns have, of those of which somebody has said so."""
    counts = [column.distinct for column in columns if column.distinct is not None]
    return [count for count in counts if count.origin != "default"]


def without_whole(facts: ColumnFacts) -> ColumnFacts:
    """Values that are no longer those of a source's column."""
    return facts if facts.whole is None else replace(facts, whole=None)

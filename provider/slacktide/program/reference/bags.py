"""Bags: lists of rows with signed multiplicities, consolidated or not."""

from __future__ import annotations

from collections.abc import Iterable

from slacktide.errors import DataError
from slacktide.program.reference.ordering import Row, image
from slacktide.program.reference.relations import Rows

Bag = list[tuple[Row, int]]


def consolidate(bag: Iterable[tuple[Row, int]]) -> Bag:
    """Give equal rows once, with the sum of their multiplicities; none where that is zero."""
    sums: dict[object, tuple[Row, int]] = {}
    for row, count in bag:
        key = image(row)
        known = sums.get(key)
        sums[key] = (row, count if known is None else known[1] + count)
    return [(row, count) for row, count in sums.values() if count]


def negate(bag: Iterable[tuple[Row, int]]) -> Bag:
    """Give the same rows with opposite multiplicities."""
    return [(row, -count) for row, count in bag]


def expand(bag: Iterable[tuple[Row, int]], what: str) -> Rows:
    """Give each row as often as it occurs.

    Raises:
        DataError: a row occurs less than zero times.
    """
    rows = consolidate(bag)
    refuse_negative(rows, what)
    return [row for row, count in rows for _ in range(count)]


def refuse_negative(bag: Bag, what: str) -> None:
    """Check that no row occurs less than zero times.

    Raises:
        DataError: one does.
    """
    for row, count in bag:
        if count < 0:
            raise DataError(
                f"{what} holds a row {count} times: {row}",
                hint="a change deletes a row that never was",
            )

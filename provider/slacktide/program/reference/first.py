"""The first rows of an order, and the fence behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from slacktide.algebra.scalar import SortKey
from slacktide.program.reference.ordering import Row
from slacktide.program.reference.sorting import by_keys, in_order


def leading(
    rows: Iterable[Row], order: Sequence[SortKey], values: Callable[[Row], Row], count: int
) -> list[Row]:
    """Give the first rows, those that tie with the last of them, and the fence.

    Args:
        rows: as often as they occur; their last value says which are fences.
        order: by which rows are first.
        values: gives what a row is sorted by.
        count: how many rows are first.
    """
    every = list(rows)
    key = by_keys(order)
    others = sorted((row for row in every if not row[-1]), key=lambda row: key(values(row)))
    if len(others) < count:
        return every
    last = values(others[count - 1])
    kept = [row for row in others if in_order(order, values(row), last) <= 0]
    return [*kept, (*kept[-1][:-1], True)]


def is_dry(bag: Iterable[tuple[Any, Any]], least: int) -> bool:
    """Whether first rows are fewer than that, and there is a fence."""
    rows = list(bag)
    return any(row[-1] for row, _ in rows) and sum(n for row, n in rows if not row[-1]) < least

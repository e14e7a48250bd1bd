"""Months and days of dates and timestamps."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TypeVar

D = TypeVar("D", bound=date)


def last_day(value: D) -> D:
    """Give the last day of the month."""
    following = value.replace(day=28) + timedelta(days=4)
    return following - timedelta(days=following.day)


def add_months(value: D, months: int) -> D:
    """Move by months; a day that the month does not have becomes its last one."""
    index = value.year * 12 + value.month - 1 + months
    first = value.replace(year=index // 12, month=index % 12 + 1, day=1)
    return first.replace(day=min(value.day, last_day(first).day))

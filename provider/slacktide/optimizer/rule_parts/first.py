"""The first rows of an order: what is kept of the input of a limit, and how it follows a change.

A limit shows rows at the front of its input. Kept are these and a reserve behind them, up to a
*fence*: with F the fence, first(X) = X│F, so that first(X + ΔX) = first(first(X) + ΔX│F), and what lies
behind the fence is never read. Deletes use the reserve up; when fewer rows are left than the limit
needs, they are taken anew from the whole input (ADR 0007).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.types import BOOLEAN, is_groupable
from slacktide.program import operator as o
from slacktide.program.operator import Operator

FEWEST_KEPT: Final = 1000
"""As many rows are kept at least: a thousand cost little more than ten, and last longer."""


@dataclass(frozen=True, slots=True)
class FirstRows:
    """Which rows of an input decide a limit.

    Attributes:
        order: by which they are first.
        least: how many of them the limit needs.
        fence: the column that marks a fence, behind those of the input.
    """

    order: tuple[s.SortKey, ...]
    least: int
    fence: s.Column

    @property
    def count(self) -> int:
        """How many are kept: as many deletes at the front as the limit shows rows are lived through."""
        return max(FEWEST_KEPT, 2 * self.least)

    def built(self, rows: Operator) -> o.First:
        """What is kept of all rows of an input."""
        return self._first(self._before(rows))

    def followed(self, stored: Operator, change: Operator) -> o.First:
        """What is kept after a change of the input, of which rows behind the fence are dropped."""
        fence = o.Select(stored, s.reference(self.fence))
        near = self._before(o.UpTo(change, fence, self.order))
        return self._first(o.Add((stored, near), stored.columns))

    def rows(self, kept: Operator) -> Operator:
        """The rows before the fence, as the input has them."""
        is_row = s.Call("not", (s.reference(self.fence),), BOOLEAN, nullable=False)
        return o.Map(o.Select(kept, is_row), tuple(map(s.identity, kept.columns[:-1])))

    def columns(self, rows: r.Rel) -> r.Columns:
        """The columns of what is kept of an input."""
        return (*rows.columns, self.fence)

    def _before(self, rows: Operator) -> o.Map:
        is_fence = s.Assignment(self.fence, s.Literal("false", BOOLEAN, nullable=False))
        return o.Map(rows, (*map(s.identity, rows.columns), is_fence))

    def _first(self, rows: Operator) -> o.First:
        return o.First(rows, self.order, self.count)


def total_order(keys: Sequence[s.SortKey], columns: r.Columns) -> tuple[s.SortKey, ...]:
    """An order that goes on by all columns, so that a limit makes the same choice in every run."""
    sorted_by = {key.value for key in keys}
    rest = (s.reference(column) for column in columns if is_groupable(column.type))
    return (
        *keys,
        *(s.SortKey(v, ascending=True, nulls_first=True) for v in rest if v not in sorted_by),
    )


def rows_needed(limits: Sequence[r.Limit]) -> int | None:
    """How many rows at the front of their input limits need, the outermost first; None for all."""
    start, end = 0, None
    for limit in reversed(limits):
        start += limit.offset
        if limit.count is not None:
            end = start + limit.count if end is None else min(end, start + limit.count)
    return end

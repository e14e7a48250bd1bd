"""What the SQL of a program stands on: the tables that leaf operators read, and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import Scalar
from slacktide.program.bounding import Bound
from slacktide.program.operator import Moment, Operator, ReadChanges
from slacktide.spark.tables.materialised import Held
from slacktide.spark.tables.ranges import KeyRanges


class Leaves(Protocol):
    """Names of the tables that hold what leaf operators read."""

    def changes(self, source: str) -> str:
        """A table with the source's columns by name and ``__m``."""

    def snapshot(self, source: str, moment: Moment) -> str:
        """The same, as of a moment."""

    def fewest_read(self, operator: Operator) -> int:
        """How many rows an operator reads, at least."""

    def most_changed(self, operator: ReadChanges) -> float:
        """How many rows a change has, at most; infinite where that is not known."""

    def share_within(self, bound: Bound, found: Sequence[KeyRanges]) -> float:
        """The share of an input in which keys lie, of which the ranges were found; all of it where that is not known."""

    def materialised(self, operator: Operator) -> Held:
        """The rows of a bag, which are worked out now and held until the task has ended."""

    def is_held(self, operator: Operator) -> bool:
        """Whether the rows of a bag were worked out already."""

    def fits_one_task(self, operator: Operator) -> bool:
        """Whether what an operator reads is so little that one task reads it all; see `light.FEW_READ`."""

    def keys(self, operator: Operator, keys: Sequence[Scalar]) -> list[KeyRanges] | None:
        """The ranges in which keys of a small operator lie; None where they are too many."""

    def rows(self, source: str, moment: Moment) -> str:
        """A table with the source's columns alone: its rows as of a moment."""

    def stored(self, chain: str, columns: Columns, *, is_bag: bool) -> str:
        """A table of a chain at the start of the run: ``c0``, ``c1``, … and ``__m`` in a bag."""

    def pieces(self, chain: str, columns: Columns, first: int, *, is_bag: bool) -> str:
        """The same, of the base and segments from one on."""

    def saved(self, chain: str, columns: Columns, *, is_bag: bool) -> str:
        """The same, of what an earlier step of this run wrote."""

    def batch(self, view: str) -> str:
        """A table with the rows of the view's own query, columns by position."""

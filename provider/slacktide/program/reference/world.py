"""What a program reads and what it writes, in memory.

A bag is a list of rows with signed multiplicities. A state is a list of partial aggregates, merged or not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from slacktide.algebra.relation import Columns
from slacktide.program.operator import Moment
from slacktide.program.reference.bags import Bag
from slacktide.program.reference.relations import Rows

Data = Bag | Rows


class World(Protocol):
    """What a program reads: sources and stored things, as they are when the run starts."""

    def changes(self, source: str, columns: Columns) -> Bag:
        """The changes of a source in this run."""

    def snapshot(self, source: str, columns: Columns, moment: Moment) -> Bag:
        """A source at the start or end of this run."""

    def bag(self, chain: str, columns: Columns) -> Bag:
        """A stored bag, base and segments; empty where none is stored."""

    def state(self, chain: str, columns: Columns) -> Rows:
        """The stored partial aggregates of a state; empty where none are stored."""

    def pieces(self, chain: str, columns: Columns, first: int, *, is_bag: bool) -> Data:
        """A stored bag or state without the pieces, base and segments, before one of them."""

    def answer(self, view: str) -> Bag:
        """The answer of a view before this run; empty where it has none."""

    def batch(self, view: str) -> Rows:
        """The query of a view as its author wrote it, over the sources at the end of this run."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What a step wrote to a chain: a bag or partial aggregates, as base or as segment."""

    columns: Columns
    data: Data
    is_state: bool
    is_base: bool


@dataclass(frozen=True, slots=True)
class Published:
    """What a step published: the new base or segment of an answer, and the changes for readers."""

    columns: Columns
    data: Bag
    changes: Bag
    is_base: bool


@dataclass(frozen=True, slots=True)
class Merged:
    """What the pieces of a chain from one on were written anew as."""

    data: Data
    first: int
    is_state: bool


@dataclass(slots=True)
class Outcome:
    """What a run wrote."""

    saved: dict[str, Saved] = field(default_factory=dict)
    merged: dict[str, Merged] = field(default_factory=dict)
    published: dict[str, Published] = field(default_factory=dict)

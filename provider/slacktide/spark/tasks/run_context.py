"""What the tasks of one run share: where they read and write, and what they have found and written."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from slacktide.program.balance import Balance
from slacktide.spark.functions import called
from slacktide.spark.measures.metrics import Meter
from slacktide.spark.sessions.shelf import Shelves
from slacktide.spark.tasks.task import Query
from slacktide.store.record import FunctionRecord, Segment

if TYPE_CHECKING:
    from slacktide.store.store import Store
    from slacktide.store.world import World

Saved = dict[tuple[str, bool], Segment]
Emptiness = dict[tuple[str, frozenset[str], tuple[Hashable, ...], int, int], bool]
Balances = dict[tuple[str, tuple[str, ...], int, int], frozenset[Balance]]


@dataclass(frozen=True, slots=True)
class RunContext:
    """What the tasks of one run share.

    Attributes:
        shelves: the sessions that work, and the tables of each.
        meter: measures what they do.
        store: where segments are written.
        world: the log as it was when the run started.
        attempt: names this attempt; no other writes below its directories.
        now: the instant that functions of the clock give.
        saved: what tasks have written, by chain and whether it is a base. One view may extend a state
            that another of the run, a new one, builds anew.
        balances: what became of the keys of a source, by source, key and versions.
        empty: whether a part of the change of a source has no row, by the columns that are read, the keys and their
            balance, and the versions of the source.
    """

    shelves: Shelves
    meter: Meter
    store: Store
    world: World
    attempt: str
    now: datetime
    saved: Saved = field(default_factory=dict)
    balances: Balances = field(default_factory=dict)
    empty: Emptiness = field(default_factory=dict)

    def called(self, query: Query | None) -> list[FunctionRecord]:
        """The functions of users that a query calls."""
        if query is None:
            return []
        return called(self.world.functions.values(), (query.sql, *query.views.values()))

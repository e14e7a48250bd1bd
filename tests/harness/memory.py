"""A world in memory: sources with their history, and what runs wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from slacktide.algebra.relation import Columns, Rel
from slacktide.program.operator import Moment
from slacktide.program.reference.bags import Bag, consolidate, expand
from slacktide.program.reference.relations import Rows, Table, evaluate
from slacktide.program.reference.world import Data, Outcome


@dataclass
class MemorySource:
    """A source: the names of its columns and the signed bag of every arrival."""

    names: tuple[str, ...]
    arrivals: list[Bag] = field(default_factory=list)

    @property
    def version(self) -> int:
        return len(self.arrivals)

    def changes(self, start: int, end: int) -> Bag:
        return [item for arrival in self.arrivals[start:end] for item in arrival]

    def rows(self, version: int) -> Rows:
        return expand(self.changes(0, version), "a source")

    def pick(self, bag: Bag, columns: Columns) -> Bag:
        places = [self.names.index(column.name) for column in columns]
        return [(tuple(row[place] for place in places), count) for row, count in bag]


@dataclass
class MemoryWorld:
    """Implements `slacktide.program.reference.world.World`; `moment` is set before each run.

    Attributes:
        starts: by chain, where in what is stored each piece begins.
    """

    sources: Mapping[str, MemorySource]
    views: Mapping[str, Rel] = field(default_factory=dict)
    start: Mapping[str, int] = field(default_factory=dict)
    end: Mapping[str, int] = field(default_factory=dict)
    states: dict[str, Rows] = field(default_factory=dict)
    bags: dict[str, Bag] = field(default_factory=dict)
    answers: dict[str, Bag] = field(default_factory=dict)
    starts: dict[str, list[int]] = field(default_factory=dict)

    def versions(self) -> dict[str, int]:
        return {name: source.version for name, source in self.sources.items()}

    def tables(self, versions: Mapping[str, int] | None = None) -> dict[str, Table]:
        wanted = self.versions() if versions is None else versions
        return {
            name: Table(self.sources[name].names, self.sources[name].rows(version))
            for name, version in wanted.items()
        }

    def changes(self, source: str, columns: Columns) -> Bag:
        found = self.sources[source]
        return found.pick(found.changes(self.start.get(source, 0), self.end[source]), columns)

    def snapshot(self, source: str, columns: Columns, moment: Moment) -> Bag:
        found = self.sources[source]
        version = self.end[source] if moment == "after" else self.start[source]
        return found.pick(found.changes(0, version), columns)

    def bag(self, chain: str, columns: Columns) -> Bag:
        if chain.startswith("views/"):
            return self.answer(chain.removeprefix("views/"))
        return list(self.bags.get(chain, ()))

    def state(self, chain: str, columns: Columns) -> Rows:
        return list(self.states.get(chain, ()))

    def pieces(self, chain: str, columns: Columns, first: int, *, is_bag: bool) -> Data:
        stored = self.bag(chain, columns) if is_bag else self.state(chain, columns)
        return stored[self.starts[chain][first] :]

    def answer(self, view: str) -> Bag:
        return list(self.answers.get(view, ()))

    def batch(self, view: str) -> Rows:
        return evaluate(self.views[view], self.tables(self.end))

    def accept(self, outcome: Outcome) -> None:
        """Keep what a run wrote, bases in place of what was there, segments behind it."""
        for chain, saved in outcome.saved.items():
            store: dict = self.states if saved.is_state else self.bags
            before = [] if saved.is_base else store.get(chain, [])
            self._begins(chain, before)
            store[chain] = [*before, *saved.data]
        for view, published in outcome.published.items():
            before = [] if published.is_base else self.answers.get(view, [])
            self._begins(f"views/{view}", before)
            self.answers[view] = [*before, *published.data]

    def _begins(self, chain: str, before: list) -> None:
        self.starts[chain] = [*(self.starts.get(chain, []) if before else []), len(before)]

    def merge(self, outcome: Outcome) -> None:
        """Put what pieces were merged into in their place."""
        for chain, merged in outcome.merged.items():
            stores: tuple[dict, str] = (self.states if merged.is_state else self.bags, chain)
            if chain.startswith("views/"):
                stores = (self.answers, chain.removeprefix("views/"))
            store, name = stores
            starts = self.starts[chain]
            store[name] = [*store[name][: starts[merged.first]], *merged.data]
            del starts[merged.first + 1 :]


def same_bag(left: Bag, right: Bag) -> bool:
    """Whether two bags hold the same rows equally often."""
    return not consolidate([*left, *((row, -count) for row, count in right)])


def as_bag(rows: Sequence[tuple]) -> Bag:
    """Rows as a bag."""
    return [(row, 1) for row in rows]

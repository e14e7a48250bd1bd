"""The rows of every group of a memo, by the reference interpreter, and the proof that a group is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slacktide.algebra import relation as r
from slacktide.algebra.tree import sources as sources_of
from slacktide.common.node import Node
from slacktide.common.tree import rewrite
from slacktide.optimizer.expand import Expanded
from slacktide.optimizer.memo.hole import ChangesBetween, Hole, SnapshotAt
from slacktide.optimizer.memo.trait import SetDelta, SetSnap
from slacktide.program import operator as o
from slacktide.program.operator import Operator, operator_inputs
from slacktide.program.reference.aggregates import total
from slacktide.program.reference.bags import Bag, consolidate, negate
from slacktide.program.reference.ordering import group_keys
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.relations import Rows, evaluate
from tests.harness.memory import MemorySource, MemoryWorld, as_bag, same_bag
from tests.harness.plans import SourceShape

Batch = Mapping[str, Bag]
CHAIN = "out"


class Filled:
    """A plan space over data.

    Args:
        space: the plan space.
        tables: the changing tables, as the problem names them.
        shapes: of all sources.
        batches: what arrives at each instant, at the first one what is there from the start.
    """

    def __init__(
        self,
        space: Expanded,
        tables: tuple[str, ...],
        shapes: Sequence[SourceShape],
        batches: Sequence[Batch],
    ) -> None:
        self.memo = space.memo
        self._tables = tables
        self._sources = {shape.name: MemorySource(shape.names) for shape in shapes}
        for batch in batches:
            for name, source in self._sources.items():
                source.arrivals.append(list(batch.get(name, [])))
        self._instants = len(batches)
        self.rows: dict[int, Any] = {}
        self.tried = 0
        self._learn()

    def _learn(self) -> None:
        """Rows of groups that are linked come from batch, those of others from an expression."""
        for group in self.memo.groups:
            for tvr, trait in self.memo.linked(group):
                if isinstance(trait, SetSnap):
                    self.rows[group] = self.batch(tvr, trait.version)
                elif isinstance(trait, SetDelta):
                    before = self.batch(tvr, trait.start)
                    after = self.batch(tvr, trait.end)
                    self.rows[group] = consolidate([*after, *negate(before)])
        waiting = [g for g in self.memo.groups if g not in self.rows]
        while waiting:
            left = [group for group in waiting if not self._computed(group)]
            if len(left) == len(waiting):
                break
            waiting = left
        self.unknown = frozenset(g for g in waiting if self.memo.groups.expressions(g))

    def _computed(self, group: int) -> bool:
        for flat in self.memo.groups.expressions(group):
            if all(h.group in self.rows for h in _holes(flat)):
                self.rows[group] = self.run(flat)
                return True
        return False

    def batch(self, tvr: int, version: tuple[int, ...]) -> Bag:
        """What batch evaluation gives for a TVR at a version."""
        return self.evaluated(self.memo.relation(tvr), version)

    def evaluated(self, relation: r.Rel, version: tuple[int, ...]) -> Bag:
        """What batch evaluation gives for a relation at a version."""
        world = MemoryWorld(self._sources)
        versions = {name: self._number(name, version) for name in sources_of(relation)}
        return consolidate(as_bag(evaluate(relation, world.tables(versions))))

    def _number(self, name: str, version: tuple[int, ...]) -> int:
        """A constant table has what came with the first batch."""
        return version[self._tables.index(name)] if name in self._tables else 1

    def run(self, root: Operator) -> Any:
        """What operators give over the rows of the groups that they read, copies and their ends told apart.

        A key that came and went is touched, so that what says which keys are touched is not consolidated.
        """
        world = MemoryWorld(self._sources)

        def read(part: Node) -> Node | None:
            if isinstance(part, SnapshotAt | ChangesBetween):
                chain = f"l{part.digest.hex()}"
                world.bags[chain] = self._leaf(part)
            elif isinstance(part, Hole):
                chain = f"g{part.group}"
                (world.states if part.is_state else world.bags)[chain] = self.rows[part.group]
            else:
                return None
            return (o.ReadState if part.is_state else o.ReadBag)(chain, part.columns)

        program = o.Program((o.Save(CHAIN, rewrite(root, read), is_base=True),))
        return run_program(program, world).saved[CHAIN].data

    def _leaf(self, leaf: SnapshotAt | ChangesBetween) -> Bag:
        source = self._sources[leaf.source]
        if isinstance(leaf, SnapshotAt):
            found = source.changes(0, leaf.version or 1)
        else:
            found = source.changes(leaf.start, leaf.end)
        return consolidate(source.pick(found, leaf.fields))

    def differing(self) -> list[str]:
        """Expressions that do not give the rows of their group."""
        found = []
        for group in self.memo.groups:
            for flat in self.memo.groups.expressions(group):
                if group not in self.rows or any(h.group not in self.rows for h in _holes(flat)):
                    continue
                self.tried += 1
                if not same(self.run(flat), self.rows[group], self.memo.groups.hole(group)):
                    found.append(
                        f"{flat.tag} in group {group} ({sorted(map(str, self.memo.linked(group)))})"
                    )
        return found


def same(found: Any, expected: Any, hole: Hole) -> bool:
    """Whether two bags, or two states of one layout, are equal."""
    if not hole.is_state:
        return same_bag(found, expected)
    return merged(found, hole) == merged(expected, hole)


def merged(rows: Rows, hole: Hole) -> dict[object, tuple[Any, ...]]:
    """Partial aggregates per group, without groups that add nothing.

    The hidden count is the first column that is not a key; keys are those before it.
    """
    names = [column.name for column in hole.columns]
    first = names.index("__n")
    sums: dict[object, Rows] = {}
    for row in rows:
        sums.setdefault(group_keys(row[:first]), []).append(row)
    found = {}
    for key, parts in sums.items():
        values = tuple(
            total(column.type, [part[place] for part in parts])
            for place, column in enumerate(hole.columns)
            if place >= first
        )
        if any(values):
            found[key] = values
    return found


def _holes(flat: Operator) -> list[Hole]:
    return [part for part in operator_inputs(flat) if isinstance(part, Hole)]


def changing(relation: r.Rel) -> tuple[str, ...]:
    """The tables of a relation that may change."""
    return sources_of(relation)

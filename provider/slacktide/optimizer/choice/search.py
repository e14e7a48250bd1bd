"""Time-expanded dynamic programming over (node, instant) (tempura.md §4.3).

    best[O, τ] = min over alternatives of O of   c_τ(O) + Σ over inputs I of in(I, τ)
    in(I, τ)   = min( best[I, τ],  min over τ' < τ of best[I, τ'] + save_τ'(I) + load_τ(I) )

The space may be cyclic: a snapshot follows from a change, a change from two snapshots. Nodes are taken in
the order of their cost, as Knuth generalised Dijkstra's search to grammars: what is read is settled before
its reader. That is right because a cost is never less than that of a part of it. A way is replaced
by a strictly cheaper one alone, so that no node is ever read by itself, and costs of nothing do no harm.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from slacktide.optimizer.choice.objective import Key, Objective, plus
from slacktide.optimizer.choice.space import PlanSpace

State = tuple[int, int]
"""A node and an instant: that of the run which has it at hand."""


@dataclass(frozen=True, slots=True)
class Compute:
    """By an alternative, known by its place."""

    place: int


@dataclass(frozen=True, slots=True)
class Carry:
    """Saved at an earlier instant and loaded; shared where others load it too.

    At instant 0 it was saved before the first run.
    """

    saved_at: int
    is_shared: bool


Way = Compute | Carry
Label = tuple[Key, Way]


class Search:
    """The cheapest ways to all nodes at all instants, and how they change with states at hand.

    Args:
        space: the plan space.
        objective: what is cheap.

    Attributes:
        labels: of what can be had: its key, and the way to it.
    """

    def __init__(self, space: PlanSpace, objective: Objective) -> None:
        self._space = space
        self._objective = objective
        self._readers = _readers(space)
        self._own = _own_keys(space, objective)
        self._undo: list[list[tuple[State, Label | None]]] = []
        self.labels: dict[State, Label] = {}
        self._settle(self._starts())

    def key(self, node: int, instant: int) -> Key | None:
        """What it costs to have a node at an instant; None where it cannot be had."""
        label = self.labels.get((node, instant))
        return None if label is None else label[0]

    def share(self, state: State) -> None:
        """Have a node loaded from a state that others have paid for, from its instant on."""
        self._settle(self._carried(*state, self._objective.zero, is_shared=True))

    def begin(self) -> None:
        """Remember the labels as they are now."""
        self._undo.append([])

    def rollback(self) -> None:
        """Give the labels back that were remembered last."""
        for state, label in reversed(self._undo.pop()):
            if label is None:
                del self.labels[state]
            else:
                self.labels[state] = label

    def _starts(self) -> Iterable[tuple[State, Label]]:
        """What needs nothing else: leaves, and what was stored before the first instant."""
        for node in self._space.kept:
            yield from self._carried(node, 0, self._objective.zero, is_shared=True)
        for node, alternatives in self._space.alternatives.items():
            for place, alternative in enumerate(alternatives):
                if not alternative.inputs:
                    for instant, key in enumerate(self._own[node][place], start=1):
                        if key is not None:
                            yield (node, instant), (key, Compute(place))

    def _offered(self, node: int, place: int, instant: int) -> Key | None:
        """What an alternative costs at an instant; None where it cannot run, or is no cheaper."""
        key = self._own[node][place][instant - 1]
        if key is None:
            return None
        known = self.labels.get((node, instant))
        for child in self._space.alternatives[node][place].inputs:
            label = self.labels.get((child, instant))
            if label is None:
                return None
            key = plus(key, label[0])
            if known is not None and key >= known[0]:
                return None
        return key

    def _carried(
        self, node: int, saved_at: int, key: Key, *, is_shared: bool
    ) -> Iterable[tuple[State, Label]]:
        """A saved node in later runs; one that is shared in that of the same instant, too."""
        storage = self._space.storage.get(node)
        if storage is None:
            return
        way = Carry(saved_at, is_shared)
        first = max(1, saved_at if is_shared else saved_at + 1)
        for instant in range(first, self._space.instants + 1):
            loaded = self._objective.at(instant, storage.load[instant - 1])
            yield (node, instant), (plus(key, loaded), way)

    def _settle(self, offers: Iterable[tuple[State, Label]]) -> None:
        queue: list[tuple[Key, int, State, Way]] = []
        turn = 0
        for state, (key, way) in offers:
            turn += 1
            queue.append((key, turn, state, way))
        heapq.heapify(queue)
        while queue:
            key, _, state, way = heapq.heappop(queue)
            known = self.labels.get(state)
            if known is not None and known[0] <= key:
                continue
            if self._undo:
                self._undo[-1].append((state, known))
            self.labels[state] = (key, way)
            for further, (offer, by) in self._following(state, key, way):
                there = self.labels.get(further)
                if there is None or offer < there[0]:
                    turn += 1
                    heapq.heappush(queue, (offer, turn, further, by))

    def _following(self, state: State, key: Key, way: Way) -> Iterable[tuple[State, Label]]:
        """What gets cheaper with a node: its readers, and later runs that load it."""
        node, instant = state
        for reader, place in self._readers.get(node, ()):
            offer = self._offered(reader, place, instant)
            if offer is not None:
                yield (reader, instant), (offer, Compute(place))
        storage = self._space.storage.get(node)
        if storage is not None and isinstance(way, Compute):
            save = self._objective.at(instant, storage.save[instant - 1])
            yield from self._carried(node, instant, plus(key, save), is_shared=False)


def _readers(space: PlanSpace) -> Mapping[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for node, alternatives in space.alternatives.items():
        for place, alternative in enumerate(alternatives):
            for child in set(alternative.inputs):
                found[child].append((node, place))
    return found


def _own_keys(
    space: PlanSpace, objective: Objective
) -> Mapping[int, tuple[tuple[Key | None, ...], ...]]:
    """What each alternative costs without its inputs, by instant; None where it cannot run."""
    return {
        node: tuple(
            tuple(
                objective.at(instant, cost) if alternative.runs_at(instant) else None
                for instant, cost in enumerate(alternative.costs, start=1)
            )
            for alternative in alternatives
        )
        for node, alternatives in space.alternatives.items()
    }

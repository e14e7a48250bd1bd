"""A chosen plan: what each run computes, saves and loads, and what that costs (tempura.md §4.6, §4.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Union

from slacktide.errors import InvariantError
from slacktide.optimizer.choice.search import Carry, Search, State
from slacktide.optimizer.choice.space import PlanSpace


@dataclass(frozen=True, slots=True)
class Run:
    """A node is computed at an instant.

    Attributes:
        node: that is computed.
        instant: of the run.
        place: of the alternative.
        inputs: how the run has what the alternative reads, in its order.
    """

    node: int
    instant: int
    place: int
    inputs: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """A node is loaded at an instant.

    Attributes:
        node: that is loaded.
        instant: of the run that loads it.
        saved_at: the instant of the run that saved it; 0 before the first.
        made: how it was had there, where that is for this reader alone.
    """

    node: int
    instant: int
    saved_at: int
    made: Source | None


Source = Union[Run, Load]  # noqa: UP007 (refers to itself)


@dataclass(frozen=True, slots=True)
class SharedState:
    """A node that one run saves and several load."""

    node: int
    instant: int
    made: Source


@dataclass(frozen=True, slots=True)
class Lifespan:
    """From when to when something is stored: it may go once the last run that loads it has committed."""

    node: int
    saved_at: int
    last_loaded: int


@dataclass(frozen=True, slots=True)
class ChosenPlan:
    """A plan over all instants.

    Attributes:
        goals: how what is due is had, in the order of the goals.
        states: that are saved for more than one reader; each may load those before it.
    """

    goals: tuple[Source, ...]
    states: tuple[SharedState, ...]

    def uses(self) -> Iterator[tuple[Source, int]]:
        """Everything that is computed or loaded, each with how often, readers first."""
        roots = [*self.goals, *(state.made for state in self.states)]
        times = Counter(map(id, roots))
        for source in reversed(list(_inputs_first(roots))):
            yield source, times[id(source)]
            for item in _inputs(source):
                times[id(item)] += times[id(source)]

    def saved(self) -> Iterator[tuple[int, Source]]:
        """What runs save for others, and how they have it; each after what it is made of."""
        for state in self.states:
            yield state.node, state.made
        for source, _ in reversed(list(self.uses())):
            if isinstance(source, Load) and source.made is not None:
                yield source.node, source.made

    def costs(self, space: PlanSpace) -> tuple[int, ...]:
        """What each instant costs, added up from what the plan does."""
        sums = [0] * space.instants
        for source, times in self.uses():
            if isinstance(source, Run):
                alternative = space.alternatives[source.node][source.place]
                sums[source.instant - 1] += times * alternative.costs[source.instant - 1]
                continue
            storage = space.storage[source.node]
            sums[source.instant - 1] += times * storage.load[source.instant - 1]
            if source.made is not None:
                sums[source.saved_at - 1] += times * storage.save[source.saved_at - 1]
        owed = [(goal.node, goal.instant) for goal in space.goals if goal.is_saved]
        for node, instant in (*owed, *((state.node, state.instant) for state in self.states)):
            sums[instant - 1] += space.storage[node].save[instant - 1]
        return tuple(sums)

    def lifespans(self) -> tuple[Lifespan, ...]:
        """What is stored, and until when."""
        last: dict[State, int] = {}
        for source, _ in self.uses():
            if isinstance(source, Load) and source.saved_at > 0:
                key = (source.node, source.saved_at)
                last[key] = max(last.get(key, 0), source.instant)
        return tuple(Lifespan(*key, instant) for key, instant in sorted(last.items()))

    def check(self, space: PlanSpace) -> None:
        """Refuse a plan that could not be run (Definition 5 of Tempura).

        Raises:
            InvariantError: something is used before it is there.
        """
        shared = {(state.node, state.instant) for state in self.states}
        for source, _ in self.uses():
            if isinstance(source, Load):
                _check_load(source, shared, space)
                continue
            alternative = space.alternatives[source.node][source.place]
            if not alternative.runs_at(source.instant):
                raise InvariantError(f"node {source.node} runs when its source is not at hand")
            if tuple(item.node for item in source.inputs) != alternative.inputs:
                raise InvariantError(f"node {source.node} reads other nodes than its alternative")
            if any(item.instant != source.instant for item in source.inputs):
                raise InvariantError(f"node {source.node} reads what another run has")
        for goal, source in zip(space.goals, self.goals, strict=True):
            if (goal.node, goal.instant) != (source.node, source.instant):
                raise InvariantError(f"node {goal.node} is not there when it is due")


def _inputs(source: Source) -> tuple[Source, ...]:
    if isinstance(source, Run):
        return source.inputs
    return () if source.made is None else (source.made,)


def _inputs_first(roots: Sequence[Source]) -> Iterator[Source]:
    """Each source once, by identity, as a plan may have very many paths to it."""
    seen: set[int] = set()
    stack = [(root, False) for root in roots]
    while stack:
        source, is_ready = stack.pop()
        if id(source) in seen:
            continue
        if is_ready:
            seen.add(id(source))
            yield source
        else:
            stack.append((source, True))
            stack.extend((item, False) for item in _inputs(source))


def _check_load(load: Load, shared: set[State], space: PlanSpace) -> None:
    if load.saved_at > load.instant:
        raise InvariantError(f"node {load.node} is loaded before it is saved")
    if load.made is None:
        if load.saved_at == 0 and load.node in space.kept:
            return
        if (load.node, load.saved_at) not in shared:
            raise InvariantError(f"node {load.node} is loaded and nobody saves it")
    elif (load.made.node, load.made.instant) != (load.node, load.saved_at):
        raise InvariantError(f"node {load.node} is loaded as another was saved")


def source_of(space: PlanSpace, search: Search, state: State) -> Source:
    """How a search has a node at an instant, inputs first, as deep as it may be."""
    done: dict[State, Source] = {}
    waiting: set[State] = set()
    stack = [state]
    while stack:
        node, instant = stack[-1]
        if (node, instant) in done:  # it was needed twice
            stack.pop()
            continue
        _, way = search.labels[node, instant]
        if isinstance(way, Carry):
            needed = [] if way.is_shared else [(node, way.saved_at)]
        else:
            needed = [(child, instant) for child in space.alternatives[node][way.place].inputs]
        open_ones = [other for other in needed if other not in done]
        if open_ones:
            if (node, instant) in waiting:
                raise InvariantError(f"node {node} follows from itself")
            waiting.add((node, instant))
            stack.extend(open_ones)
            continue
        stack.pop()
        if isinstance(way, Carry):
            made = done[needed[0]] if needed else None
            done[node, instant] = Load(node, instant, way.saved_at, made)
        else:
            inputs = tuple(done[other] for other in needed)
            done[node, instant] = Run(node, instant, way.place, inputs)
    return done[state]

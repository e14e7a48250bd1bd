"""What is chosen from: nodes, each with alternatives over other nodes, priced per instant.

The memo of a view is one such space; nothing here knows what the nodes are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slacktide.errors import InvariantError


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to compute a node.

    Attributes:
        inputs: the nodes that it reads; one that it reads twice stands twice.
        costs: at each instant, the first one first; without what computing the inputs costs.
        earliest: the first instant at which it can run for reasons other than its inputs.
        latest: the last such instant; None for no end.
    """

    inputs: tuple[int, ...]
    costs: tuple[int, ...]
    earliest: int = 1
    latest: int | None = None

    def __post_init__(self) -> None:
        if min(self.costs, default=0) < 0:
            raise InvariantError("an alternative costs less than nothing")

    def runs_at(self, instant: int) -> bool:
        """Whether it can run at an instant for reasons other than its inputs."""
        return self.earliest <= instant and (self.latest is None or instant <= self.latest)


@dataclass(frozen=True, slots=True)
class Storage:
    """What it costs to carry a node from one instant to another.

    Attributes:
        save: at each instant, once however often it is loaded.
        load: at each instant.
    """

    save: tuple[int, ...]
    load: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Goal:
    """A node that is due at an instant.

    Attributes:
        node: that is due.
        instant: at which.
        is_saved: whether it is owed to runs after the last one, and saved for them.
    """

    node: int
    instant: int
    is_saved: bool = False


@dataclass(frozen=True, slots=True)
class PlanSpace:
    """A space of plans.

    Attributes:
        instants: how many runs there are; they are counted from 1.
        alternatives: of each node; a node without any cannot be computed.
        storage: of the nodes that can be carried over.
        goals: what is due.
        kept: nodes that were stored before the first instant: loading is all that they cost.
    """

    instants: int
    alternatives: Mapping[int, tuple[Alternative, ...]]
    storage: Mapping[int, Storage]
    goals: tuple[Goal, ...]
    kept: frozenset[int] = field(default_factory=frozenset)

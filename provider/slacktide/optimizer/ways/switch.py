"""What a view remembers from one run on, and by which program that run goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from slacktide.algebra import relation as r
from slacktide.algebra.tree import sources
from slacktide.optimizer.programs.maintenance import Maintenance


@dataclass(frozen=True, slots=True)
class Switch:
    """What a view starts or stops to remember, and why.

    Attributes:
        rel: the join.
        chain: that holds it.
        starts: whether it starts.
        saving: seconds of CPU that a run is expected to take less from then on, by increments or in full as is cheaper without.
        cost: seconds of CPU that this run takes more.
    """

    rel: r.Rel
    chain: str
    starts: bool
    saving: float
    cost: float

    def to_dict(self) -> dict[str, Any]:
        """Give the form that plans store."""
        return {
            "join_of": list(sources(self.rel)),
            "chain": self.chain,
            "starts": self.starts,
            "saving": round(self.saving, 3),
            "cost": round(self.cost, 3),
        }


@dataclass(frozen=True, slots=True)
class Remembering:
    """An incremental program, and what is remembered once it has run, or once the states were built instead.

    Attributes:
        maintenance: the program; with the write that starts, where one starts.
        chains: of the joins, sorted.
        switch: what is otherwise than before; None for nothing.
    """

    maintenance: Maintenance
    chains: tuple[str, ...]
    switch: Switch | None = None

    def told(self) -> dict[str, Any]:
        """What plans store of it."""
        return {"remembering": self.switch.to_dict()} if self.switch else {}

"""What the views of an arena remember, removed by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slacktide.engine.workspace import Workspace
from slacktide.store import update as u
from slacktide.store.naming import segments
from slacktide.store.record import Chain

REMEMBERED = ("states/", "sources/")
FORGOTTEN, LOST = "forgotten", "lost"


@dataclass(frozen=True, slots=True)
class Removal:
    """States and mirrors that go before a run.

    Attributes:
        how: whether the log forgets them, or their files are lost.
        chains: which of them, by their ids; all of them where none is named.
    """

    how: str
    chains: Sequence[str] = ()

    def apply(self, ws: Workspace) -> None:
        """Remove those that are there."""
        gone = [c for c in remembered(ws) if not self.chains or c.id in self.chains]
        if self.how == FORGOTTEN:
            ws._store.commit([u.DropChain(chain.id) for chain in gone])
            return
        files = [file for chain in gone for piece in segments(chain) for file in piece.files]
        for file in files:
            (Path(ws.root) / file.path).unlink(missing_ok=True)

    def to_dict(self) -> dict[str, Any]:
        """The form in a fixture."""
        return {"how": self.how, **({"chains": [*self.chains]} if self.chains else {})}

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Removal:
        """Read a fixture."""
        return cls(document["how"], document.get("chains", ()))


def some(ws: Workspace, how: str, dice: random.Random) -> Removal:
    """Remove some of what is remembered, and not all where there are several."""
    names = sorted(chain.id for chain in remembered(ws))
    most = max(len(names) - 1, 1)
    return Removal(how, sorted(dice.sample(names, min(len(names), dice.randint(1, most)))))


def remembered(ws: Workspace) -> list[Chain]:
    """The states and mirrors that are there."""
    chains = ws._store.world().chains
    return [chain for name, chain in chains.items() if name.startswith(REMEMBERED)]

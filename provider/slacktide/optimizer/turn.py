"""The place of a run between two answers of a view that is due only now and then, as plans store it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

Versions = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Turn:
    """One refresh of a period.

    Attributes:
        number: of the refresh in its period, from 1.
        of: how many refreshes a period has; the answer is due at the last.
        reached: versions of each refresh of the period that has stored something once this one is done.
        chains: what these have stored, each with the sources that it is made of, where this refresh writes it.
        expects: versions of the chains that the program counts on.
    """

    number: int
    of: int
    reached: tuple[Versions, ...] = ()
    chains: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    expects: Mapping[str, Versions] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_due(self) -> bool:
        """Whether the answer is due."""
        return self.number >= self.of

    def to_dict(self) -> dict[str, Any]:
        """Give the stored form."""
        return {
            "number": self.number,
            "of": self.of,
            "reached": [dict(versions) for versions in self.reached],
            "chains": {chain: list(sources) for chain, sources in self.chains.items()},
            "expects": {chain: dict(versions) for chain, versions in self.expects.items()},
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Turn:
        """Read the stored form."""
        return cls(
            number=document["number"],
            of=document["of"],
            reached=tuple(document["reached"]),
            chains={chain: tuple(sources) for chain, sources in document["chains"].items()},
            expects=document["expects"],
        )

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
        reached: versions of the refreshes of the period that have stored something before this one.
        stored: the chains that they have written and that this one keeps.
        writes: the chains that this one writes, each with the sources that it is made of.
        expects: versions of the chains that the program counts on.
    """

    number: int
    of: int
    reached: tuple[Versions, ...] = ()
    stored: tuple[str, ...] = ()
    writes: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    expects: Mapping[str, Versions] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_due(self) -> bool:
        """Whether the answer is due."""
        return self.number >= self.of

    @property
    def keeps(self) -> tuple[str, ...]:
        """What is there for the due refresh once this one is done; nothing once the answer is."""
        return () if self.is_due else (*self.stored, *self.writes)

    def to_dict(self) -> dict[str, Any]:
        """Give the stored form."""
        return {
            "number": self.number,
            "of": self.of,
            "reached": [dict(versions) for versions in self.reached],
            "stored": list(self.stored),
            "writes": {chain: list(sources) for chain, sources in self.writes.items()},
            "expects": {chain: dict(versions) for chain, versions in self.expects.items()},
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Turn:
        """Read the stored form."""
        return cls(
            number=document["number"],
            of=document["of"],
            reached=tuple(document["reached"]),
            stored=tuple(document["stored"]),
            writes={chain: tuple(sources) for chain, sources in document["writes"].items()},
            expects=document["expects"],
        )

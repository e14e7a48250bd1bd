"""What the other views of a workspace keep, which a run of one of them may share or must leave alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

Names = Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True)
class Others:
    """The views besides one.

    Attributes:
        view: the one.
        needing: by chain, the views whose operators need it, this one among them.
        holding: by chain, the views that have it as of their answers, needed or remembered, this one among them.
    """

    view: str = ""
    needing: Names = field(default_factory=lambda: MappingProxyType({}))
    holding: Names = field(default_factory=lambda: MappingProxyType({}))

    def need(self, chain: str) -> bool:
        """Whether the operators of another view need a chain."""
        return any(name != self.view for name in self.needing.get(chain, ()))

    def hold(self, chain: str) -> bool:
        """Whether another view has a chain as of its answer: what writes it anew takes it from that."""
        return any(name != self.view for name in self.holding.get(chain, ()))


NOBODY: Final = Others()
"""Where there is one view."""

"""What a group is to a time-varying relation: a snapshot or a change of it, as rows or as a state.

Tempura's intra-TVR traits (tempura.md §2, §3.1), and the base of its inter-TVR traits. Both kinds are
compared by value; a user's own is one more subclass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from slacktide.errors import InvariantError
from slacktide.optimizer.memo.versions import Version

Mapped = Callable[[Version], Version]


@dataclass(frozen=True, slots=True)
class Trait:
    """Base of what a group may be to a relation."""

    def versions(self) -> tuple[Version, ...]:
        """The versions that it speaks of, the last one last."""
        raise InvariantError(f"{type(self).__name__} does not say its versions")

    def mapped(self, _change: Mapped) -> Self:
        """The same with every version replaced."""
        raise InvariantError(f"{type(self).__name__} does not replace its versions")


@dataclass(frozen=True, slots=True)
class SetSnap(Trait):
    """All rows of a relation at a version, as a bag."""

    version: Version

    def versions(self) -> tuple[Version, ...]:
        return (self.version,)

    def mapped(self, _change: Mapped) -> Self:
        return type(self)(_change(self.version))


@dataclass(frozen=True, slots=True)
class SetDelta(Trait):
    """What leads from the rows of one version to those of another, as a signed bag."""

    start: Version
    end: Version

    def versions(self) -> tuple[Version, ...]:
        return (self.start, self.end)

    def mapped(self, _change: Mapped) -> Self:
        return type(self)(_change(self.start), _change(self.end))


@dataclass(frozen=True, slots=True)
class ValSnap(Trait):
    """The partial aggregates of all rows at a version.

    Attributes:
        layout: digest of the aggregate that gives the columns of the state.
        version: of the rows.
    """

    layout: bytes
    version: Version

    def versions(self) -> tuple[Version, ...]:
        return (self.version,)

    def mapped(self, _change: Mapped) -> Self:
        return type(self)(self.layout, _change(self.version))


@dataclass(frozen=True, slots=True)
class ValDelta(Trait):
    """What the partial aggregates of a version are extended by to be those of another."""

    layout: bytes
    start: Version
    end: Version

    def versions(self) -> tuple[Version, ...]:
        return (self.start, self.end)

    def mapped(self, _change: Mapped) -> Self:
        return type(self)(self.layout, _change(self.start), _change(self.end))


@dataclass(frozen=True, slots=True)
class Tie:
    """Base of what one relation may be to another: an inter-TVR trait."""

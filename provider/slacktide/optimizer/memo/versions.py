"""Versions of relations: one number per table that changes (tempura.md §1.5).

Where all numbers are alike, a version is an instant at which a run may happen; others are virtual:
they lie between two instants, belong to no run, and serve methods that take one table at a time.
A version of a relation speaks of the tables that it reads; the places of others hold 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables that change, in the order of the numbers of a version.

    Attributes:
        names: of the tables; all others are constant.
    """

    names: tuple[str, ...]

    def at(self, instant: int, used: frozenset[str]) -> Version:
        """The version of a relation over some tables at an instant."""
        return tuple(instant if name in used else 0 for name in self.names)

    def within(self, version: Version, used: frozenset[str]) -> Version:
        """What a version says of a relation over fewer tables."""
        return tuple(
            number if name in used else 0 for name, number in zip(self.names, version, strict=True)
        )

    def changed(self, start: Version, end: Version) -> frozenset[str]:
        """The tables that differ between two versions."""
        triples = zip(self.names, start, end, strict=True)
        return frozenset(name for name, before, after in triples if before != after)

    def number(self, version: Version, name: str) -> int:
        """The version of one table; 0 of one that is constant."""
        return version[self.names.index(name)] if name in self.names else 0

    def step(self, start: Version, end: Version, used: frozenset[str]) -> Version:
        """The version that has some tables as of `end` and the others as of `start`."""
        triples = zip(self.names, start, end, strict=True)
        return tuple(after if name in used else before for name, before, after in triples)


def realised(version: Version) -> int:
    """The first instant at which a version can be computed; 1 of what is constant."""
    return max((1, *version))


def predecessor(version: Version) -> Version | None:
    """The version one interval earlier: the newest tables as they were; None at the first instant."""
    newest = realised(version)
    if newest == 1:
        return None
    return tuple(number - 1 if number == newest else number for number in version)


def moved(version: Version, instants: int) -> Version:
    """The same version later: translational symmetry."""
    return tuple(number + instants if number else 0 for number in version)


def instants_of(*versions: Version) -> Iterator[int]:
    """The instants that versions speak of."""
    for version in versions:
        yield from (number for number in version if number)

"""What a plan is chosen for: orders of costs per instant (tempura.md §4.2).

Costs are whole numbers (of millionths of a second, of tuples, of whatever the prices are in): of two plans
that differ by a rounding the later instant would decide everything, and a tolerance is no order.
A cost is compared by its key, a tuple. Keys add, and adding keeps their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import add
from typing import Protocol

from slacktide.errors import InvalidSettingError

Key = tuple[int, ...]


class Objective(Protocol):
    """An order of costs."""

    @property
    def zero(self) -> Key:
        """The key of a plan that costs nothing."""

    def at(self, instant: int, cost: int) -> Key:
        """The key of a cost at an instant, the first being 1."""

    @property
    def prefers_early(self) -> bool:
        """Whether the same work is cheaper at every earlier instant (Theorem 7)."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """The weighted sum over the instants: c̃_w. Keys are in units of the weights' least common part.

    Attributes:
        weights: of the instants, the first one first.
    """

    weights: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not self.weights or min(self.weights) < 0:
            raise InvalidSettingError(
                f"weights {', '.join(map(str, self.weights))}",
                hint="give each instant a weight of 0 or more",
            )

    @property
    def zero(self) -> Key:
        """The key of a plan that costs nothing."""
        return (0,)

    @property
    def unit(self) -> int:
        """By how much a key is larger than the weighted sum."""
        return lcm(*(weight.denominator for weight in self.weights))

    def at(self, instant: int, cost: int) -> Key:
        """The key of a cost at an instant."""
        weight = self.weights[instant - 1] * self.unit
        return (weight.numerator * cost,)

    @property
    def prefers_early(self) -> bool:
        """Whether the weights rise strictly."""
        return all(a < b for a, b in zip(self.weights, self.weights[1:], strict=False))


def weighted(weights: Sequence[str | int]) -> Weighted:
    """Weights as users write them: ``["0.2", 1]``."""
    return Weighted(tuple(Fraction(weight) for weight in weights))


def total(instants: int) -> Weighted:
    """Least total work."""
    return Weighted((Fraction(1),) * instants)


@dataclass(frozen=True, slots=True)
class LastFirst:
    """The reverse lexicographic order: c̃_v. The last instant decides, then the one before it.

    Attributes:
        instants: how many there are.
    """

    instants: int

    @property
    def zero(self) -> Key:
        """The key of a plan that costs nothing."""
        return (0,) * self.instants

    def at(self, instant: int, cost: int) -> Key:
        """The key of a cost at an instant."""
        place = self.instants - instant
        return (0,) * place + (cost,) + (0,) * (instant - 1)

    @property
    def prefers_early(self) -> bool:
        """Whether the same work is cheaper at every earlier instant: by definition."""
        return True


def plus(one: Key, other: Key) -> Key:
    """The sum of two keys of one objective."""
    return tuple(map(add, one, other))

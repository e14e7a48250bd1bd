"""Balances: what the multiplicities of all rows of a key add up to, and what that says of the key.

One table for all who ask: the interpreters, and the look at what came before a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from typing import Literal as OneOf

Balance = OneOf["gone", "kept", "came", "repeated"]


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums that a balance stands for; None where there is no bound."""

    least: int | None
    most: int | None

    def has(self, total: int) -> bool:
        """Whether a sum is one of them."""
        return (self.least is None or self.least <= total) and (
            self.most is None or total <= self.most
        )

    def sql(self, total: str) -> str:
        """The same as a condition on an expression in SQL."""
        if self.least == self.most:
            return f"{total} = {self.least}"
        bounds = ((">=", self.least), ("<=", self.most))
        return " AND ".join(f"{total} {sign} {at}" for sign, at in bounds if at is not None)


BALANCES: Final[Mapping[Balance, Sums]] = MappingProxyType(
    {"gone": Sums(None, -1), "kept": Sums(0, 0), "came": Sums(1, None), "repeated": Sums(2, None)}
)


def clamped_sql(total: str) -> str:
    """A sum, in SQL, as the nearest of the few that tell all balances apart."""
    bounds = [at for sums in BALANCES.values() for at in (sums.least, sums.most) if at is not None]
    return f"greatest({min(bounds)}, least({max(bounds)}, {total}))"


def balances_of(total: int) -> frozenset[Balance]:
    """The balances of a sum."""
    return frozenset(name for name, sums in BALANCES.items() if sums.has(total))

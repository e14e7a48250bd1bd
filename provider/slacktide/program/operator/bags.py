"""Operators over bags as a whole: sums, cancelled copies, balances of keys, first rows of an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import SortKey
from slacktide.algebra.types import BOOLEAN
from slacktide.errors import InvariantError
from slacktide.program.balance import Balance
from slacktide.program.operator.base import Operator


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Add(Operator):
    """The sum of relations of one form: their rows one after another, columns by position."""

    tag: ClassVar[str] = "add"
    children: tuple[Operator, ...]
    fields: Columns

    def check(self) -> None:
        for child in self.children:
            if len(child.columns) != len(self.fields):
                raise InvariantError(
                    f"a summand has {len(child.columns)} columns, the sum {len(self.fields)}"
                )
        if len({child.is_state for child in self.children}) > 1:
            raise InvariantError("a sum adds bags to states")

    def derive(self) -> Columns:
        return self.fields

    def derive_form(self) -> bool:
        return any(child.is_state for child in self.children)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Negate(Operator):
    """The same rows with opposite multiplicities."""

    tag: ClassVar[str] = "negate"
    child: Operator

    def derive(self) -> Columns:
        return self.child.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Consolidate(Operator):
    """Equal rows once, with the sum of their multiplicities; none where that is zero."""

    tag: ClassVar[str] = "consolidate"
    child: Operator

    def derive(self) -> Columns:
        return self.child.columns


def consolidated(rows: Operator) -> Operator:
    """Equal rows once, if they may come twice; partial aggregates stay as they are."""
    return rows if rows.is_state or isinstance(rows, Consolidate) else Consolidate(rows)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ByBalance(Operator):
    """The rows of a bag whose key has a balance: what the multiplicities of all its rows add up to.

    In a change, a key is ``gone`` with a negative balance, ``came`` with a positive one, and was
    ``kept`` with none: its row was updated. A key is ``repeated`` with a balance of more than one.
    """

    tag: ClassVar[str] = "by_balance"
    child: Operator
    keys: Columns
    balance: Balance

    def derive(self) -> Columns:
        return self.child.columns


MOST_FIRST: Final = 100_000
"""As many rows may be first at most: Spark picks them out of every partition before they meet."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class First(Operator):
    """The first rows of a bag in an order, and the fence behind them.

    The last column of `child` marks fences. Of the other rows the first `count` are given, copies
    counted, together with all that tie with the last of them. Where there are so many, that last row is
    given once more, marked, as the fence: more may lie behind it. Where there are fewer, the fences of
    `child` stay, as what lies behind them is not in `child`.
    """

    tag: ClassVar[str] = "first"
    child: Operator
    order: tuple[SortKey, ...]
    count: int

    def check(self) -> None:
        if not self.child.columns or self.child.columns[-1].type != BOOLEAN:
            raise InvariantError("the last column of what is cut off marks fences")
        if not self.order or not 1 <= self.count <= MOST_FIRST:
            raise InvariantError(
                f"an order and a number up to {MOST_FIRST} say which rows are first"
            )

    def derive(self) -> Columns:
        return self.child.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UpTo(Operator):
    """The rows of `child` that come after no row of `fence` in an order; all where it has no rows.

    Both have the columns of the order.
    """

    tag: ClassVar[str] = "up_to"
    child: Operator
    fence: Operator
    order: tuple[SortKey, ...]

    def derive(self) -> Columns:
        return self.child.columns

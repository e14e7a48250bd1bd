"""Operators over rows of bags, each row or pair of rows by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from slacktide.algebra.relation import Columns, chosen
from slacktide.algebra.scalar import Assignment, Call, Reference, Scalar
from slacktide.program.operator.base import Operator


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Select(Operator):
    """The rows for which a predicate is true."""

    tag: ClassVar[str] = "select"
    child: Operator
    predicate: Scalar

    def derive(self) -> Columns:
        return self.child.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Map(Operator):
    """One row for each row, with the assigned columns and the same multiplicity."""

    tag: ClassVar[str] = "map"
    child: Operator
    outputs: tuple[Assignment, ...]

    def derive(self) -> Columns:
        return tuple(output.column for output in self.outputs)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JoinBags(Operator):
    """The pairs of rows for which a condition is true; multiplicities multiply."""

    tag: ClassVar[str] = "join_bags"
    left: Operator
    right: Operator
    condition: Scalar | None

    def derive(self) -> Columns:
        return self.left.columns + self.right.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SemiBags(Operator):
    """The rows of `left` that some row of `right` meets, or with `negated` none.

    A row of `right` counts when its multiplicities do not add up to zero: in a snapshot the rows
    that are there, in a change those that differ. Rows of `left` keep their multiplicities.
    """

    tag: ClassVar[str] = "semi_bags"
    left: Operator
    right: Operator
    condition: Scalar | None
    negated: bool

    def derive(self) -> Columns:
        return self.left.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Flips(Operator):
    """The rows of `child` that meet a row of `after` and none of `before`, and less the contrary.

    Rows of `before` and `after` count as in `SemiBags`; both have the same columns.
    """

    tag: ClassVar[str] = "flips"
    child: Operator
    before: Operator
    after: Operator
    condition: Scalar | None

    def derive(self) -> Columns:
        return self.child.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExpandBag(Operator):
    """Each row once for every projection, with its multiplicity."""

    tag: ClassVar[str] = "expand_bag"
    child: Operator
    projections: tuple[tuple[Scalar, ...], ...]
    fields: Columns

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GenerateBag(Operator):
    """Each row with every row that a generator makes of it, with its multiplicity."""

    tag: ClassVar[str] = "generate_bag"
    child: Operator
    generator: Call
    outer: bool
    kept: tuple[Reference, ...]
    fields: Columns

    def derive(self) -> Columns:
        return chosen(self.child.columns, self.kept) + self.fields

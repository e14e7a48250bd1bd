"""Aggregates in the state form: partials are made, added up, paired, and finished."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import Assignment, Call, Cast, Column, Reference, Scalar
from slacktide.algebra.tree import references
from slacktide.common.node import Node
from slacktide.errors import InvariantError
from slacktide.program.operator.base import Additive, Operator


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Partial(Node):
    """One additive column of an aggregate state.

    ``count`` adds the multiplicities of rows whose argument is not NULL (of all rows without an
    argument), ``sum`` adds the argument, by sign, in the column's type; nothing adds up to zero.
    """

    tag: ClassVar[str] = "partial"
    column: Column
    function: Additive
    argument: Scalar | None
    filter: Scalar | None

    def check(self) -> None:
        if self.function == "sum" and self.argument is None:
            raise InvariantError("a sum needs an argument")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Summarise(Operator):
    """A bag as partial aggregates: one row per group that occurs in it."""

    tag: ClassVar[str] = "summarise"
    child: Operator
    keys: tuple[Assignment, ...]
    partials: tuple[Partial, ...]

    def derive(self) -> Columns:
        keys = tuple(key.column for key in self.keys)
        return keys + tuple(partial.column for partial in self.partials)

    def derive_form(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Combine(Operator):
    """Partial aggregates merged per group; without keys exactly one row."""

    tag: ClassVar[str] = "combine"
    child: Operator
    keys: Columns

    def derive(self) -> Columns:
        return self.child.columns

    def derive_form(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Nonzero(Operator):
    """The partial aggregates that add something: those with one that is not zero, keys aside."""

    tag: ClassVar[str] = "nonzero"
    child: Operator
    keys: Columns

    def derive(self) -> Columns:
        return self.child.columns

    def derive_form(self) -> bool:
        return True

    @property
    def partials(self) -> Columns:
        """The columns besides the keys."""
        keys = {column.id for column in self.keys}
        return tuple(column for column in self.columns if column.id not in keys)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Regroup(Operator):
    """Partial aggregates of some groups told by other keys, row by row; merging is left to who reads them.

    Only keys choose and tell groups, and a partial aggregate stays one: it is passed on, widened or
    taken away. What a predicate said of a part of a sum, it would not say of the sum.
    """

    tag: ClassVar[str] = "regroup"
    child: Operator
    groups: Columns
    predicate: Scalar | None
    keys: tuple[Assignment, ...]
    partials: tuple[Assignment, ...]

    def check(self) -> None:
        if not self.child.is_state:
            raise InvariantError("rows are not regrouped, partial aggregates are")
        groups = frozenset(column.id for column in self.groups)
        asked = [key.value for key in self.keys]
        asked += [] if self.predicate is None else [self.predicate]
        if not all(references(value) <= groups for value in asked):
            raise InvariantError("groups are chosen and told by their keys alone")
        passed = [_passed(partial.value) for partial in self.partials]
        if any(column is None or column in groups for column in passed):
            raise InvariantError("a partial aggregate is passed on, widened or taken away")

    @property
    def outputs(self) -> tuple[Assignment, ...]:
        """The keys, then the partials."""
        return self.keys + self.partials

    def derive(self) -> Columns:
        return tuple(output.column for output in self.outputs)

    def derive_form(self) -> bool:
        return True


def _passed(value: Scalar) -> int | None:
    """The column that a value passes on, up to its sign and width."""
    while not isinstance(value, Reference):
        match value:
            case Cast():
                value = value.operand
            case Call(function="negative"):
                value = value.arguments[0]
            case _:
                return None
    return value.column


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pair(Node):
    """A key of one operator and the key of another that it is compared with."""

    tag: ClassVar[str] = "pair"
    own: Scalar
    other: Scalar


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Touched(Operator):
    """The rows of `child` whose keys occur in `by`, in the form of `child`; NULL matches NULL.

    Rows of `by` count whatever their multiplicities add up to: a key that came and went is touched.
    """

    tag: ClassVar[str] = "touched"
    child: Operator
    by: Operator
    keys: tuple[Pair, ...]

    def derive(self) -> Columns:
        return self.child.columns

    def derive_form(self) -> bool:
        return self.child.is_state


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Finish(Operator):
    """Merged partial aggregates as rows of the result, each once.

    A group whose hidden count is zero is gone, except the one group of an aggregate without keys.
    """

    tag: ClassVar[str] = "finish"
    child: Operator
    count: int
    outputs: tuple[Assignment, ...]
    is_global: bool

    def derive(self) -> Columns:
        return tuple(output.column for output in self.outputs)

"""Scalar expressions: typed, immutable, with Spark's semantics.

Operators and functions are `Call`s by name; how a name is written in SQL stands in
`slacktide.algebra.functions`, how the reference evaluates it in `slacktide.program.reference`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from slacktide.algebra.types import DataType
from slacktide.common.node import Node
from slacktide.errors import InvariantError

if TYPE_CHECKING:
    from slacktide.algebra.relation import Rel


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Column(Node):
    """A column of a relation: an id for plans, a name for people.

    Ids are unique inside one view; no code compares names after binding.
    """

    tag: ClassVar[str] = "column"
    id: int
    name: str
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reference(Node):
    """The value of a column of the input."""

    tag: ClassVar[str] = "ref"
    column: int
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal(Node):
    """A constant, as the SQL text that Spark reads back to the same value and type."""

    tag: ClassVar[str] = "literal"
    sql: str
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Node):
    """An operator or function applied to arguments, by its name in lower case."""

    tag: ClassVar[str] = "call"
    function: str
    arguments: tuple[Scalar, ...]
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cast(Node):
    """A conversion. `mode` is ``cast`` (as the view's ANSI setting says) or ``try_cast``."""

    tag: ClassVar[str] = "cast"
    operand: Scalar
    type: DataType
    nullable: bool
    mode: str = "cast"

    def check(self) -> None:
        if self.mode not in {"cast", "try_cast"}:
            raise InvariantError(f"a cast has mode {self.mode!r}")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Case(Node):
    """CASE WHEN: the value of the first branch whose condition is true."""

    tag: ClassVar[str] = "case"
    branches: tuple[tuple[Scalar, Scalar], ...]
    otherwise: Scalar | None
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lambda(Node):
    """An anonymous function, the argument of higher-order functions."""

    tag: ClassVar[str] = "lambda"
    parameters: tuple[Column, ...]
    body: Scalar
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Subquery(Node):
    """The one value of an uncorrelated query of at most one row; NULL when it has none."""

    tag: ClassVar[str] = "subquery"
    query: Rel
    type: DataType
    nullable: bool


Scalar = Reference | Literal | Call | Cast | Case | Lambda | Subquery


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Assignment(Node):
    """A new column and the expression that gives its value."""

    tag: ClassVar[str] = "assign"
    column: Column
    value: Scalar


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AggregateCall(Node):
    """An aggregate function over the rows of a group."""

    tag: ClassVar[str] = "aggregate_call"
    function: str
    arguments: tuple[Scalar, ...]
    distinct: bool
    filter: Scalar | None
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Measure(Node):
    """A new column and the aggregate that gives its value."""

    tag: ClassVar[str] = "measure"
    column: Column
    call: AggregateCall


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SortKey(Node):
    """One key of an order."""

    tag: ClassVar[str] = "sort_key"
    value: Scalar
    ascending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WindowCall(Node):
    """A function over a window; `frame` is the SQL text of the frame, empty for the default.

    `aggregate` holds an aggregate call, `call` any other window function (rank, lag, …).
    """

    tag: ClassVar[str] = "window_call"
    column: Column
    call: Call | AggregateCall
    frame: str


def reference(column: Column) -> Reference:
    """Refer to a column."""
    return Reference(column.id, column.type, column.nullable)


def identity(column: Column) -> Assignment:
    """Pass a column through a projection, id and all."""
    return Assignment(column, reference(column))

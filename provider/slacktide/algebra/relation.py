"""Relations: what a view means, as a tree of relational operators over columns with ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, get_args
from typing import Literal as OneOf

from slacktide.algebra.scalar import (
    Assignment,
    Call,
    Column,
    Measure,
    Reference,
    Scalar,
    SortKey,
    WindowCall,
)
from slacktide.common.node import Node
from slacktide.errors import InvariantError

JoinKind = OneOf["inner", "left", "right", "full", "semi", "anti", "existence"]
Columns = tuple[Column, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Relation(Node):
    """Base of all relational nodes.

    Attributes:
        columns: what the relation gives, derived from the fields; not part of the digest.
    """

    columns: Columns = field(init=False)

    def __post_init__(self) -> None:
        Node.__post_init__(self)
        columns = self.derive()
        ids = [column.id for column in columns]
        if len(set(ids)) != len(ids):
            raise InvariantError(f"{self.tag} gives a column twice: {ids}")
        object.__setattr__(self, "columns", columns)

    def derive(self) -> Columns:
        """Give the columns of the result."""
        raise InvariantError(f"{type(self).__name__} does not derive its columns")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scan(Relation):
    """The rows of a source; names of columns are those of the source."""

    tag: ClassVar[str] = "scan"
    source: str
    fields: Columns

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Values(Relation):
    """Rows written in the query itself; without columns and with one row it is FROM nothing."""

    tag: ClassVar[str] = "values"
    fields: Columns
    rows: tuple[tuple[Scalar, ...], ...]

    def check(self) -> None:
        for row in self.rows:
            if len(row) != len(self.fields):
                raise InvariantError(f"a row has {len(row)} values for {len(self.fields)} columns")

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Range(Relation):
    """Whole numbers from `start` up to `end`, without `end`, by `step`."""

    tag: ClassVar[str] = "range"
    start: int
    end: int
    step: int
    field: Column

    def derive(self) -> Columns:
        return (self.field,)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Filter(Relation):
    """The rows for which the predicate is true."""

    tag: ClassVar[str] = "filter"
    child: Rel
    predicate: Scalar

    def derive(self) -> Columns:
        return self.child.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Project(Relation):
    """One row for each row, with the assigned columns."""

    tag: ClassVar[str] = "project"
    child: Rel
    outputs: tuple[Assignment, ...]

    def derive(self) -> Columns:
        return tuple(output.column for output in self.outputs)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Join(Relation):
    """A join of two relations; no condition means every pair.

    `marker` is the boolean column of an existence join and None for every other kind.
    """

    tag: ClassVar[str] = "join"
    left: Rel
    right: Rel
    kind: JoinKind
    condition: Scalar | None
    marker: Column | None = None

    def check(self) -> None:
        if self.kind not in get_args(JoinKind):
            raise InvariantError(f"a join is {self.kind!r}")
        if (self.kind == "existence") != (self.marker is not None):
            raise InvariantError(f"{self.kind} join and marker do not fit")

    def derive(self) -> Columns:
        left, right = self.left.columns, self.right.columns
        match self.kind:
            case "semi" | "anti":
                return left
            case "existence":
                return (*left, *((self.marker,) if self.marker else ()))
            case "inner":
                return left + right
            case "left":
                return left + optional(right)
            case "right":
                return optional(left) + right
            case "full":
                return optional(left) + optional(right)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Aggregate(Relation):
    """One row for each group of equal keys; without keys one row in all, even over nothing."""

    tag: ClassVar[str] = "aggregate"
    child: Rel
    keys: tuple[Assignment, ...]
    measures: tuple[Measure, ...]

    def derive(self) -> Columns:
        keys = tuple(key.column for key in self.keys)
        return keys + tuple(measure.column for measure in self.measures)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Union(Relation):
    """All rows of all children (UNION ALL); columns correspond by position."""

    tag: ClassVar[str] = "union"
    children: tuple[Rel, ...]
    fields: Columns

    def check(self) -> None:
        for child in self.children:
            if len(child.columns) != len(self.fields):
                raise InvariantError(
                    f"a branch has {len(child.columns)} columns, the union {len(self.fields)}"
                )

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sort(Relation):
    """The rows in an order."""

    tag: ClassVar[str] = "sort"
    child: Rel
    keys: tuple[SortKey, ...]

    def derive(self) -> Columns:
        return self.child.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Limit(Relation):
    """At most `count` rows (None: all) after the first `offset` rows."""

    tag: ClassVar[str] = "limit"
    child: Rel
    count: int | None
    offset: int = 0

    def derive(self) -> Columns:
        return self.child.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Window(Relation):
    """The rows with window functions over one partitioning and order added."""

    tag: ClassVar[str] = "window"
    child: Rel
    partition: tuple[Scalar, ...]
    order: tuple[SortKey, ...]
    functions: tuple[WindowCall, ...]

    def derive(self) -> Columns:
        return self.child.columns + tuple(function.column for function in self.functions)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Expand(Relation):
    """Each row once for every projection: ROLLUP, CUBE, GROUPING SETS, several DISTINCTs."""

    tag: ClassVar[str] = "expand"
    child: Rel
    projections: tuple[tuple[Scalar, ...], ...]
    fields: Columns

    def check(self) -> None:
        for projection in self.projections:
            if len(projection) != len(self.fields):
                raise InvariantError(
                    f"a projection has {len(projection)} values for {len(self.fields)} columns"
                )

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Generate(Relation):
    """Each row with every row that a generator makes of it; `outer` keeps rows that make none."""

    tag: ClassVar[str] = "generate"
    child: Rel
    generator: Call
    outer: bool
    kept: tuple[Reference, ...]
    fields: Columns

    def derive(self) -> Columns:
        return chosen(self.child.columns, self.kept) + self.fields


Rel = (
    Scan
    | Values
    | Range
    | Filter
    | Project
    | Join
    | Aggregate
    | Union
    | Sort
    | Limit
    | Window
    | Expand
    | Generate
)


def chosen(columns: Columns, kept: tuple[Reference, ...]) -> Columns:
    """The columns that references speak of, in the order of the references."""
    by_id = {column.id: column for column in columns}
    return tuple(by_id[reference.column] for reference in kept)


def optional(columns: Columns) -> Columns:
    """The same columns, each of which may be NULL."""
    return tuple(
        column if column.nullable else Column(column.id, column.name, column.type, nullable=True)
        for column in columns
    )

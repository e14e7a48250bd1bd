"""Relations that are evaluated as Spark says, over bags of this run or whole snapshots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from slacktide.algebra.relation import Columns, Rel, Values
from slacktide.algebra.scalar import Column
from slacktide.common.node import Node
from slacktide.program.operator.base import Operator


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Input(Node):
    """A bag under the name by which the relations of an `Evaluate` scan it."""

    tag: ClassVar[str] = "input"
    name: str
    operator: Operator


def by_id(columns: Columns) -> Columns:
    """Columns under names that are unique, for the scans inside an `Evaluate`."""
    return tuple(
        Column(column.id, f"c{column.id}", column.type, column.nullable) for column in columns
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluate(Operator):
    """A relation computed as batch over consolidated inputs: the top of a view over its states."""

    tag: ClassVar[str] = "evaluate"
    query: Rel
    inputs: tuple[Input, ...]

    def derive(self) -> Columns:
        return self.query.columns


def nothing(columns: Columns) -> Evaluate:
    """No rows of these columns."""
    return Evaluate(Values(columns, ()), ())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Batch(Operator):
    """The query as its author wrote it, over the snapshots at the end of this run."""

    tag: ClassVar[str] = "batch"
    view: str
    fields: Columns

    def derive(self) -> Columns:
        return self.fields

"""Expressions of the memo: one operator of a program over groups.

An operator of `slacktide.program` whose inputs are holes is an expression; its digest is the key
under which the memo knows it. Leaves read a source at versions instead of moments, as a plan goes
over more than one run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from slacktide.algebra.relation import Columns
from slacktide.common.node import Node
from slacktide.common.tree import with_parts
from slacktide.program.operator import Input, Operator


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hole(Operator):
    """What a group gives: a bag, or with `of_state` partial aggregates."""

    tag: ClassVar[str] = "hole"
    group: int
    fields: Columns
    of_state: bool

    def derive(self) -> Columns:
        return self.fields

    def derive_form(self) -> bool:
        return self.of_state


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SnapshotAt(Operator):
    """A source at a version; at 0 one that is constant."""

    tag: ClassVar[str] = "snapshot_at"
    source: str
    fields: Columns
    version: int

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SnapshotNear(SnapshotAt):
    """A source at a version, read by those alone who need of it what the keys of a change meet.

    It gives all rows, as nobody below it knows these keys; a run reads of them what it needs.
    """

    tag: ClassVar[str] = "snapshot_near"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ChangesBetween(Operator):
    """The changes of a source after a version, up to another."""

    tag: ClassVar[str] = "changes_between"
    source: str
    fields: Columns
    start: int
    end: int

    def derive(self) -> Columns:
        return self.fields


Leaf = SnapshotAt | ChangesBetween


def with_inputs(operator: Operator, replace: Callable[[Operator], Operator]) -> Operator:
    """The same operator over replaced inputs."""

    def put(part: Node) -> Node:
        if isinstance(part, Operator):
            return replace(part)
        if isinstance(part, Input):
            return Input(part.name, replace(part.operator))
        return part

    return with_parts(operator, put)


def moved_leaf(leaf: Leaf, instants: int) -> Leaf:
    """The same leaf at later versions."""
    if isinstance(leaf, SnapshotAt):
        later = leaf.version + instants if leaf.version else 0
        return type(leaf)(leaf.source, leaf.fields, later)
    start, end = leaf.start + instants, leaf.end + instants
    return ChangesBetween(leaf.source, leaf.fields, start, end)

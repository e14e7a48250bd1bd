"""Leaves: changes and snapshots of sources, and what earlier runs or steps stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from slacktide.algebra.relation import Columns
from slacktide.program.operator.base import Moment, Operator


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadChanges(Operator):
    """The changes of a source in this run: its versions after the start, up to the end."""

    tag: ClassVar[str] = "read_changes"
    source: str
    fields: Columns

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadSnapshot(Operator):
    """A source at the start or the end of this run, as a bag that need not be consolidated."""

    tag: ClassVar[str] = "read_snapshot"
    source: str
    fields: Columns
    moment: Moment

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadBag(Operator):
    """A stored bag, an answer or a mirror, as it was at the start of this run."""

    tag: ClassVar[str] = "read_bag"
    chain: str
    fields: Columns

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadState(Operator):
    """The partial aggregates of a state at the start of this run: base and segments, not merged."""

    tag: ClassVar[str] = "read_state"
    chain: str
    fields: Columns

    def derive(self) -> Columns:
        return self.fields

    def derive_form(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadSegments(Operator):
    """The pieces of a chain from one on, as they were at the start of this run; 0 is the base."""

    tag: ClassVar[str] = "read_segments"
    chain: str
    fields: Columns
    first: int
    is_bag: bool

    def derive(self) -> Columns:
        return self.fields

    def derive_form(self) -> bool:
        return not self.is_bag


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadSaved(Operator):
    """What an earlier step of this run wrote to a chain; the way to compute a thing once."""

    tag: ClassVar[str] = "read_saved"
    chain: str
    fields: Columns
    is_bag: bool

    def derive(self) -> Columns:
        return self.fields

    def derive_form(self) -> bool:
        return not self.is_bag

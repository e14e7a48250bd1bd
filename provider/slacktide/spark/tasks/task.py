"""What the executor is told to do for one view, and what it did, without a word of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from slacktide.program.limits import UNLIMITED, Limits
from slacktide.program.operator import Program
from slacktide.spark.measures.cost import Cost
from slacktide.store.record import Segment

Kind = Literal["view", "source", "chain", "key", "foreign key"]


@dataclass(frozen=True, slots=True)
class Query:
    """A view as its author wrote it.

    Attributes:
        sql: the text.
        views: texts of the views that it reads, each after those that it reads itself.
        sources: the sources that all these texts read.
        conf: SQL settings that change the meaning.
        clock: whether the text asks for the time.
    """

    sql: str
    views: Mapping[str, str]
    sources: tuple[str, ...]
    conf: Mapping[str, str]
    clock: bool


@dataclass(frozen=True, slots=True)
class FormerAnswer:
    """The answer of a former text of a view, to which its readers are owed the changes.

    Attributes:
        chain: where it is stored.
        columns: how many of the first columns readers see; the new answer has the same ones.
    """

    chain: str
    columns: int


@dataclass(frozen=True, slots=True)
class Task:
    """What one run does for one object; only a view has a query.

    Attributes:
        kind: of the object, as users call it.
        start: versions of the sources at the start; empty without an answer.
        end: versions at the end.
        scopes: the sources that each state is made of.
        former: what the new answer takes the place of, where that is another text's.
        reads: rows that each step is expected to read, by the chain that it extends, where that is no guess.
        limits: what it may write and take; beyond it the task is given up.
    """

    name: str
    program: Program
    start: Mapping[str, int]
    end: Mapping[str, int]
    scopes: Mapping[str, tuple[str, ...]]
    query: Query | None = None
    former: FormerAnswer | None = None
    reads: Mapping[str, int] = field(default_factory=dict)
    limits: Limits = UNLIMITED
    kind: Kind = field(kw_only=True)

    @property
    def title(self) -> str:
        """What errors say that the task is about."""
        return f"{self.kind} {self.name}"


@dataclass(slots=True)
class Outcome:
    """What a task wrote.

    Attributes:
        chains: by chain id, the segment and whether it is a new base.
        merged: by chain id, what pieces of it were written anew as.
        answer: the new base or segment of the answer.
        answer_is_base: which of the two.
        changes: the signed change of the answer.
        cost: what it cost.
        excess: what a step wrote or took beyond what it may, as text, where the task was given up; what was
            written is of no use to it then.
    """

    chains: dict[str, tuple[Segment, bool]] = field(default_factory=dict)
    merged: dict[str, Segment] = field(default_factory=dict)
    answer: Segment | None = None
    answer_is_base: bool = False
    changes: Segment | None = None
    cost: Cost = field(default_factory=Cost)
    excess: str | None = None

"""What one run does for one view: steps that save, refill, publish and merge, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from slacktide.common.chain_ids import answer_id
from slacktide.common.node import Node
from slacktide.program.operator.bags import First
from slacktide.program.operator.base import Operator


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Save(Node):
    """Write a bag or partial aggregates to a chain: a new segment, or a new base.

    `order` is its layout: ids of columns of the child, by which its rows lie sorted, so that a reader
    who knows which keys it wants skips the rest. A segment of few rows is not sorted.
    """

    tag: ClassVar[str] = "save"
    chain: str
    child: Operator
    is_base: bool
    order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Refill(Node):
    """Write the base of a chain once more, where what this run saved there has run dry.

    What was saved has the form of `First`. It is dry when it has a fence and fewer than `least` rows
    before that, copies counted. Only then is the child computed.
    """

    tag: ClassVar[str] = "refill"
    chain: str
    child: First
    least: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Publish(Node):
    """Write the answer of a view and the changes that its readers get.

    Without `is_base` the child is the change of the answer; with it, the child is the new answer and
    its changes are found by comparison with the old one.
    """

    tag: ClassVar[str] = "publish"
    view: str
    child: Operator
    is_base: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Merge(Node):
    """Write the pieces of a chain from `first` on anew, as one piece that means the same.

    `order` is its layout, as that of a `Save`.
    """

    tag: ClassVar[str] = "merge"
    chain: str
    child: Operator
    first: int
    order: tuple[int, ...] = ()


Step = Save | Refill | Publish | Merge


def target(step: Step) -> str:
    """The id of the chain to which a step writes."""
    return answer_id(step.view) if isinstance(step, Publish) else step.chain


def appended_to(step: Step) -> str | None:
    """The chain to which a step appends a segment; None of one that writes a base, refills or merges."""
    appends = isinstance(step, Save | Publish) and not step.is_base
    return target(step) if appends else None


def leading(rows: Operator) -> tuple[int, ...]:
    """By which columns a chain of such rows lies sorted, where nothing else is known: by the first."""
    return tuple(column.id for column in rows.columns[:1])


def layout(step: Save | Merge) -> tuple[int, ...]:
    """By which columns the rows of a step lie sorted; segments that say nothing by the leading one."""
    is_segment = isinstance(step, Save) and not step.is_base
    return step.order or (leading(step.child) if is_segment else ())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program(Node):
    """The steps of one view in one run, in order; a step may read what an earlier one saved."""

    tag: ClassVar[str] = "program"
    steps: tuple[Step, ...]

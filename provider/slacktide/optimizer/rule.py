"""What a delta rule is: how the change of one operator follows from its inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from slacktide.algebra import relation as r
from slacktide.optimizer.states import AggregateState
from slacktide.program.operator import Add, Moment, Operator

R = TypeVar("R", bound=r.Relation)


class Context(Protocol):
    """What a rule may ask about the inputs of its operator."""

    def delta(self, rel: r.Rel) -> Operator | None:
        """The change of a relation in this run as a bag; None where it cannot have changed."""

    def at(self, rel: r.Rel, moment: Moment) -> Operator:
        """A relation at the start or the end of this run, as a bag."""

    def state(self, rel: r.Aggregate) -> AggregateState:
        """The layout of the state of an aggregate, the same at every call."""

    def has_changed(self, source: str) -> bool:
        """Whether a source may have changes in this run."""

    def save(self, chain: str, child: Operator, *, is_base: bool) -> None:
        """Have this run write a state; later operators read it by `ReadSaved`."""

    @property
    def rebuilds(self) -> bool:
        """Whether this run builds states anew instead of extending them."""


@dataclass(frozen=True, slots=True)
class DeltaRule(Generic[R]):
    """One rule.

    Attributes:
        name: verb phrase; names the rule in traces and tests.
        node: the class of relations to which it applies.
        identity: the rule as one line of algebra.
        source: where the identity comes from.
        delta: gives the change of the relation, or None for no change.
        at: gives the relation at a moment.
    """

    name: str
    node: type[R]
    identity: str
    source: str
    delta: Callable[[R, Context], Operator | None]
    at: Callable[[R, Moment, Context], Operator]


def add(terms: list[Operator], columns: r.Columns) -> Operator | None:
    """The sum of the terms under the given columns; None of none."""
    return Add(tuple(terms), columns) if terms else None

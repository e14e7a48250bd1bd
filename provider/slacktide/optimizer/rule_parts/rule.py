"""What a delta rule is: how the change of one operator follows from its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.tree import references, substitute
from slacktide.algebra.types import DataType
from slacktide.optimizer.rule_parts.foreign_keys import Referring
from slacktide.optimizer.rule_parts.recomputed import Recomputed
from slacktide.optimizer.rule_parts.states import AggregateState
from slacktide.program.operator import Add, Moment, Operator, Pair, Touched
from slacktide.program.origin import origin_of

R = TypeVar("R", bound=r.Relation)
Terms = list[Operator]


@dataclass(frozen=True, slots=True)
class Near:
    """The only rows that the reader of a relation cares for: more may be given, never fewer.

    A relation that is given in part stands in for the whole only below operators that work row by
    row: what is missing below an outer join would be padded.

    Attributes:
        by: a small operator.
        pairs: expressions over the relation, and what they must equal in some row of `by`.
    """

    by: Operator
    pairs: tuple[Pair, ...]

    def over(self, columns: r.Columns) -> Near | None:
        """What it says of a relation with only these columns."""
        ids = frozenset(column.id for column in columns)
        kept = tuple(pair for pair in self.pairs if references(pair.own) <= ids)
        return Near(self.by, kept) if kept else None

    def through(self, assignments: Iterable[s.Assignment]) -> Near:
        """What it says of the relation from which columns were computed."""
        values = {item.column.id: item.value for item in assignments}
        return Near(
            self.by, tuple(Pair(substitute(pair.own, values), pair.other) for pair in self.pairs)
        )

    def across(self, equal: Mapping[s.Scalar, s.Scalar]) -> Near | None:
        """What it says of a relation, of which expressions equal some of the former one."""
        kept = tuple(Pair(equal[pair.own], pair.other) for pair in self.pairs if pair.own in equal)
        return Near(self.by, kept) if kept else None

    def only(self, rows: Operator) -> Operator:
        """Just these rows, of a relation that may have more."""
        return Touched(rows, self.by, self.pairs)


def bounded_by(change: Operator, pairs: Iterable[tuple[s.Scalar, s.Scalar]]) -> Near | None:
    """What a join with a change needs of its other side.

    Args:
        change: of one side.
        pairs: for each equality, the expression over the other side and the one over the change.
    """
    found = list(pairs)
    source = origin_of(change, [other for _, other in found]) if found else None
    if source is None:
        return None
    owns = (own for own, _ in found)
    return Near(source.by, tuple(map(Pair, owns, source.keys)))


@dataclass(frozen=True, slots=True)
class Kept:
    """A bag that is kept from run to run: all of it as of the end of this run, and its change."""

    after: Operator
    change: Operator


JoinOrder = Sequence[tuple[r.Rel, s.Scalar | None]]
"""The relations of a join that a change meets one by one, and by which condition each is met."""


class JoinOrders(Protocol):
    """What says in which order a change meets the relations of a join."""

    def of(self, own: r.Rel, other: r.Rel, condition: s.Scalar | None) -> JoinOrder | None:
        """Say how the change of a relation meets another one; None where it meets that as a whole."""


class Context(Protocol):
    """What a rule may ask about the inputs of its operator."""

    def delta(self, rel: r.Rel) -> Operator | None:
        """The change of a relation in this run as a bag; None where it cannot have changed."""

    def at(self, rel: r.Rel, moment: Moment, near: Near | None = None) -> Operator:
        """A relation at the start or the end of this run, as a bag."""

    def state(self, rel: r.Aggregate) -> AggregateState:
        """The layout of the state of an aggregate, the same at every call."""

    def recomputed(self, rel: r.Aggregate | r.Window | r.Limit) -> Recomputed:
        """How an operator is recomputed, the same at every call."""

    def distinct(self, rel: r.Rel, keys: tuple[s.Scalar, ...]) -> r.Aggregate:
        """The distinct keys of a relation, the same at every call."""

    def referring(self, rel: r.Join) -> Referring | None:
        """The foreign keys that a join goes by, where such are known to hold."""

    def is_small_bag(self, rel: r.Rel) -> bool:
        """Whether a relation, or what it projects or selects from, is remembered with at most `FEW_ROWS` rows."""

    @property
    def join_orders(self) -> JoinOrders | None:
        """In which order a change meets the relations of a join; None where each join is met as it is."""

    def has_changed(self, source: str) -> bool:
        """Whether a source may have changes in this run."""

    def is_netted(self, source: str) -> bool:
        """Whether changes of a source that cancel out are left out before they meet anything."""

    def fresh(self, name: str, data_type: DataType) -> s.Column:
        """A column that no other has the id of, and which may be NULL."""

    def save(self, rel: r.Aggregate, chain: str, child: Operator) -> None:
        """Have this run write the state of an aggregate; others read it by `ReadSaved`."""

    def keep(self, how: Recomputed) -> Kept:
        """Have this run write to what is kept of the input of an operator that is recomputed.

        What is wanted whole, and follows from states, is not kept once more.
        """

    def result(self, rel: r.Rel) -> Operator:
        """The stored result of an operator that is recomputed, as of the start of this run."""

    def keep_result(self, rel: r.Rel, rows: Operator) -> Operator:
        """Have this run write what a result changed by; or all of it."""

    @property
    def rebuilds(self) -> bool:
        """Whether this run makes the answer anew, and with it all states but those that it keeps."""

    def builds(self, chain: str) -> bool:
        """Whether this run builds a state anew instead of extending it."""

    def builds_result(self, rel: r.Rel) -> bool:
        """Whether this run computes the stored result of an operator anew."""


def _always(_rel: object, _context: Context) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class DeltaRule(Generic[R]):
    """One rule.

    Attributes:
        name: verb phrase; names the rule in traces and tests.
        node: the class of relations to which it applies.
        identity: the rule as one line of algebra.
        source: where the identity comes from.
        delta: gives the change of the relation, or None for no change.
        at: gives the relation at a moment, at least the rows that are asked for; None where that is
            as by another rule of its class.
        where: whether it applies to a relation; of several of a class the first that does is taken.
        alternatives: other ways to the change, for a planner that compares costs.
    """

    name: str
    node: type[R]
    identity: str
    source: str
    delta: Callable[[R, Context], Operator | None]
    at: Callable[[R, Moment, Context, Near | None], Operator] | None
    where: Callable[[R, Context], bool] = _always
    alternatives: tuple[Callable[[R, Context], Operator | None], ...] = ()


def add(terms: Terms, columns: r.Columns) -> Operator | None:
    """The sum of the terms under the given columns; None of none."""
    return Add(tuple(terms), columns) if terms else None


def terms_of(change: Operator | None) -> Terms:
    """The terms of a sum, which may then be added to others."""
    if change is None:
        return []
    return list(change.children) if isinstance(change, Add) else [change]

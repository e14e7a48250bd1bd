"""From the relation of a view to what one run reads, computes and writes of it, operator by operator.

`slacktide.optimizer.programs.maintenance` makes programs of that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.scalar import Column
from slacktide.algebra.tree import row_source
from slacktide.algebra.types import DataType
from slacktide.common.chain_ids import answer_id
from slacktide.errors import InvariantError
from slacktide.optimizer.programs.join_order import JoinOrders
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.rule_parts.additive import is_additive
from slacktide.optimizer.rule_parts.first import FirstRows
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey, Referring, referring
from slacktide.optimizer.rule_parts.recomputed import Recomputed
from slacktide.optimizer.rule_parts.rule import DeltaRule, Kept, Near
from slacktide.optimizer.rule_parts.shapes import Shapes
from slacktide.optimizer.rule_parts.states import AggregateState, bag_chain, first_chain
from slacktide.optimizer.rules import RULES
from slacktide.optimizer.statistics import Statistics
from slacktide.program import operator as o
from slacktide.program.operator import Moment, Operator, Step

_BY_NODE: dict[type[r.Rel], list[DeltaRule[Any]]] = {
    node: [rule for rule in RULES if rule.node is node] for node in {rule.node for rule in RULES}
}


@dataclass(frozen=True, slots=True)
class Premises:
    """What a program goes by besides what has changed.

    Attributes:
        foreign_keys: those that hold at the start and at the end of the run.
        remembered: joins that are stored besides what operators need, see `remembered_joins`.
        few: those of them that have at most `FEW_ROWS` rows.
        netted: the sources whose changes are netted, see `net_changes`.
        statistics: what is known of sources, by which joins are ordered.
    """

    foreign_keys: frozenset[ForeignKey] = frozenset()
    remembered: frozenset[r.Rel] = frozenset()
    few: frozenset[r.Rel] = frozenset()
    netted: frozenset[str] = frozenset()
    statistics: Statistics = field(default_factory=Statistics)


NO_PREMISES = Premises()


class Derivation:
    """Derives one program; the context that delta rules see.

    Args:
        view: name of the view, whose answer is the result of its root.
        analysis: of the view's relation.
        changed: names of the sources that have changes in this run.
        premises: what else it goes by.
        kept: where the answer is made anew, and states with it, those that are extended nevertheless; None where
            all is extended.

    Attributes:
        join_orders: in which order changes meet the relations of a join.
        stored: the relation that each state which the program writes is of, those below others first.
        used: the foreign keys that rules went by.
    """

    def __init__(
        self,
        view: str,
        analysis: Maintainability,
        *,
        changed: frozenset[str],
        premises: Premises,
        kept: frozenset[str] | None = None,
    ) -> None:
        self.join_orders = JoinOrders(premises.statistics, premises.remembered)
        self.rebuilds = kept is not None
        self._netted = premises.netted
        self._remembered = premises.remembered
        self._few = premises.few
        self._kept = kept or frozenset()
        self._foreign_keys = premises.foreign_keys
        self.used: set[ForeignKey] = set()
        self.stored: dict[str, r.Rel] = {}
        self._view = view
        self._analysis = analysis
        self._changed = changed
        self._shapes = Shapes(analysis.root, analysis.conf)
        self._deltas: dict[r.Rel, Operator | None] = {}
        self._moments: dict[tuple[r.Rel, Moment, Near | None], Operator] = {}
        self._saves: dict[str, tuple[Step, ...]] = {}

    def has_changed(self, source: str) -> bool:
        """Whether a source may have changes in this run."""
        return source in self._changed

    def is_netted(self, source: str) -> bool:
        """Whether changes of a source that cancel out are left out before they meet anything."""
        return source in self._netted

    def is_small_bag(self, rel: r.Rel) -> bool:
        """Whether a relation, or what it projects or selects from, is remembered with at most `FEW_ROWS` rows."""
        return row_source(rel) in self._few

    def referring(self, rel: r.Join) -> Referring | None:
        """The foreign keys that a join goes by, where such are known to hold."""
        found = referring(rel, self._foreign_keys) if self._foreign_keys else None
        self.used.update(found.foreign_keys if found else ())
        return found

    def builds(self, chain: str) -> bool:
        """Whether this run builds a state anew instead of extending it."""
        return self.rebuilds and chain not in self._kept

    def builds_result(self, rel: r.Rel) -> bool:
        """Whether this run computes the stored result of an operator anew."""
        return self.builds(self._result_chain(rel))

    def state(self, rel: r.Aggregate) -> AggregateState:
        """The layout of the state of an aggregate, the same at every call."""
        return self._shapes.state(rel)

    def recomputed(self, rel: r.Aggregate | r.Window | r.Limit) -> Recomputed:
        """How an operator is recomputed, the same at every call."""
        return self._shapes.recomputed(rel)

    def distinct(self, rel: r.Rel, keys: tuple[s.Scalar, ...]) -> r.Aggregate:
        """The distinct keys of a relation, the same at every call."""
        return self._shapes.distinct(rel, keys)

    def fresh(self, name: str, data_type: DataType) -> Column:
        """A column that no other has the id of, and which may be NULL."""
        return self._shapes.fresh(name, data_type)

    def save(self, rel: r.Rel, chain: str, child: Operator, *, begins: bool = False) -> None:
        """Have this run write to a state, once: a segment, or a base when it builds anew or begins one."""
        if chain not in self._saves:
            is_base = begins or self.builds(chain)
            order = o.leading(child) if is_base else ()
            self._saves[chain] = (o.Save(chain, child, is_base, order),)
            self.stored[chain] = rel

    def keep(self, how: Recomputed) -> Kept:
        """Have this run write to what is kept of the input of an operator that is recomputed.

        What is wanted whole, and follows from states, is not kept once more.
        """
        rel, chain = how.rows, self._input_chain(how)
        if chain is None:
            now = self.at(rel, "after")
            return Kept(now, now)
        if how.first is not None:
            return self._keep_first(rel, chain, how.first)
        saved = o.ReadSaved(chain, rel.columns, is_bag=True)
        if self.builds(chain):
            self.save(rel, chain, o.consolidated(self.at(rel, "after")))
            return Kept(saved, saved)
        stored = o.ReadBag(chain, rel.columns)
        change = self.delta(rel)
        if change is None:
            return Kept(stored, o.nothing(rel.columns))
        self.save(rel, chain, o.consolidated(change))
        return Kept(o.Add((stored, saved), rel.columns), saved)

    def _keep_first(self, rel: r.Rel, chain: str, first: FirstRows) -> Kept:
        """Have this run write the first rows of a relation anew, as they are few."""
        columns = first.columns(rel)
        stored, saved = o.ReadBag(chain, columns), o.ReadSaved(chain, columns, is_bag=True)
        change = None if self.builds(chain) else self.delta(rel)
        if change is None and not self.builds(chain):
            return Kept(first.rows(stored), o.nothing(rel.columns))
        anew = first.built(self.at(rel, "after"))
        steps: tuple[Step, ...] = (o.Save(chain, anew, is_base=True),)
        if change is not None:
            followed = o.Save(chain, first.followed(stored, change), is_base=True)
            steps = (followed, o.Refill(chain, anew, first.least))
        self._saves.setdefault(chain, steps)
        self.stored[chain] = rel
        rows = first.rows(saved)
        return Kept(rows, rows)

    def result(self, rel: r.Rel) -> Operator:
        """The stored result of an operator that is recomputed, as of the start of this run."""
        return o.ReadBag(self._result_chain(rel), rel.columns)

    def keep_result(self, rel: r.Rel, rows: Operator) -> Operator:
        """Have this run write what a result changed by, or all of it; the root is the answer."""
        if rel == self._analysis.root:
            return rows
        chain = self._result_chain(rel)
        self.save(rel, chain, rows if self.builds(chain) else o.consolidated(rows))
        return o.ReadSaved(chain, rel.columns, is_bag=True)

    def delta(self, rel: r.Rel) -> Operator | None:
        """The change of a relation in this run; None where it cannot have changed.

        Raises:
            NotKeptError: it follows from a state that this run builds anew.
        """
        if rel not in self._deltas:
            if self.rebuilds and any(map(self.builds, self._chains(rel))):
                raise NotKeptError
            change = self._derived(rel)
            if rel in self._remembered and change is not None:
                chain = bag_chain(rel, self._analysis.conf)
                self.save(rel, chain, o.consolidated(change))
                change = o.ReadSaved(chain, rel.columns, is_bag=True)
            self._deltas[rel] = change
        return self._deltas[rel]

    def rule_of(self, rel: r.Rel) -> DeltaRule[Any] | None:
        """The first rule that gives the change of a relation."""
        return next((rule for rule in _BY_NODE.get(type(rel), ()) if rule.where(rel, self)), None)

    def _derived(self, rel: r.Rel) -> Operator | None:
        rule = self.rule_of(rel)
        if rule is None and not isinstance(rel, r.Values | r.Range):
            raise InvariantError(f"no rule gives the change of {rel.tag}")
        return None if rule is None else rule.delta(rel, self)

    def at(self, rel: r.Rel, moment: Moment, near: Near | None = None) -> Operator:
        """A relation at the start or the end of this run, at least the rows that are asked for."""
        if rel in self._remembered:
            return self._remembered_at(rel, moment)
        return self._computed_at(rel, moment, near)

    def _computed_at(self, rel: r.Rel, moment: Moment, near: Near | None) -> Operator:
        key = (rel, moment, near)
        if key not in self._moments:
            ways = (way for way in _BY_NODE.get(type(rel), ()) if way.at and way.where(rel, self))
            at = next((way.at for way in ways), None)
            self._moments[key] = at(rel, moment, self, near) if at else o.Evaluate(rel, ())
        return self._moments[key]

    def _remembered_at(self, rel: r.Rel, moment: Moment) -> Operator:
        """A join that is stored besides what operators need."""
        chain = bag_chain(rel, self._analysis.conf)
        if self.rebuilds:
            self.save(rel, chain, o.consolidated(self._computed_at(rel, "after", None)))
            return o.ReadSaved(chain, rel.columns, is_bag=True)
        stored = o.ReadBag(chain, rel.columns)
        change = None if moment == "before" else self.delta(rel)
        return stored if change is None else o.Add((stored, change), rel.columns)

    def begin(self, rel: r.Rel) -> None:
        """Have this run store a join that is not stored yet, as of its end."""
        chain = bag_chain(rel, self._analysis.conf)
        self.save(rel, chain, o.consolidated(self.at(rel, "after")), begins=True)

    @property
    def read(self) -> frozenset[r.Rel]:
        """The relations that rules asked for as of a moment, whole or near a change, or member by member."""
        return self.join_orders.opened | frozenset(rel for rel, _, _ in self._moments)

    def steps(self, last: Step) -> tuple[Step, ...]:
        """The writes of states, those that others read first, then the last step."""
        return (*(step for steps in self._saves.values() for step in steps), last)

    def _chains(self, rel: r.Rel) -> tuple[str, ...]:
        """The states from which the change of an operator follows, besides those of its inputs."""
        if isinstance(rel, r.Aggregate) and is_additive(rel):
            return (self.state(rel).chain,)
        if not isinstance(rel, r.Aggregate | r.Window | r.Limit):
            return ()
        chain = self._input_chain(self.recomputed(rel))
        return (self._result_chain(rel),) if chain is None else (self._result_chain(rel), chain)

    def _input_chain(self, how: Recomputed) -> str | None:
        """Where the input of an operator that is recomputed is kept; None where it need not be."""
        if not how.keys and self._analysis.is_state_backed(how.rows):
            return None
        conf = self._analysis.conf
        if how.first is None:
            return bag_chain(how.rows, conf)
        return first_chain(how.rows, how.first.order, how.first.least, conf)

    def _result_chain(self, rel: r.Rel) -> str:
        if rel == self._analysis.root:
            return answer_id(self._view)
        return bag_chain(rel, self._analysis.conf)


class NotKeptError(Exception):
    """A state that is kept cannot be extended, as one below it is not kept."""

"""What delta rules see when they are asked for the memo: holes in the place of programs.

The rules in `slacktide.optimizer.rules` say how the change of an operator, or its rows, follow from
its inputs; the engine asks them for one run, the memo for two versions. There is one implementation
of an operator's change, and this is its second reader (ADR 0008).
"""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.scalar import Column
from slacktide.algebra.tree import sources
from slacktide.algebra.types import DataType
from slacktide.common.node import Node
from slacktide.common.tree import rewrite
from slacktide.errors import InvariantError
from slacktide.optimizer.memo.hole import ChangesBetween, Hole, SnapshotAt, SnapshotNear
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.near import is_bounding, is_table
from slacktide.optimizer.memo.trait import SetDelta, SetSnap, ValDelta, ValSnap
from slacktide.optimizer.memo.versions import Version
from slacktide.optimizer.rule_parts.foreign_keys import Referring
from slacktide.optimizer.rule_parts.recomputed import Recomputed
from slacktide.optimizer.rule_parts.rule import Kept, Near, bounded_by
from slacktide.optimizer.rule_parts.shapes import Shapes
from slacktide.optimizer.rule_parts.states import AggregateState
from slacktide.program import operator as o
from slacktide.program.operator import Moment, Operator


class Between:
    """The context of one question: what changes between two versions, or what is at one.

    Args:
        memo: the plan space.
        shapes: columns that rules make.
        rel: the operator that is asked about.
        start: the version before; where it equals `end`, all is computed anew as of it.
        end: the version after.
        is_near: whether tables of which a change meets a part are read for it alone.

    Attributes:
        was_near: whether such a table was asked for.
    """

    def __init__(
        self,
        memo: Memo,
        shapes: Shapes,
        rel: r.Rel,
        start: Version,
        end: Version,
        *,
        is_near: bool = False,
    ) -> None:
        self._memo = memo
        self._shapes = shapes
        self._rel = rel
        self._start = start
        self._end = end
        self._changed = memo.tables.changed(start, end)
        self._is_near = is_near
        self.was_near = False
        self._made = 0
        self._layouts: dict[str, r.Aggregate] = {}

    # ------------------------------------------------------------ inputs

    def is_small_bag(self, rel: r.Rel) -> bool:  # noqa: ARG002
        """Never: which states there are is chosen afterwards, and their sizes are priced there."""
        return False

    @property
    def join_orders(self) -> None:
        """None: orders are ways of their own (`methods.higher_order`), and what a join reads is asked as one group."""
        return None

    def has_changed(self, source: str) -> bool:
        """Whether the versions differ in a table."""
        return source in self._changed

    def is_netted(self, source: str) -> bool:  # noqa: ARG002
        """Never: a grouping more for each way to each change is not explored."""
        return False

    def delta(self, rel: r.Rel) -> Operator | None:
        """The change of a relation between the versions; None where it has none."""
        if self._changed.isdisjoint(sources(rel)):
            return None
        trait = SetDelta(self._start, self._end)
        return self._memo.ask(self._memo.tvr(rel), trait, rel.columns)

    def at(self, rel: r.Rel, moment: Moment, near: Near | None = None) -> Operator:
        """A relation at one of the versions: all of it by a group that serves all who ask, or for one alone."""
        if near is not None and self._is_part(rel, near):
            self.was_near = True
            return self._table(rel, moment)
        trait = SetSnap(self._start if moment == "before" else self._end)
        return self._memo.ask(self._memo.tvr(rel), trait, rel.columns)

    def _is_part(self, rel: r.Rel, near: Near) -> bool:
        is_wanted = self._is_near and is_table(rel)
        return is_wanted and is_bounding(near, self._memo, self._changed)

    def _table(self, rel: r.Rel, moment: Moment) -> Operator:
        match rel:
            case r.Filter():
                return o.Select(self._table(rel.child, moment), rel.predicate)
            case r.Project():
                return o.Map(self._table(rel.child, moment), rel.outputs)
            case r.Scan():
                number = self._number(rel.source, moment)
                return SnapshotNear(rel.source, rel.fields, number)
            case _:
                raise InvariantError(f"{rel.tag} is no table")

    def referring(self, rel: r.Join) -> Referring | None:  # noqa: ARG002
        """None: a reference is known to hold at the ends of a run, and not at virtual versions."""
        return None

    # ------------------------------------------------------------ shapes

    def state(self, rel: r.Aggregate) -> AggregateState:
        """The layout of the state of an aggregate."""
        state = self._shapes.state(rel)
        self._layouts[state.chain] = rel
        return state

    def recomputed(self, rel: r.Aggregate | r.Window | r.Limit) -> Recomputed:
        """How an operator is recomputed."""
        return self._shapes.recomputed(rel)

    def distinct(self, rel: r.Rel, keys: tuple[s.Scalar, ...]) -> r.Aggregate:
        """The distinct keys of a relation."""
        return self._shapes.distinct(rel, keys)

    def fresh(self, name: str, data_type: DataType) -> Column:
        """A column that no other has the id of; the same for the same question at other versions."""
        self._made += 1
        return self._shapes.column(self._rel, name, self._made, data_type)

    # ------------------------------------------------------------ what is kept

    @property
    def rebuilds(self) -> bool:
        """Never: a state is asked for by whoever reads it."""
        return False

    def builds(self, chain: str) -> bool:  # noqa: ARG002
        """Whether a state is asked for anew, as of one version."""
        return self._start == self._end

    def builds_result(self, rel: r.Rel) -> bool:  # noqa: ARG002
        """Whether a result is asked for anew, as of one version."""
        return self._start == self._end

    def save(self, rel: r.Aggregate, chain: str, child: Operator) -> None:  # noqa: ARG002
        """Know one way to the state of an aggregate, or to what extends it."""
        self._memo.fill(self._memo.tvr(rel), self._state_trait(rel), self.placed(child))

    def keep(self, how: Recomputed) -> Kept:
        """The rows that an operator is recomputed from, and their change; a limit keeps them all."""
        change = self.delta(how.rows)
        if change is None:
            return Kept(self.at(how.rows, "after"), o.nothing(how.rows.columns))
        near = bounded_by(change, [(key, key) for key, _ in how.keys])
        return Kept(self.at(how.rows, "after", near), change)

    def result(self, rel: r.Rel) -> Operator:
        """The result of an operator before."""
        return self.at(rel, "before")

    def keep_result(self, rel: r.Rel, rows: Operator) -> Operator:  # noqa: ARG002
        """The rows themselves: whether to keep them is decided when a plan is chosen."""
        return rows

    # ------------------------------------------------------------ answers

    def placed(self, operator: Operator) -> Operator:
        """What a rule gave, with versions for moments and holes for states."""

        def place(node: Node) -> Node | None:
            match node:
                case o.ReadChanges():
                    start, end = self._number(node.source, "before"), self._number(node.source)
                    return ChangesBetween(node.source, node.fields, start, end)
                case o.ReadSnapshot():
                    number = self._number(node.source, node.moment)
                    return SnapshotAt(node.source, node.fields, number)
                case o.ReadState():
                    rel = self._layouts[node.chain]
                    return self._of_state(rel, ValSnap(rel.digest, self._start), node)
                case o.ReadSaved():
                    rel = self._layouts[node.chain]
                    return self._of_state(rel, self._state_trait(rel), node)
                case _:
                    return None

        return rewrite(operator, place)

    def _state_trait(self, rel: r.Aggregate) -> ValSnap | ValDelta:
        if self._start == self._end:
            return ValSnap(rel.digest, self._end)
        return ValDelta(rel.digest, self._start, self._end)

    def _of_state(
        self, rel: r.Aggregate, trait: ValSnap | ValDelta, read: o.ReadState | o.ReadSaved
    ) -> Hole:
        return self._memo.ask(self._memo.tvr(rel), trait, read.columns, of_state=True)

    def _number(self, source: str, moment: Moment = "after") -> int:
        version = self._start if moment == "before" else self._end
        return self._memo.tables.number(version, source)

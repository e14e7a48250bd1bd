"""Columns and layouts that rules make of an operator, the same at every call and version (tempura.md §3.5).

A rule that is asked twice for the change of an operator, between other versions, gives expressions
over the same columns: what one instant found is what every instant would find.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.scalar import Column
from slacktide.algebra.tree import fresh_ids
from slacktide.algebra.types import DataType
from slacktide.optimizer.rule_parts.recomputed import Recomputed, recomputed
from slacktide.optimizer.rule_parts.states import AggregateState, state_of


class Shapes:
    """What the rules of one view have made so far.

    Args:
        root: the relation of the view, whose columns are not made again.
        conf: the SQL settings under which it is computed.
    """

    def __init__(self, root: r.Rel, conf: Mapping[str, str]) -> None:
        self._ids = fresh_ids(root)
        self._whole = partial(self.fresh, nullable=False)
        self._conf = conf
        self._states: dict[r.Rel, AggregateState] = {}
        self._recomputed: dict[r.Rel, Recomputed] = {}
        self._distinct: dict[tuple[r.Rel, tuple[s.Scalar, ...]], r.Aggregate] = {}
        self._columns: dict[tuple[bytes, str, int], Column] = {}

    def state(self, rel: r.Aggregate) -> AggregateState:
        """The layout of the state of an aggregate."""
        if rel not in self._states:
            self._states[rel] = state_of(rel, self._whole, self._conf)
        return self._states[rel]

    def recomputed(self, rel: r.Aggregate | r.Window | r.Limit) -> Recomputed:
        """How an operator is recomputed."""
        if rel not in self._recomputed:
            self._recomputed[rel] = recomputed(rel, self._whole)
        return self._recomputed[rel]

    def distinct(self, rel: r.Rel, keys: tuple[s.Scalar, ...]) -> r.Aggregate:
        """The distinct keys of a relation."""
        if (rel, keys) not in self._distinct:
            columns = [self.fresh("key", key.type, nullable=key.nullable) for key in keys]
            assigned = tuple(map(s.Assignment, columns, keys))
            self._distinct[rel, keys] = r.Aggregate(rel, assigned, ())
        return self._distinct[rel, keys]

    def column(self, owner: r.Rel, purpose: str, place: int, data_type: DataType) -> Column:
        """The column that a rule made of an operator, by what for and how many it made before."""
        key = (owner.digest, purpose, place)
        if key not in self._columns:
            self._columns[key] = self.fresh(purpose, data_type)
        return self._columns[key]

    def fresh(self, name: str, data_type: DataType, *, nullable: bool = True) -> Column:
        """A column that no other has the id of: another one at each call."""
        return Column(next(self._ids), name, data_type, nullable)

"""In which order the change of one side of an inner join meets what the other side is a join of.

    ΔL ⋈ (A ⋈ B) = (ΔL ⋈ A) ⋈ B,   or (ΔL ⋈ B) ⋈ A

A change is mostly the smallest of all, and what it has met is hardly larger, while A ⋈ B is as large as the tables
are. Tempura has an order for each updated table from views of higher order (`tempura.md` §2.4 and §10, F7). The next
relation is the one by which the rows grow least, of those that an equality connects.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import log10
from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import conjunction, conjuncts, take_apart
from slacktide.algebra.relation import Rel
from slacktide.algebra.totality import is_total
from slacktide.algebra.tree import references
from slacktide.optimizer.rule_parts.clusters import Cluster, cluster_of, conditions_of
from slacktide.optimizer.rule_parts.rule import JoinOrder
from slacktide.optimizer.statistics import Cardinality, Estimate, Figure, Statistics
from slacktide.optimizer.statistics.estimate import met

_LEAST: Final = 1e-9
"""Rows that are told apart from none."""


class JoinOrders:
    """The orders of the joins of one program.

    Args:
        statistics: tell by how much rows grow. No change counts, so that a view keeps its programs.
        whole: joins that are stored, and met as they are.

    Attributes:
        opened: the joins of which the members are met one by one.
    """

    def __init__(self, statistics: Statistics, whole: Collection[Rel] = ()) -> None:
        self._cardinality = Cardinality(statistics)
        self._whole = whole
        self.opened: frozenset[Rel] = frozenset()

    def of(self, own: Rel, other: Rel, condition: s.Scalar | None) -> JoinOrder | None:
        """Say how the change of a relation meets another one; None where it meets that as a whole.

        Args:
            own: the relation that changes.
            other: what it is joined with.
            condition: of the join.
        """
        asked = tuple(conjuncts(condition))
        if not all(map(is_total, asked)):
            return None
        cluster = cluster_of(other, self._is_whole)
        columns = frozenset(column.id for column in own.columns)
        is_joined = len(cluster.members) > 1 and cluster.is_distinct
        if not is_joined or columns & cluster.columns(range(len(cluster.members))):
            return None
        order = self._order(own, cluster, [*cluster.conditions, *asked])
        if order is not None:
            self.opened |= cluster.opened
        return order

    def _is_whole(self, rel: Rel) -> bool:
        """Whether a join is met as it is: it is stored, or its condition may fail.

        Spark asks for a condition as soon as its columns are there: in another order, of rows of which the query
        does not ask it.
        """
        return rel in self._whole or not all(map(is_total, conditions_of(rel)))

    def _order(
        self, own: Rel, cluster: Cluster, conditions: Sequence[s.Scalar]
    ) -> JoinOrder | None:
        """The members in order, each with an equality to what was met before; None where one is connected by none."""
        met_so_far, columns = self._cardinality.of(own), own.columns
        waiting, steps = [*cluster.members], []
        while waiting:
            ways = []
            for place, member in enumerate(waiting):
                parts = _within(conditions, [*waiting[:place], *waiting[place + 1 :]])
                if take_apart(conjunction(parts), columns, member.columns).equalities:
                    growth = self._growth(met_so_far, columns, member, parts)
                    ways.append((*growth, place, parts))
            if not ways:
                return None
            *_, place, parts = min(ways, key=lambda way: way[:3])
            member = waiting.pop(place)
            conditions = [one for one in conditions if one not in parts]
            steps.append((member, conjunction(parts)))
            known = self._cardinality.of(member).columns
            met_so_far = replace(met_so_far, columns={**met_so_far.columns, **known})
            columns += member.columns
        return tuple(steps)

    def _growth(
        self, before: Estimate, columns: r.Columns, member: Rel, parts: Sequence[s.Scalar]
    ) -> tuple[int, int]:
        """Rows for each row before, and rows that are read: powers of ten, as estimates are no better than that.

        What is nearer than that is met in the order of the query, so that a view keeps its programs.
        """
        size = self._cardinality.of(member)
        one = replace(before, rows=Figure(1.0))
        grown = met(one, size, conjunction(parts), (columns, member.columns))
        return _magnitude(grown.value), _magnitude(size.rows.value)


def _within(conditions: Sequence[s.Scalar], others: Sequence[Rel]) -> list[s.Scalar]:
    """The conditions that ask for no column of some relations."""
    ids = frozenset(column.id for rel in others for column in rel.columns)
    return [one for one in conditions if not references(one) & ids]


def _magnitude(rows: float) -> int:
    return round(log10(max(rows, _LEAST)))

"""Inner joins of several relations, taken apart: what is joined, and the conditions between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import conjunction, conjuncts
from slacktide.algebra.relation import Rel
from slacktide.algebra.tree import references, row_source


@dataclass(frozen=True, slots=True)
class Cluster:
    """An inner join of relations.

    Attributes:
        members: that are joined, from left to right.
        conditions: all of which must be true.
        opened: the relations that were taken apart into these.
    """

    members: tuple[Rel, ...]
    conditions: tuple[s.Scalar, ...]
    opened: frozenset[Rel]

    @property
    def is_distinct(self) -> bool:
        """Whether every column is of one member alone, as it is not where one that is left out stands again elsewhere."""
        return len(self._all) == sum(len(member.columns) for member in self.members)

    def within(self, places: Iterable[int]) -> tuple[s.Scalar, ...]:
        """The conditions that speak of some members alone, whatever else is named inside of them."""
        others = self._all - self.columns(places)
        return tuple(one for one in self.conditions if not references(one) & others)

    @property
    def _all(self) -> frozenset[int]:
        """Ids of the columns of all members."""
        return self.columns(range(len(self.members)))

    def columns(self, places: Iterable[int]) -> frozenset[int]:
        """Ids of the columns of some members."""
        return frozenset(column.id for place in places for column in self.members[place].columns)

    def components(self, left_out: int) -> tuple[tuple[int, ...], ...]:
        """The places of the other members, those together that conditions between them connect."""
        found: list[tuple[int, ...]] = []
        others = [place for place in range(len(self.members)) if place != left_out]
        conditions = self.within(others)
        for place in others:
            own = self.columns([place])
            met = [
                part
                for part in found
                if any(
                    references(c) & own and references(c) & self.columns(part) for c in conditions
                )
            ]
            joined = tuple(sorted({place, *(other for part in met for other in part)}))
            found = [*(part for part in found if part not in met), joined]
        return tuple(sorted(found))

    def joined(self, places: Sequence[int], wanted: frozenset[int]) -> Rel:
        """Some members joined, with those of their columns that are wanted."""
        found: Rel = self.members[places[0]]
        own = conjunction(self.within(places[:1]))
        if own is not None:
            found = r.Filter(found, own)
        done = set(self.within(places[:1]))
        for count in range(2, len(places) + 1):
            fresh = [c for c in self.within(places[:count]) if c not in done]
            done.update(fresh)
            member = self.members[places[count - 1]]
            found = r.Join(found, member, "inner", conjunction(fresh))
        kept = tuple(column for column in found.columns if column.id in wanted)
        if kept == found.columns or not kept:
            return found
        return r.Project(found, tuple(map(s.identity, kept)))


def cluster_of(root: Rel, is_whole: Callable[[Rel], bool] = lambda _: False) -> Cluster:
    """Take a relation apart as far as it is inner joins, below filters and columns left out.

    Args:
        root: the relation.
        is_whole: whether a join, or what lies above one, is a member itself.
    """
    members: list[Rel] = []
    opened: set[Rel] = set()
    conditions: list[s.Scalar] = []
    stack: list[Rel] = [root]
    while stack:
        rel = stack.pop()
        below = () if is_whole(rel) else joined_by(rel)
        stack += reversed(below)
        if not below:
            members.append(rel)
            continue
        opened.add(rel)
        conditions += conditions_of(rel)
    return Cluster(tuple(members), tuple(conditions), frozenset(opened))


def conditions_of(rel: Rel) -> tuple[s.Scalar, ...]:
    """The conditions that a join, or a filter, asks for itself."""
    match rel:
        case r.Join():
            return tuple(conjuncts(rel.condition))
        case r.Filter():
            return tuple(conjuncts(rel.predicate))
        case _:
            return ()


def joined_by(rel: Rel) -> tuple[Rel, ...]:
    """What an inner join, or a filter or columns left out above one, is of; nothing of a member."""
    match rel:
        case r.Join() if rel.kind == "inner":
            return rel.left, rel.right
        case r.Filter() if _is_above_join(rel):
            return (rel.child,)
        case r.Project() if _is_above_join(rel) and _is_narrowing(rel):
            return (rel.child,)
        case _:
            return ()


def _is_above_join(rel: Rel) -> bool:
    below = row_source(rel)
    return isinstance(below, r.Join) and below.kind == "inner"


def _is_narrowing(rel: r.Project) -> bool:
    """Whether a projection leaves columns out and does nothing else."""
    there = {column.id: s.identity(column) for column in rel.child.columns}
    return all(there.get(output.column.id) == output for output in rel.outputs)

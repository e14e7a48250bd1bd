"""HOV for outer joins: views of either side, for changes of one side at a time (tempura.md §2.5, H-4).

    ΔL:   ΔL ⟕ M_R
    ΔR:   M_L ⋈ ΔR − pad(M_L gains a partner) + pad(M_L loses its last one)

M_L and M_R are the sides with the columns that are asked for, as counted bags; either side may come first, and the
other is then as the first has left it. Whether a row has a partner does not add up over changes: for ΔR the other
rows of R are asked before and after, only of what ΔR meets. Rows with NULL in what is summed are rows of
M_R as any others, so that they are never taken for a row without a partner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.relation import Columns, Rel
from slacktide.algebra.tree import references
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding, Form, Has
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.memo.trait import SetDelta, SetSnap
from slacktide.optimizer.memo.versions import Version
from slacktide.optimizer.rule_parts.padding import padded
from slacktide.program import operator as o
from slacktide.program.operator import Operator

Above = r.Filter | r.Project


def rules() -> tuple[MemoRule, ...]:
    """The rules of this family."""
    return (
        MemoRule(
            name="join_change_with_padded_view",
            identity="ΔQ = (ΔL ⟕ M_R) + (M_L ⋈ ΔR) − pad(Δ(M_L ⋉ R))",
            source="Tempura: HOV for outer joins (H-4)",
            pattern=(Form("q", "rel", r.Relation, _is_padded), Has("q", "delta", SetDelta)),
            apply=_join_changes,
        ),
    )


def _is_padded(rel: Rel) -> bool:
    join, _ = _taken_apart(rel)
    return isinstance(join, r.Join) and join.kind in {"left", "right"}


def _taken_apart(rel: Rel) -> tuple[Rel, list[Above]]:
    """What filters and projections stand on, and these, the lowest first."""
    above: list[Above] = []
    while isinstance(rel, Above):
        above.append(rel)
        rel = rel.child
    return rel, above[::-1]


def _join_changes(found: Binding, memo: Memo) -> None:
    join, above = _taken_apart(found["rel"])
    if not isinstance(join, r.Join):
        return
    views = _views(join, found["rel"].columns, above, memo)
    if views.kept_tables & views.other_tables:
        return  # a table on both sides cannot change on one of them alone
    for is_kept_first in (True, False):
        terms = _Order(views, memo, found["delta"], is_kept_first=is_kept_first).terms()
        rows = [_applied(above, term) for term in terms]
        columns = tuple(map(s.identity, found["rel"].columns))
        placed = tuple(o.Map(term, columns) for term in rows)
        memo.fill(found["q"], found["delta"], o.Add(placed, found["rel"].columns))


@dataclass(frozen=True, slots=True)
class _Views:
    """The sides of an outer join with the columns that are asked for.

    Attributes:
        condition: of the join.
        kept: the side all of whose rows stay.
        other: the side that is padded.
        kept_tables: the changing tables of `kept`.
        other_tables: those of `other`.
        columns: of the join, as far as they are asked for.
    """

    condition: s.Scalar | None
    kept: Rel
    other: Rel
    kept_tables: frozenset[str]
    other_tables: frozenset[str]
    columns: Columns


def _views(join: r.Join, wanted: Columns, above: list[Above], memo: Memo) -> _Views:
    ids = frozenset(column.id for column in wanted).union(*map(_used, above))
    if join.condition is not None:
        ids |= references(join.condition)
    sides = [_narrowed(side, ids) for side in (join.left, join.right)]
    kept, other = sides if join.kind == "left" else reversed(sides)
    tables = [memo.used(memo.tvr(side)) for side in (kept, other)]
    there = {column.id for side in sides for column in side.columns}
    columns = tuple(column for column in join.columns if column.id in there)
    return _Views(join.condition, kept, other, tables[0], tables[1], columns)


def _used(rel: Above) -> frozenset[int]:
    if isinstance(rel, r.Filter):
        return references(rel.predicate)
    return frozenset().union(*(references(item.value) for item in rel.outputs))


def _narrowed(side: Rel, wanted: frozenset[int]) -> Rel:
    kept = tuple(column for column in side.columns if column.id in wanted)
    if kept == side.columns or not kept:
        return side
    return r.Project(side, tuple(map(s.identity, kept)))


def _applied(above: list[Above], rows: Operator) -> Operator:
    for rel in above:
        if isinstance(rel, r.Filter):
            rows = o.Select(rows, rel.predicate)
        else:
            rows = o.Map(rows, rel.outputs)
    return rows


class _Order:
    """The change of an outer join, one side after the other."""

    def __init__(self, views: _Views, memo: Memo, delta: SetDelta, *, is_kept_first: bool) -> None:
        self._views = views
        self._memo = memo
        self._delta = delta
        self._is_kept_first = is_kept_first

    def terms(self) -> list[Operator]:
        """The changes by each side that changes."""
        changed = self._memo.tables.changed(self._delta.start, self._delta.end)
        views = self._views
        sides: list[tuple[frozenset[str], Callable[[Version], list[Operator]]]] = [
            (views.kept_tables, self._of_kept),
            (views.other_tables, self._of_other),
        ]
        done: frozenset[str] = frozenset()
        found: list[Operator] = []
        for tables, terms in sides if self._is_kept_first else reversed(sides):
            if tables & changed:
                found += terms(self._memo.tables.step(self._delta.start, self._delta.end, done))
                done |= tables
        return found

    def _of_kept(self, version: Version) -> list[Operator]:
        """ΔL ⟕ M_R."""
        views = self._views
        change = self._change(views.kept)
        there = self._at(views.other, version)
        lonely = o.SemiBags(change, there, views.condition, negated=True)
        return [self._met(change, there), padded(lonely, views.columns)]

    def _of_other(self, version: Version) -> list[Operator]:
        """M_L ⋈ ΔR, and what is padded no more, or again."""
        views = self._views
        change = self._change(views.other)
        there = self._at(views.kept, version)
        before, after = (self._at(views.other, at) for at in (self._delta.start, self._delta.end))
        near = o.SemiBags(there, change, views.condition, negated=False)
        flips = o.Flips(near, before, after, views.condition)
        return [self._met(there, change), o.Negate(padded(flips, views.columns))]

    def _met(self, kept: Operator, other: Operator) -> Operator:
        """Pairs under the columns of the join, in its order."""
        pairs = o.JoinBags(kept, other, self._views.condition)
        return padded(pairs, self._views.columns)

    def _change(self, side: Rel) -> Operator:
        return self._memo.ask(self._memo.tvr(side), self._delta, side.columns)

    def _at(self, side: Rel, version: Version) -> Operator:
        return self._memo.ask(self._memo.tvr(side), SetSnap(version), side.columns)

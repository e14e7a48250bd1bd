"""OJV: maintenance of views of outer joins, after Larson and Zhou (tempura.md §2.4).

One table changes at a time, first by its deletes and then by its inserts, and what was before is as the
steps before have left it:

    ΔQ = ΔQD + ΔQI
    ΔQD   the tree with ΔT for T, where only the side of T is preserved
    ΔQI   of each indirect term: on insert, the padded rows that found a partner go; on delete, those that
          lost their last one come, terms of more tables first, as they hide those of fewer

ΔQD is joined from ΔT, the smallest input; of the view itself only what is old is read.
"""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import conjunction
from slacktide.algebra.relation import Rel
from slacktide.algebra.types import BIGINT, BOOLEAN
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding, Form, Has
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.memo.trait import SetDelta, SetSnap
from slacktide.optimizer.memo.versions import Version
from slacktide.optimizer.methods.disjunctive import Keys, OuterTree, Term, outer_tree
from slacktide.optimizer.rule_parts.padding import padded
from slacktide.optimizer.rule_parts.shapes import Shapes
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Pair


def rules(shapes: Shapes, keys: Keys) -> tuple[MemoRule, ...]:
    """The rules of this method.

    Args:
        shapes: columns that rules make.
        keys: the declared key of each table.
    """

    def maintain(found: Binding, memo: Memo) -> None:
        tree = outer_tree(found["rel"], keys)
        if tree is not None:
            change = _Steps(tree, memo, shapes, found["q"], found["delta"]).change()
            memo.fill(found["q"], found["delta"], change)

    return (
        MemoRule(
            name="maintain_outer_joins",
            identity="ΔQ = ΔQD + ΔQI, by terms of the join-disjunctive normal form",
            source="Tempura: OJV, after Larson and Zhou",
            pattern=(Form("q", "rel", r.Join), Has("q", "delta", SetDelta)),
            apply=maintain,
        ),
    )


class _Steps:
    """The change of a tree, table by table."""

    def __init__(
        self, tree: OuterTree, memo: Memo, shapes: Shapes, q: int, delta: SetDelta
    ) -> None:
        self._tree = tree
        self._memo = memo
        self._shapes = shapes
        self._columns = tree.root.columns
        self._delta = delta
        self._view: Operator = memo.ask(q, SetSnap(delta.start), self._columns)

    def change(self) -> Operator:
        """The change by all tables."""
        changed = self._memo.tables.changed(self._delta.start, self._delta.end)
        done: frozenset[str] = frozenset()
        terms: list[Operator] = []
        for place, table in enumerate(self._tree.tables):
            used = self._memo.used(self._memo.tvr(table.rel))
            if used & changed:
                version = self._memo.tables.step(self._delta.start, self._delta.end, done)
                terms += self._of_table(place, version)
                done |= used
        return o.Add(tuple(terms), self._columns)

    def _of_table(self, place: int, version: Version) -> list[Operator]:
        rel = self._tree.tables[place].rel
        rows = self._memo.ask(self._memo.tvr(rel), self._delta, rel.columns)
        gone = o.Negate(o.ByBalance(rows, rows.columns, "gone"))
        came = o.ByBalance(rows, rows.columns, "came")
        lost = o.Consolidate(self._direct(self._tree.root, place, gone, version))
        terms: list[Operator] = [o.Negate(lost), *self._orphans(place, lost)]
        self._view = o.Add((self._view, *terms), self._columns)
        won = o.Consolidate(self._direct(self._tree.root, place, came, version))
        more: list[Operator] = [won, *self._adopted(place, won)]
        self._view = o.Add((self._view, *more), self._columns)
        return [*terms, *more]

    def _direct(self, rel: Rel, place: int, rows: Operator, version: Version) -> Operator:
        """ΔQD: the tree from a changed table up, which alone is preserved."""
        if not isinstance(rel, r.Join):
            return rows
        is_left = place in self._tree.of(rel.left)
        side, other = (rel.left, rel.right) if is_left else (rel.right, rel.left)
        own = self._direct(side, place, rows, version)
        there = self._memo.ask(self._memo.tvr(other), SetSnap(version), other.columns)
        left, right = (own, there) if is_left else (there, own)
        met = o.JoinBags(left, right, rel.condition)
        if rel.kind not in {"full", "left" if is_left else "right"}:
            return met
        lonely = o.SemiBags(own, there, rel.condition, negated=True)
        return o.Add((met, padded(lonely, rel.columns)), rel.columns)

    def _adopted(self, place: int, won: Operator) -> list[Operator]:
        """ΔQI on insert: padded rows that are in one with a partner now."""
        return [
            o.Negate(
                o.Touched(
                    o.Select(self._view, self._pattern(term, whole=True)),
                    o.Select(won, self._pattern(term, whole=False)),
                    tuple(Pair(s.reference(c), s.reference(c)) for c in self._tree.key(term)),
                )
            )
            for term in self._tree.indirect(place)
        ]

    def _orphans(self, place: int, lost: Operator) -> list[Operator]:
        """ΔQI on delete: rows that had their last partner in what is gone."""
        left: Operator = o.Add((self._view, o.Negate(lost)), self._columns)
        found: list[Operator] = []
        for term in self._tree.indirect(place):
            has = self._pattern(term, whole=False)
            columns = self._tree.columns(term)
            once = self._distinct(o.Map(o.Select(lost, has), tuple(map(s.identity, columns))))
            key = self._tree.key(term)
            named = [self._shapes.column(self._tree.root, "orphan", c.id, c.type) for c in key]
            pairs = [s.Assignment(n, s.reference(c)) for n, c in zip(named, key, strict=True)]
            partners = o.Map(o.Select(left, has), tuple(pairs))
            same = conjunction(
                s.Call("=", (s.reference(c), s.reference(n)), BOOLEAN, nullable=True)
                for n, c in zip(named, key, strict=True)
            )
            orphans = o.SemiBags(once, partners, same, negated=True)
            found.append(padded(orphans, self._columns))
            left = o.Add((left, found[-1]), self._columns)
        return found

    def _distinct(self, rows: Operator) -> Operator:
        """Each row once."""
        count = self._shapes.column(self._tree.root, "__n", 0, BIGINT)
        keys = tuple(
            s.Assignment(self._shapes.column(self._tree.root, "once", c.id, c.type), s.reference(c))
            for c in rows.columns
        )
        state = o.Summarise(rows, keys, (o.Partial(count, "count", None, None),))
        outputs = tuple(
            s.Assignment(c, s.reference(key.column))
            for c, key in zip(rows.columns, keys, strict=True)
        )
        merged = o.Combine(state, tuple(key.column for key in keys))
        return o.Finish(merged, count.id, outputs, is_global=False)

    def _pattern(self, term: Term, *, whole: bool) -> s.Scalar:
        """That the tables of a term are in a row; with `whole`, that no others are."""
        tests: list[s.Scalar] = []
        for place, table in enumerate(self._tree.tables):
            column = table.key[0]
            value = s.Reference(column.id, column.type, nullable=True)
            is_null = s.Call("isnull", (value,), BOOLEAN, nullable=False)
            if place in term:
                tests.append(s.Call("not", (is_null,), BOOLEAN, nullable=False))
            elif whole:
                tests.append(is_null)
        return conjunction(tests) or s.Literal("true", BOOLEAN, nullable=False)

"""Trees of outer joins, and the terms that their rows are of (tempura.md §2.4, O-1).

A term is the set of tables that are not padded with NULL in a row: the join-disjunctive normal form of
Galindo-Legaria. A tree is taken only where the terms tell the rows apart: each table stands once
and has a key that is never NULL and survives, and every condition is false where one of its tables
is NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import conjuncts
from slacktide.algebra.relation import Columns, Rel
from slacktide.algebra.scalar import Column
from slacktide.algebra.tree import references, row_source
from slacktide.algebra.types import has_floating, is_groupable

Term = frozenset[int]
Keys = Mapping[str, tuple[str, ...]]
_REJECTS = frozenset({"=", "<", "<=", ">", ">="})


@dataclass(frozen=True, slots=True)
class Table:
    """A table below a tree of joins.

    Attributes:
        rel: its scan, maybe below a filter or a projection.
        key: the columns that identify its rows.
    """

    rel: Rel
    key: Columns


@dataclass(frozen=True, slots=True)
class OuterTree:
    """A tree of joins over tables.

    Attributes:
        root: the tree.
        tables: from left to right.
    """

    root: r.Join
    tables: tuple[Table, ...]

    def terms(self) -> tuple[Term, ...]:
        """The terms of the rows, those of many tables first."""
        return tuple(sorted(self._terms(self.root), key=lambda term: (-len(term), sorted(term))))

    def indirect(self, place: int) -> tuple[Term, ...]:
        """The terms without a table that lose or gain rows as the table gains or loses some."""
        terms = self.terms()
        return tuple(
            term
            for term in terms
            if place not in term and any(place in parent for parent in _parents(term, terms))
        )

    def of(self, rel: Rel) -> frozenset[int]:
        """The tables of a part of the tree."""
        ids = {column.id for column in rel.columns}
        return frozenset(place for place, table in enumerate(self.tables) if table.key[0].id in ids)

    def columns(self, term: Term) -> Columns:
        """The columns of some tables, in the order of the tree's."""
        ids = {column.id for place in term for column in self.tables[place].rel.columns}
        return tuple(column for column in self.root.columns if column.id in ids)

    def key(self, term: Term) -> Columns:
        """The columns that identify what some tables add to a row."""
        return tuple(column for place in sorted(term) for column in self.tables[place].key)

    def _terms(self, rel: Rel) -> frozenset[Term]:
        if not isinstance(rel, r.Join):
            return frozenset({self.of(rel)})
        left, right = self._terms(rel.left), self._terms(rel.right)
        needed = frozenset() if rel.condition is None else references(rel.condition)
        tested = frozenset(
            place
            for place, table in enumerate(self.tables)
            if needed & {column.id for column in table.rel.columns}
        )
        found = {one | other for one in left for other in right if one | other >= tested}
        if rel.kind in {"left", "full"}:
            found |= left
        if rel.kind in {"right", "full"}:
            found |= right
        return frozenset(found)


def outer_tree(root: Rel, keys: Keys) -> OuterTree | None:
    """Take a tree of joins apart; None where its rows could not be told apart."""
    if not isinstance(root, r.Join):
        return None
    tables: list[Table] = []
    has_outer = False
    stack: list[Rel] = [root]
    while stack:
        rel = stack.pop()
        if isinstance(rel, r.Join):
            if rel.kind not in {"inner", "left", "right", "full"} or not _rejects_null(rel):
                return None
            has_outer = has_outer or rel.kind != "inner"
            stack += [rel.right, rel.left]
            continue
        table = _table(rel, keys)
        if table is None:
            return None
        tables.append(table)
    names = [_scan(table.rel) for table in tables]
    if not has_outer or len({scan.source for scan in names if scan}) != len(tables):
        return None
    return OuterTree(root, tuple(tables))


def _parents(term: Term, terms: tuple[Term, ...]) -> tuple[Term, ...]:
    above = [other for other in terms if other > term]
    return tuple(p for p in above if not any(term < other < p for other in above))


def _rejects_null(rel: r.Join) -> bool:
    """Whether a condition is a conjunction of comparisons of columns, none true of NULL."""
    parts = list(conjuncts(rel.condition))
    return bool(parts) and all(
        isinstance(part, s.Call)
        and part.function in _REJECTS
        and all(isinstance(argument, s.Reference | s.Literal) for argument in part.arguments)
        and bool(references(part))
        for part in parts
    )


def _table(rel: Rel, keys: Keys) -> Table | None:
    scan = _scan(rel)
    if scan is None or scan.source not in keys:
        return None
    named = {field.name: field for field in scan.fields}
    ids = {column.id for column in rel.columns}
    key = [named.get(name) for name in keys[scan.source]]
    found = tuple(column for column in key if column is not None and column.id in ids)
    if len(found) != len(key) or not found or any(column.nullable for column in found):
        return None
    return Table(rel, found) if all(map(_is_told_by_equality, rel.columns)) else None


def _is_told_by_equality(column: Column) -> bool:
    """Whether a change of the column is one to a comparison, so that the old row goes and the new one comes."""
    return is_groupable(column.type) and not has_floating(column.type)


def _scan(rel: Rel) -> r.Scan | None:
    below = row_source(rel)
    return below if isinstance(below, r.Scan) else None

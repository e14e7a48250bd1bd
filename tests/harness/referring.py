"""Sources that refer to each other by keys: histories that keep the foreign keys, and random joins.

Keys are few, so that one of a batch goes, comes again as another row, is updated or moves, with the
rows that refer to it and without.
"""

from __future__ import annotations

import random
from itertools import count
from typing import Any

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import conjunction
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey
from slacktide.program.reference.bags import Bag
from tests.harness.plans import SourceShape
from tests.harness.plans.scalars import call, whole

Row = tuple[Any, ...]
Rows = dict[str, list[Row]]

KEYS = range(5)
KINDS: tuple[r.JoinKind, ...] = (*("inner",) * 7, "left", "semi", "anti", "right")
TABLES: dict[str, tuple[tuple[str, bool], ...]] = {
    "n": (("nk", False), ("w", True)),
    "c": (("ck", False), ("nk", True), ("w", True)),
    "o": (("ok", False), ("ck", True), ("w", True)),
    "p": (("a", False), ("b", False), ("w", True)),
    "e": (("ek", False), ("boss", True), ("w", True)),
    "l": (("ok", True), ("a", True), ("b", True), ("w", True)),
}
IDENTIFIED = {"n": 1, "c": 1, "o": 1, "p": 2, "e": 1, "l": 0}
FOREIGN_KEYS = (
    ForeignKey("c", ("nk",), "n", ("nk",)),
    ForeignKey("o", ("ck",), "c", ("ck",)),
    ForeignKey("e", ("boss",), "e", ("ek",)),
    ForeignKey("l", ("ok",), "o", ("ok",)),
    ForeignKey("l", ("a", "b"), "p", ("a", "b")),
)
SHAPES = {
    name: SourceShape(name, tuple((column, "INT", is_null) for column, is_null in columns))
    for name, columns in TABLES.items()
}


def places(table: str, names: tuple[str, ...]) -> list[int]:
    """Where columns stand."""
    known = [name for name, _ in TABLES[table]]
    return [known.index(name) for name in names]


def next_batch(source: random.Random, present: Rows) -> dict[str, Bag]:
    """Change the rows of all sources and give the change; foreign keys hold before and after."""
    if not present:
        present.update({name: [] for name in TABLES})
    before = {name: list(rows) for name, rows in present.items()}
    for name in TABLES:
        present[name] = _moved(source, name, present[name])
    _mend(source, present)
    return {name: _change(source, name, before[name], present[name]) for name in TABLES}


def _moved(source: random.Random, table: str, rows: list[Row]) -> list[Row]:
    if source.random() < 0.3:
        return list(rows)
    found = []
    for row in rows:
        chance = source.random()
        if chance < 0.25:
            continue
        values = list(row)
        if chance < 0.6:
            place = source.randrange(len(values))
            values[place] = _value(source, TABLES[table][place][1])
        found.append(tuple(values))
    found += [
        tuple(_value(source, is_null) for _, is_null in TABLES[table])
        for _ in range(source.randrange(4))
    ]
    width = IDENTIFIED[table]
    return list({row[:width]: row for row in found}.values()) if width else found


def _value(source: random.Random, is_null: bool) -> int | None:
    return None if is_null and source.random() < 0.15 else source.choice(KEYS)


def _mend(source: random.Random, present: Rows) -> None:
    """Point what refers to nothing elsewhere, or take it away, until all foreign keys hold."""
    while broken := _broken(present):
        foreign_key, row = broken
        present[foreign_key.source].remove(row)
        there = present[foreign_key.target]
        if there and source.random() < 0.6:
            values = list(row)
            chosen = source.choice(there)
            ends = places(foreign_key.target, foreign_key.key)
            for place, end in zip(
                places(foreign_key.source, foreign_key.columns), ends, strict=True
            ):
                values[place] = chosen[end]
            present[foreign_key.source].append(tuple(values))


def _broken(present: Rows) -> tuple[ForeignKey, Row] | None:
    for foreign_key in FOREIGN_KEYS:
        ends = places(foreign_key.target, foreign_key.key)
        keys = {tuple(row[end] for end in ends) for row in present[foreign_key.target]}
        for row in present[foreign_key.source]:
            key = tuple(row[place] for place in places(foreign_key.source, foreign_key.columns))
            if None not in key and key not in keys:
                return foreign_key, row
    return None


def _change(source: random.Random, table: str, before: list[Row], after: list[Row]) -> Bag:
    """What leads from rows to others, with rows that came and went."""
    left = list(after)
    gone = []
    for row in before:
        if row in left and source.random() < 0.9:
            left.remove(row)
        else:
            gone.append(row)
    bag = [(row, -1) for row in gone] + [(row, 1) for row in left]
    if source.random() < 0.3:
        passing = tuple(_value(source, is_null) for _, is_null in TABLES[table])
        bag += [(passing, 1), (passing, -1)]
    return bag


class Joins:
    """Makes random joins, most of them along foreign keys, under and over other nodes."""

    def __init__(self, source: random.Random) -> None:
        self._source = source
        self._ids = count(1)

    def relation(self) -> r.Rel:
        """A relation over two to five scans."""
        found = self._any_scan()
        for _ in range(self._source.randint(1, 4)):
            other = self._any_scan() if self._chance(0.8) else self._join(self._any_scan())
            found = self._join(found, other)
        if self._chance(0.4):
            column = self._source.choice(found.columns)
            key = s.Assignment(self._column("g", column.nullable), s.reference(column))
            counted = s.AggregateCall("count", (), False, None, "BIGINT", False)
            number = s.Column(next(self._ids), "n", "BIGINT", False)
            return r.Aggregate(found, (key,), (s.Measure(number, counted),))
        return found

    def _chance(self, share: float) -> bool:
        return self._source.random() < share

    def _column(self, name: str, nullable: bool) -> s.Column:
        return s.Column(next(self._ids), name, "INT", nullable)

    def _any_scan(self) -> r.Rel:
        return self._around(self._scan(self._source.choice(list(TABLES))))

    def _scan(self, table: str) -> r.Rel:
        fields = tuple(self._column(name, is_null) for name, is_null in TABLES[table])
        return r.Scan(table, fields)

    def _around(self, rel: r.Rel) -> r.Rel:
        chance = self._source.random()
        if chance < 0.25:
            weights = [column for column in rel.columns if column.name == "w"]
            if weights:
                return r.Filter(rel, call(">", s.reference(weights[0]), whole(1)))
        if chance < 0.4:
            kept = [c for c in rel.columns if c.name != "w"] or list(rel.columns)
            outputs = [
                s.Assignment(self._column(column.name, column.nullable), s.reference(column))
                for column in kept
            ]
            return r.Project(rel, tuple(outputs))
        if chance < 0.5:
            kept = [c for c in rel.columns if c.name != "w"][:2]
            keys = [s.Assignment(self._column(c.name, c.nullable), s.reference(c)) for c in kept]
            return r.Aggregate(rel, tuple(keys), ()) if keys else rel
        return rel

    def _join(self, left: r.Rel, right: r.Rel | None = None) -> r.Rel:
        right = self._any_scan() if right is None else right
        edges = [
            (own, other)
            for own in left.columns
            for other in right.columns
            if own.name != "w" and _meet(own.name, other.name)
        ]
        if not edges and self._chance(0.7):
            right = self._around(self._scan(self._source.choice("ncopel")))
            return self._join(left, right) if self._chance(0.8) else left
        tests: list[s.Scalar] = []
        if edges:
            own, other = self._source.choice(edges)
            chosen = [(own, other)]
            if own.name in "ab":
                chosen = [(x, y) for x, y in edges if x.name == y.name and x.name in "ab"]
            tests = [call("=", s.reference(x), s.reference(y)) for x, y in chosen]
        if self._chance(0.2):
            one, two = self._source.choice(left.columns), self._source.choice(right.columns)
            tests.append(call("<=", s.reference(one), s.reference(two)))
        kind = self._source.choice(KINDS)
        if len(left.columns) + len(right.columns) > 12:
            kind = "semi"
        return self._around(r.Join(left, right, kind, conjunction(tests)))


def _meet(one: str, other: str) -> bool:
    return one == other or {one, other} == {"boss", "ek"}

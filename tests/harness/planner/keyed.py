"""Random trees of outer joins over tables with keys, and histories that keep the keys unique."""

from __future__ import annotations

import random

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.relation import Rel
from slacktide.program.reference.bags import Bag
from tests.harness.plans import SourceShape

KINDS: tuple[r.JoinKind, ...] = ("inner", "left", "right", "full")
VALUES = (None, 0, 1, 2)


def table(place: int) -> tuple[SourceShape, r.Scan]:
    """A table with a key and two columns by which it is joined, and its scan."""
    name = f"t{place}"
    columns = (("k", "INT", False), ("x", "INT", True), ("y", "INT", True))
    scan = r.Scan(
        name,
        tuple(s.Column(10 * place + n, *column) for n, column in enumerate(columns, 1)),
    )
    return SourceShape(name, columns), scan


def random_tree(source: random.Random, tables: int) -> tuple[Rel, tuple[SourceShape, ...]]:
    """A tree of joins of random shape and kinds, maybe below a filter of one of its tables."""
    made = [table(place) for place in range(1, tables + 1)]
    parts: list[Rel] = []
    for _, scan in made:
        test = s.Call(">", (s.reference(scan.columns[1]), whole(0)), "BOOLEAN", nullable=True)
        parts.append(r.Filter(scan, test) if source.random() < 0.2 else scan)
    while len(parts) > 1:
        place = source.randrange(len(parts) - 1)
        left, right = parts[place], parts[place + 1]
        test = s.Call(
            source.choice(("=", "=", "=", "<")),
            (one(source, left), one(source, right)),
            "BOOLEAN",
            nullable=True,
        )
        parts[place : place + 2] = [r.Join(left, right, source.choice(KINDS), test)]
    return parts[0], tuple(shape for shape, _ in made)


def one(source: random.Random, rel: Rel) -> s.Reference:
    """A column that is no key; its side may be padded, so that it may be NULL."""
    column = source.choice([c for c in rel.columns if c.name != "k"])
    return s.reference(column)


def whole(number: int) -> s.Literal:
    return s.Literal(str(number), "INT", nullable=False)


def history(
    source: random.Random, shapes: tuple[SourceShape, ...], batches: int
) -> list[dict[str, Bag]]:
    """Batches of inserts, deletes and updates that keep the first column a key."""
    present: dict[str, dict[int, tuple]] = {shape.name: {} for shape in shapes}
    found = []
    for _ in range(batches):
        batch: dict[str, Bag] = {}
        for name, rows in present.items():
            bag: Bag = []
            for key in list(rows):
                if source.random() < 0.4:
                    bag.append((rows.pop(key), -1))
            for key in range(1, 6):
                if key not in rows and source.random() < 0.5:
                    rows[key] = (key, source.choice(VALUES), source.choice(VALUES))
                    bag.append((rows[key], 1))
            batch[name] = bag
        found.append(batch)
    return found

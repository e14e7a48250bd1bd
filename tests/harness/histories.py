"""Histories of changes from a plain random source, for the sources that a relation reads."""

from __future__ import annotations

import random

from slacktide.algebra.relation import Rel, Scan
from slacktide.common.tree import of_type
from slacktide.program.reference.bags import Bag
from tests.harness.plans import SourceShape


def shapes_of(relation: Rel) -> tuple[SourceShape, ...]:
    """The sources of a relation with the columns that it reads."""
    return tuple(
        SourceShape(scan.source, tuple((c.name, c.type, c.nullable) for c in scan.fields))
        for scan in {scan.source: scan for scan in of_type(relation, Scan)}.values()
    )


def next_changes(source: random.Random, shape: SourceShape, present: list) -> Bag:
    """Delete half of what is present, and insert up to four rows."""
    gone = [present.pop(source.randrange(len(present))) for _ in range(len(present) // 2)]
    fresh = [shape.row(source.randrange(4**6)) for _ in range(source.randrange(5))]
    present += fresh
    return [(row, -1) for row in gone] + [(row, 1) for row in fresh]

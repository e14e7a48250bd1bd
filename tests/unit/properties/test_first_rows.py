"""First rows that are cut off all the time, and run dry, give what batch gives, in every order."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from slacktide.algebra.textual import from_text
from slacktide.optimizer.rule_parts import first
from slacktide.program.reference import programs
from slacktide.program.reference.bags import Bag
from slacktide.program.reference.first import is_dry as dry
from tests.harness.histories import shapes_of
from tests.harness.maintained import Maintained
from tests.harness.plans import Case, SourceShape

LEFT = "scan l [k#1:INT, g#2:STRING, v#3:INT]"
RIGHT = "scan r [k#4:INT, w#5:INT]"
TOTAL = "[#3 desc nulls first, #1 asc nulls last, #2 asc nulls first]"
RELATIONS = {
    "falling": f"limit 2 offset 0\n  sort {TOTAL}\n    {LEFT}",
    "rising": (
        "limit 3 offset 1\n  sort [#3 asc nulls last, #2 desc nulls last, #1 desc nulls first]\n"
        f"    {LEFT}"
    ),
    "offset as Spark plans it": (
        f"limit 2 offset 0\n  limit all offset 2\n    project [#3, #1]\n      sort {TOTAL}\n        {LEFT}"
    ),
    "of equal rows": "limit 4 offset 0\n  sort [#3 desc nulls last]\n    project [#3]\n      "
    + LEFT,
    "of a join": (
        "limit 2 offset 0\n  sort [#5 asc nulls last, #1 asc nulls last, #3 asc nulls last]\n"
        f"    project [#1, #3, #5]\n      join left on (#1 = #4)\n        {LEFT}\n        {RIGHT}"
    ),
    "below groups": (
        f"aggregate key=[#2] [n#8 := count()]\n  limit 3 offset 0\n    sort {TOTAL}\n      {LEFT}"
    ),
    "below a join": (
        f"join inner on (#1 = #4)\n  limit 3 offset 0\n    sort {TOTAL}\n      {LEFT}\n  {RIGHT}"
    ),
}
SEEDS = range(12)
BATCHES = 8


def next_changes(source: random.Random, shape: SourceShape, present: list) -> Bag:
    """A few inserts and deletes, or nearly everything deleted."""
    gone = len(present) - 1 if source.random() < 0.1 else min(source.randrange(4), len(present))
    lost = [present.pop(source.randrange(len(present))) for _ in range(max(gone, 0))]
    fresh = [shape.row(source.randrange(4**6)) for _ in range(source.randrange(6))]
    present += fresh
    return [(row, -1) for row in lost] + [(row, 1) for row in fresh]


@pytest.mark.parametrize("kept", [1, 6])
@pytest.mark.parametrize("name", RELATIONS)
def test_every_refresh_equals_batch(name: str, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    relation = from_text(RELATIONS[name] + "\n")
    monkeypatch.setattr(first, "FEWEST_KEPT", kept)
    asked: Counter[bool] = Counter()

    def is_dry(bag: Bag, least: int) -> bool:
        found = dry(bag, least)
        asked[found] += 1
        return found

    monkeypatch.setattr(programs, "is_dry", is_dry)
    shapes = shapes_of(relation)
    for seed in SEEDS:
        source = random.Random(seed)  # noqa: S311
        maintained = Maintained(Case(relation, shapes))
        present: dict[str, list] = {shape.name: [] for shape in shapes}
        for _ in range(BATCHES):
            maintained.arrive({s.name: next_changes(source, s, present[s.name]) for s in shapes})
            maintained.refresh()
    assert asked[True]
    assert asked[False]

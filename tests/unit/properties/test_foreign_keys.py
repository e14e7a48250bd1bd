"""Programs that go by foreign keys give what batch evaluation gives, whatever keys come, go and move."""

from __future__ import annotations

import random

import pytest

from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.common.tree import of_type
from slacktide.optimizer.programs.upkeep import upkeep_of
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey
from slacktide.program.operator import ByBalance
from tests.harness.maintained import Maintained
from tests.harness.plans import Case
from tests.harness.referring import FOREIGN_KEYS, SHAPES, Joins, Rows, next_batch

SHARDS = 4
EXAMPLES = 90
BATCHES = 4


def refresh_equals_batch(seed: int, foreign_keys: frozenset[ForeignKey]) -> int:
    """Give how many of the runs went by a foreign key."""
    source = random.Random(seed)  # noqa: S311
    relation = Joins(source).relation()
    shapes = tuple(SHAPES[name] for name in sources(relation))
    maintained = Maintained(Case(relation, shapes), foreign_keys=foreign_keys)
    present: Rows = {}
    by_foreign_key = 0
    for _ in range(BATCHES):
        batch = next_batch(source, present)
        maintained.arrive({shape.name: batch[shape.name] for shape in shapes})
        plan = maintained.refresh()
        if plan.program is not None and any(of_type(plan.program, ByBalance)):
            assert plan.foreign_keys
            by_foreign_key += 1
    return by_foreign_key


@pytest.mark.parametrize("seed", range(40))
def test_snapshots_are_read_of_the_same_sources(seed: int) -> None:
    """So that mirrors are there where a foreign key is lost."""
    relation = Joins(random.Random(seed)).relation()  # noqa: S311
    view = ReadView(relation, relation.columns, sources=sources(relation))
    along, without = upkeep_of(view, "auto", frozenset(FOREIGN_KEYS)), upkeep_of(view, "auto")
    assert along.snapshots == without.snapshots


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_refresh_by_foreign_keys_equals_batch(shard: int) -> None:
    seeds = range(shard * EXAMPLES, (shard + 1) * EXAMPLES)
    runs = sum(refresh_equals_batch(seed, frozenset(FOREIGN_KEYS)) for seed in seeds)
    assert runs > EXAMPLES

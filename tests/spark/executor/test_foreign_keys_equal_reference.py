"""Programs that go by foreign keys: the Spark executor and the reference interpreter agree."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from slacktide.algebra.tree import sources
from tests.harness.maintained import VIEW, Maintained
from tests.harness.plans import Case
from tests.harness.referring import FOREIGN_KEYS, SHAPES, Joins, Rows, next_batch
from tests.harness.workspace_on_spark import SparkWorkspace
from tests.spark.executor.test_executor_equals_reference import check

SEEDS = range(2_000, 2_012)


@pytest.mark.spark
@pytest.mark.parametrize("seed", SEEDS)
def test_executor_equals_reference(spark, tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)  # noqa: S311
    relation = Joins(source).relation()
    case = Case(relation, tuple(SHAPES[name] for name in sources(relation)))
    maintained = Maintained(case, foreign_keys=frozenset(FOREIGN_KEYS))
    workspace = SparkWorkspace(spark, tmp_path, case, view=VIEW)
    present: Rows = {}
    for number in range(3):
        batch = next_batch(source, present)
        named = {shape.name: batch[shape.name] for shape in case.sources}
        maintained.arrive(named)
        workspace.arrive(named)
        check(maintained, workspace, on_spark=number > 0)

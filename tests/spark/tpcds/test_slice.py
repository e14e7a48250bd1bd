"""Some queries of TPC-DS, each of another shape, against batch: a slice of the campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.campaigns.tpcds_views import SEED, Group, kinds, run_group
from tests.harness.tpcds_feed import generate_history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

# A star, a correlated average, ROLLUP with ranks, ranks against the one value of a group, customers who
# bought here and nowhere else.
SLICE = ("q3", "q32", "q36", "q44", "q69")


def test_a_slice_equals_batch_after_every_run(tmp_path: Path, spark: SparkSession) -> None:
    history = tmp_path / "history"
    generate_history(history, seed=SEED, kinds=kinds(2))
    *_, group = run_group(Group(list(SLICE)), tmp_path / "slice", history, spark, batches=2)
    assert group.refused == {}
    for step in group.steps:
        views = step["views"]
        assert {name: view for name, view in views.items() if not view["equal"]} == {}
        assert [name for name, view in views.items() if view["empty"]] == []
    late, empty = group.steps
    assert [late["kind"], empty["kind"]] == ["late", "empty"]
    assert all(view["changed"] for view in late["views"].values())
    assert {view["method"] for view in empty["views"].values()} <= {"incremental", "unchanged"}

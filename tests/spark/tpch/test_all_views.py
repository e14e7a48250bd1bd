"""The 22 views against batch: a slice of `tests/campaigns/tpch_views.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slacktide.program import lightness
from slacktide.program.operator import Batch, Publish
from slacktide.workloads import tpch
from tests.campaigns.tpch_views import build, steps, stream_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slacktide import Workspace

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module", autouse=True)
def as_large() -> Iterator[None]:
    """Let all queries run as those of large data do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lightness, "MOST_READ", -1)
        yield


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> tuple[Path, Workspace]:
    """All views by increments, whatever these cost on a machine with other work."""
    root = tmp_path_factory.mktemp("tpch")
    return root, build(root, spark, policy="incremental")


@pytest.mark.parametrize("nature", tpch.NATURES)
def test_every_answer_equals_batch_after_every_run(
    nature: str, shop: tuple[Path, Workspace], spark: SparkSession
) -> None:
    root, workspace = shop
    kinds = ["late", "empty"] if nature == "clustered" else ["late"]
    found = list(steps(root, workspace, spark, nature, batches=len(kinds)))
    assert [step.kind for step in found] == kinds
    assert [step.different for step in found if step.different] == []
    assert {method for step in found for method in step.methods.values()} <= {
        "incremental",
        "unchanged",
    }
    assert len(found[0].empty) <= 2
    assert sum(found[0].changed.values()) >= 18


def test_every_answer_without_states_equals_batch(
    tmp_path_factory: pytest.TempPathFactory, spark: SparkSession
) -> None:
    """Once rows have gone from mirrors, three views ask for plain rows alone, and the others add signed ones up."""
    root = tmp_path_factory.mktemp("full")
    workspace = build(root, spark, policy="full")
    found = list(steps(root, workspace, spark, "scattered", batches=2))
    assert [step.different for step in found if step.different] == []
    assert {method for step in found for method in step.methods.values()} <= {"full", "unchanged"}
    stream_of(root, "scattered", 0.01).write_next()
    plans = workspace.plan().views
    programs = {plan.view: plan.program for plan in plans if plan.program is not None}
    assert len(programs) == 22
    texts = {name for name, one in programs.items() if isinstance(one.steps[-1].child, Batch)}
    assert texts == {"q2", "q13", "q16"}
    assert all([Publish] == [type(step) for step in one.steps] for one in programs.values())


def test_rows_read_follow_the_change(shop: tuple[Path, Workspace], spark: SparkSession) -> None:
    root, workspace = shop
    stream = tpch.ChangeStream(
        root / "lake", scale=0.01, seed=5, nature="clustered", share=0.01, masters=True
    )
    batch = stream.write_next()
    states = {"q1": 4, "q6": 1}
    report = workspace.refresh(spark, views=[*states])
    for name, state_rows in states.items():
        runs = len(workspace.history(name))
        bound = 2 * batch.rows["lineitem"] + runs * state_rows * 2
        assert 0 < report.views[name].actual["rows_read"] <= bound

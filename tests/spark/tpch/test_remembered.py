"""Views that remember every join that they may, against batch after every run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slacktide import Workspace
from slacktide.workloads import tpch
from tests.harness.eager import eagerly

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

SCALE = 0.002
VIEWS = ("q5", "q9", "q17", "q21")


@pytest.fixture
def eager() -> Iterator[None]:
    """Let joins be remembered whenever one may be."""
    with eagerly():
        yield


def test_every_answer_equals_batch(tmp_path: Path, spark: SparkSession, eager: None) -> None:
    tpch.generate_base(tmp_path / "lake", scale=SCALE)
    workspace = Workspace.create(str(tmp_path / "workspace"))
    for name, table in tpch.TABLES.items():
        workspace.add_source(
            name, kind="change-feed", path=str(tmp_path / "lake" / name), key=list(table.key)
        )
    parameters = tpch.workable_parameters(SCALE)
    for name in VIEWS:
        workspace.add_view(spark, name, tpch.query(name, **parameters.get(name, {})))
    workspace.refresh(spark)
    needed = {name: set(record.states) for name, record in workspace._store.world().views.items()}
    stream = tpch.ChangeStream(
        tmp_path / "lake", scale=SCALE, seed=11, nature="scattered", share=0.02, masters=True
    )
    for number in range(3):
        stream.write_next(empty=number == 1)
        report = workspace.refresh(spark)
        assert {view.method for view in report.views.values()} <= {"incremental", "unchanged"}
        verified = workspace.verify(spark)
        assert [name for name, view in verified.views.items() if not view.equal] == []
    world = workspace._store.world()
    remembered = {name for name, before in needed.items() if set(world.views[name].states) - before}
    assert {"q5", "q9", "q17"} <= remembered
    for name in remembered:
        assert all(state in world.chains for state in world.views[name].states)


def test_what_a_dropped_view_remembered_goes(
    tmp_path: Path, spark: SparkSession, eager: None
) -> None:
    workspace = Workspace.create(str(tmp_path / "workspace"))
    for name, schema in (("l", "k INT, v INT"), ("r", "k INT, w INT"), ("s", "w INT, x INT")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.csv").write_text("1,2\n2,3\n")
        workspace.add_source(
            name, kind="files", format="csv", path=str(tmp_path / name), schema=schema
        )
    sql = "SELECT l.v, count(*) AS n FROM l JOIN r ON l.k = r.k JOIN s ON r.w = s.w GROUP BY l.v"
    workspace.add_view(spark, "a", sql, policy="incremental")
    workspace.refresh(spark)
    for number in (2, 3):
        for name in ("l", "r", "s"):
            (tmp_path / name / f"{number}.csv").write_text(f"{number},{number}\n2,3\n")
        workspace.refresh(spark)
        assert workspace.verify(spark).views["a"].equal
    remembered = [i for i in workspace._store.world().chains if i.startswith("states/")]
    assert len(remembered) > 1
    workspace.replace_view(spark, "a", sql.replace("l JOIN r", "l  JOIN r"), policy="incremental")
    kept = workspace._store.world()
    assert set(kept.views["a"].states) == set(remembered)
    workspace.drop_view("a")
    assert not any(i.startswith("states/") for i in workspace._store.world().chains)

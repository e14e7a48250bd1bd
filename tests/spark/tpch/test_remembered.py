"""Views that remember every join that they may, against batch after every run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slacktide import Workspace
from slacktide.engine.planning.knowledge import current_joins
from slacktide.optimizer.ways.remembered_joins import Question
from slacktide.store import DropChain
from slacktide.workloads import tpch
from tests.campaigns.tpch_views import build
from tests.harness.eager import eagerly

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slacktide.store.world import World

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

SCALE = 0.002
VIEWS = ("q5", "q9", "q17", "q21")


@pytest.fixture
def eager() -> Iterator[None]:
    """Let joins be remembered whenever one may be."""
    with eagerly():
        yield


def test_every_answer_equals_batch(tmp_path: Path, spark: SparkSession, eager: None) -> None:
    workspace = build(tmp_path, spark, scale=SCALE, views=VIEWS)
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
    assert {"q9", "q17", "q21"} <= {name for name in VIEWS if world.views[name].remembers}
    for name in VIEWS:
        assert all(chain in world.chains for chain in world.views[name].remembers)


def test_what_builds_the_states_builds_the_joins(
    tmp_path: Path, spark: SparkSession, eager: None
) -> None:
    """Every state and join is lost between two changes."""
    workspace = build(tmp_path, spark, scale=SCALE, views=VIEWS)
    stream = tpch.ChangeStream(
        tmp_path / "lake", scale=SCALE, seed=13, nature="scattered", share=0.02, masters=True
    )
    for number in range(4):
        stream.write_next()
        world = workspace._store.world()
        before = {name: world.views[name].remembers for name in VIEWS}
        kept = [chain for chain in world.chains if chain.startswith("states/")]
        lost = kept if number == 2 else []
        workspace._store.commit([DropChain(chain) for chain in lost])
        report = workspace.refresh(spark)
        expected = {"full"} if lost else {"incremental"}
        assert {view.method for view in report.views.values()} == expected
        verified = workspace.verify(spark)
        assert [name for name, view in verified.views.items() if not view.equal] == []
        if lost:
            world = workspace._store.world()
            assert any(before.values())
            for name in VIEWS:
                assert {*before[name]} <= {*world.views[name].remembers} <= {*world.chains}


SQL = "SELECT l.v, {} FROM l JOIN r ON l.k = r.k JOIN s ON r.w = s.w GROUP BY l.v"


class Small:
    """Views over three small tables, each of which gains and has rows twice."""

    def __init__(self, root: Path, spark: SparkSession, views: dict[str, str]) -> None:
        self._root, self._spark, self._number = root, spark, 0
        self.workspace = Workspace.create(str(root / "workspace"))
        for name, schema in (("l", "k INT, v INT"), ("r", "k INT, w INT"), ("s", "w INT, x INT")):
            (root / name).mkdir()
            path = str(root / name)
            self.workspace.add_source(name, kind="files", format="csv", path=path, schema=schema)
        self.arrive()
        for name, measure in views.items():
            self.workspace.add_view(spark, name, SQL.format(measure), policy="incremental")
        self.refresh()

    def arrive(self) -> None:
        self._number += 1
        for name in ("l", "r", "s"):
            rows = f"{self._number % 3},{self._number % 2}\n1,1\n2,0\n"
            (self._root / name / f"{self._number}.csv").write_text(rows)

    def refresh(self, views: list[str] | None = None) -> dict[str, str]:
        """Let rows arrive, refresh some views, and compare their answers with batch; give their methods."""
        self.arrive()
        report = self.workspace.refresh(self._spark, views=views)
        assert "failed" not in {view.method for view in report.views.values()}
        verified = self.workspace.verify(self._spark)
        assert all(verified.views[name].equal for name in report.views)
        return {name: view.method for name, view in report.views.items()}

    @property
    def world(self) -> World:
        return self.workspace._store.world()

    def remembers(self, view: str) -> tuple[str, ...]:
        return self.world.views[view].remembers


def test_what_a_dropped_view_remembered_goes(
    tmp_path: Path, spark: SparkSession, eager: None
) -> None:
    small = Small(tmp_path, spark, {"a": "count(*) AS n"})
    for _ in range(3):
        small.refresh()
    remembered = small.remembers("a")
    assert remembered
    sql = SQL.format("count(*) AS n").replace("l JOIN r", "l  JOIN r")
    small.workspace.replace_view(spark, "a", sql, policy="incremental")
    assert small.remembers("a") == remembered
    assert set(remembered) <= set(small.world.chains)
    small.refresh()
    small.workspace.drop_view("a")
    assert not any(chain.startswith("states/") for chain in small.world.chains)


def test_views_share_what_they_remember(tmp_path: Path, spark: SparkSession, eager: None) -> None:
    """Also where they run apart, and where one goes."""
    small = Small(tmp_path, spark, {"a": "count(*) AS n", "b": "max(s.x) AS m"})
    for _ in range(3):
        small.refresh()
    for views in (["a"], ["b"], ["a", "b"], ["b"], None, None):
        small.refresh(views)
        for name in ("a", "b"):
            assert set(small.remembers(name)) <= set(small.world.chains)
    small.workspace.drop_view("a")
    small.refresh()
    small.refresh()
    assert set(small.remembers("b")) <= set(small.world.chains)


@pytest.mark.parametrize("rebuilt", [("a",), ("a", "b")])
def test_what_one_view_builds_anew_another_one_goes_on_with(
    tmp_path: Path,
    spark: SparkSession,
    eager: None,
    monkeypatch: pytest.MonkeyPatch,
    rebuilt: tuple[str, ...],
) -> None:
    """A state of one is lost, or of both; the join that both remember, and keep, is as of both afterwards."""
    monkeypatch.setattr(Question, "stopped", lambda *_: None)
    small = Small(tmp_path, spark, {"a": "count(*) AS n", "b": "max(s.x) AS m"})
    for _ in range(4):
        small.refresh()
    shared = set(small.remembers("a")) & set(small.remembers("b"))
    assert shared
    for name in rebuilt:
        own = set(small.world.views[name].states) - shared
        small.workspace._store.commit(
            [DropChain(chain) for chain in own if chain in small.world.chains]
        )
    methods = small.refresh()
    assert methods == {n: "full" if n in rebuilt else "incremental" for n in ("a", "b")}
    assert shared <= set(small.remembers("a")) & set(small.remembers("b"))
    assert all(
        shared <= set(current_joins(small.world, small.world.views[name])) for name in ("a", "b")
    )
    for _ in range(2):
        assert small.refresh() == {"a": "incremental", "b": "incremental"}


def test_a_join_that_cannot_be_computed_whole_is_left(
    tmp_path: Path, spark: SparkSession, eager: None
) -> None:
    """A division by zero, over rows that neither batch nor a change brings together."""
    small = Small(tmp_path, spark, {})
    (tmp_path / "l" / "zero.csv").write_text("1,0\n")
    sql = "SELECT l.v, s.x FROM l JOIN r ON l.k = r.k AND 10 DIV l.v > r.w - 9 JOIN s ON r.w = s.w"
    small.workspace.add_view(spark, "a", f"{sql} WHERE s.x = 77", policy="incremental")
    small.workspace.refresh(spark)
    methods = []
    for number in range(5):
        (tmp_path / "s" / f"more{number}.csv").write_text(f"{number},5\n")
        report = small.workspace.refresh(spark).views["a"]
        methods.append((report.method, [str(reason) for reason in report.reasons]))
    told = [reason.split("(")[0] for _, reasons in methods for reason in reasons]
    assert {method for method, _ in methods} == {"incremental"}
    assert told.count("JOIN_FAILS") == 1, "once, and not again"
    assert {*told} == {"POLICY", "JOIN_FAILS"}
    assert small.workspace.verify(spark).views["a"].equal


def test_one_that_cannot_be_computed_whole_any_more_is_left_by_a_run_that_builds_the_states(
    tmp_path: Path, spark: SparkSession, eager: None
) -> None:
    """A division by zero comes to what is remembered, over rows that nobody asks for."""
    small = Small(tmp_path, spark, {})
    sql = (
        "SELECT l.v, count(*) AS n FROM l JOIN r ON l.k = r.k AND 10 DIV (l.v - 7) > r.w - 99 "
        "JOIN s ON r.w = s.w WHERE s.x = 77 GROUP BY l.v"
    )
    small.workspace.add_view(spark, "a", sql, policy="incremental")
    for _ in range(4):
        small.refresh()
    joined = small.remembers("a")
    assert joined
    small.workspace._store.commit([DropChain(c) for c in small.world.views["a"].states])
    (tmp_path / "l" / "zero.csv").write_text("1,7\n")
    report = small.workspace.refresh(spark).views["a"]
    assert report.method == "full"
    assert [str(reason).split("(")[0] for reason in report.reasons] == [
        "STATE_MISSING",
        "JOIN_FAILS",
    ]
    assert not small.remembers("a"), "it was given up"
    assert small.workspace.verify(spark).views["a"].equal
    assert small.refresh() == {"a": "incremental"}

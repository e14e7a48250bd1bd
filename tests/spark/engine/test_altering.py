"""A source gains columns: what is told of them, and what becomes of views, states and mirrors."""

from __future__ import annotations

from pathlib import Path

import pytest

from slacktide.errors import ArrivalChangedError, InvalidSettingError, QueryError
from tests.harness.lab import Lab, bag

pytestmark = pytest.mark.spark

NARROW, WIDE = "k STRING, v INT", "k STRING, v INT, w INT"
SUMS = "SELECT k, sum(v) AS s FROM t GROUP BY k"
ROWS = [(f"k{i % 7}", i) for i in range(140)]


@pytest.fixture
def filled(lab: Lab) -> Lab:
    """A workspace with the sources `t` and `u`, and views that read one of them or both."""
    lab.source("t", NARROW, *ROWS)
    lab.source("u", "k STRING, n INT", *[(f"k{i}", i) for i in range(7)])
    lab.view("sums", SUMS)
    lab.view("joined", "SELECT t.k, t.v, u.n FROM t JOIN u ON t.k = u.k")
    lab.view("stars", "SELECT * FROM t WHERE v > 100")
    lab.view("over", "SELECT k, s FROM sums WHERE s > 1400")
    lab.view("above", "SELECT * FROM stars")
    lab.view("aside", "SELECT k, count(*) AS c FROM stars GROUP BY k")
    lab.step()
    return lab


def test_a_column_is_told_ignored_and_then_taken_in(filled: Lab) -> None:
    lab = filled
    lab.shape("t", WIDE)
    lab.land("t", insert=[("k1", 1, 10), ("k2", 200, 20)])
    plan = lab.ws.plan()
    (notice,) = plan.notices
    assert "source t: files have the columns w INT, which are not declared" in notice
    assert f"slacktide source alter t --schema '{WIDE}'" in notice
    report = lab.ws.refresh(lab.spark, plan)
    assert report.notices == plan.notices
    lab.verified()
    assert lab.ws.status().sources["t"]["extra"] == [{"name": "w", "type": "INT", "version": 2}]
    lab.land("t", insert=[("k1", 2, None)])
    assert lab.ws.plan().notices == (), "the plan that took it in has told it"
    lab.step()
    before = lab.ws._store.world()
    assert "sources/t" in before.chains
    replaced = lab.ws.alter_source(lab.spark, "t", schema=WIDE)
    assert replaced == ("stars", "above")
    after = lab.ws._store.world()
    assert {name for name in before.views if before.views[name] != after.views[name]} == {
        "stars",
        "above",
    }
    states = {name for name in before.chains if name.startswith("states/")}
    assert states <= set(after.chains), "no state reads the column"
    assert "sources/t" in after.chains, "the mirror is older than the column"
    assert lab.ws.status().sources["t"]["extra"] == []
    report = lab.step(sums="unchanged", joined="unchanged", aside="unchanged", stars="full")
    assert lab.ws.read(lab.spark, "above").columns == ["k", "v", "w"]
    assert lab.bag("stars")[("k2", 200, 20)] == 1
    lab.land("t", insert=[("k3", 300, 30)], delete=[("k2", 200, 20)])
    lab.view("fresh", "SELECT w, count(*) AS c FROM t GROUP BY w")
    lab.step(sums="incremental", joined="incremental", stars="incremental", above="incremental")
    lab.shape("t", NARROW)
    lab.land_as("t", [("delete", ROWS[0]), ("insert", ("k5", 5))])
    lab.step(sums="incremental", fresh="incremental")
    assert lab.bag("fresh") == bag([(None, 141), (10, 1), (30, 1)])


def test_a_mirror_that_lacks_the_column_is_made_anew(filled: Lab) -> None:
    lab = filled
    lab.shape("t", WIDE)
    lab.land("t", insert=[(f"k{i % 7}", i, i) for i in range(60)])
    lab.step()
    mirror = lab.ws._store.world().chains["sources/t"]
    assert mirror.versions == {"t": 2}
    first = min(lab.folder("t").iterdir())
    kept = first.rename(first.with_name("_kept"))
    with pytest.raises(ArrivalChangedError, match="is gone"):
        lab.ws.alter_source(lab.spark, "t", schema=WIDE)
    kept.rename(first)
    assert lab.ws._store.world().chains["sources/t"] == mirror
    lab.ws.alter_source(lab.spark, "t", schema=WIDE)
    assert "sources/t" not in lab.ws._store.world().chains
    lab.view("both", "SELECT t.w, u.n FROM t JOIN u ON t.k = u.k")
    lab.land("t", delete=[("k1", 1, 1)])
    lab.step(sums="incremental", joined="incremental", both="full")
    lab.land("u", delete=[("k1", 1)])
    lab.step(joined="incremental", both="incremental")


def test_what_is_refused_changes_nothing(filled: Lab, tmp_path: Path) -> None:
    lab = filled
    lab.view("either", "SELECT n, w FROM (SELECT n, n + 1 AS w FROM u) x JOIN t ON t.v = x.n")
    lab.refresh()
    number = lab.number
    for schema, error in {
        WIDE: QueryError,
        "k STRING": InvalidSettingError,
        f"{WIDE} NOT NULL": InvalidSettingError,
    }.items():
        with pytest.raises(error) as refused:
            lab.ws.alter_source(lab.spark, "t", schema=schema)
        assert refused.value.hint
    assert lab.number == number
    lab.verified()

"""Answers that are published for readers without Slacktide."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slacktide import errors as e
from slacktide.common.clock import system_clock
from slacktide.engine.answers.sinks import Sinks
from slacktide.engine.definitions.catalogue import Catalogue
from slacktide.engine.workspace import Workspace
from slacktide.store.pointers import PointerLink
from slacktide.store.store import Store
from tests.harness.lab import Lab, bag
from tests.harness.objects import Killed

pytestmark = pytest.mark.spark

SUMS = "SELECT k, sum(v) AS s FROM t GROUP BY k"


@pytest.fixture
def shop(lab: Lab) -> Lab:
    """A workspace with the source `t`."""
    lab.source("t", "k STRING, v INT", ("a", 1), ("a", 2), ("b", 3))
    return lab


def at(lab: Lab, name: str = "out") -> Path:
    return lab.root / "published" / name


def to(lab: Lab, name: str = "out") -> dict[str, str]:
    return {"parquet": str(at(lab, name))}


def published(path: Path):
    """The rows that a reader without Spark sees."""
    return bag(tuple(row.values()) for row in pq.read_table(path).to_pylist())


def test_an_answer_is_published_whole_and_once(shop: Lab) -> None:
    lab, path = shop, at(shop)
    lab.view("sums", SUMS, None, sink=to(lab))
    assert lab.ws.status().views["sums"]["sink"] == {
        "path": str(path),
        "run": None,
        "behind": False,
        "error": None,
    }
    assert not path.exists()
    report = lab.refresh()
    assert report.sinks == {"sums": {"path": str(path), "error": None}}
    assert published(path) == lab.bag("sums") == bag([("a", 3), ("b", 3)])
    assert bag(lab.spark.read.parquet(str(path)).collect()) == lab.bag("sums")
    assert lab.spark.read.parquet(str(path)).schema == lab.ws.read(lab.spark, "sums").schema
    seen = path.readlink()
    assert lab.refresh().sinks == {}
    assert path.readlink() == seen
    lab.land("t", insert=[("x", 0)], delete=[("b", 3)])
    old = path.resolve()
    assert lab.refresh().sinks["sums"]["error"] is None
    assert published(path) == bag([("a", 3), ("x", 0)])
    assert published(old) == bag([("a", 3), ("b", 3)]), "who opened it reads on"
    assert lab.ws.status().views["sums"]["sink"]["run"] == 2
    assert sorted(p.name for p in path.parent.iterdir()) == [".out.slacktide", "out"]


def test_what_is_published_is_what_the_query_gives(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT, at TIMESTAMP, p DECIMAL(9, 2)")
    lab.view(
        "odd",
        "SELECT v AS `a b`, k AS `Ü`, named_struct('x', v, 'y', array(k)) AS s, at, p"
        " FROM t WHERE v > 0 ORDER BY v DESC",
        None,
        policy="auto",
        sink=to(lab),
    )
    lab.refresh()
    empty = pq.read_table(at(lab))
    assert (empty.num_rows, empty.column_names) == (0, ["a b", "Ü", "s", "at", "p"])
    moment = datetime(1907, 3, 4, 5, 6, 7, tzinfo=UTC)
    lab.land("t", insert=[(f"k{i}", i, moment, None) for i in range(50)])
    lab.refresh()
    table = pq.read_table(at(lab))
    assert table.column("a b").to_pylist() == list(range(49, 0, -1))
    assert table.schema.field("at").type == pa.timestamp("us", tz="UTC")
    assert table.column("at")[0].as_py() == moment
    answer = lab.ws.read(lab.spark, "odd")
    seen = lab.spark.read.parquet(str(at(lab)))
    assert seen.schema == answer.schema
    assert bag(seen.collect()) == lab.bag("odd")


def test_a_crash_between_commit_and_publishing_is_healed(
    shop: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab, path = shop, at(shop)
    lab.view("sums", SUMS, None, sink=to(lab))
    lab.refresh()

    def die(*_: object) -> None:
        raise Killed

    for cut in (Sinks, PointerLink):  # before anything is written, and before the switch
        lab.land("t", insert=[("c", 1)])
        plan = lab.ws.plan()
        before = published(path)
        with monkeypatch.context() as patch:
            patch.setattr(cut, "publish" if cut is Sinks else "switch", die)
            with pytest.raises(Killed):
                lab.ws.refresh(lab.spark, plan)
        assert published(path) == before
        assert lab.ws.status().views["sums"]["sink"]["behind"] is True
        assert lab.ws.unpublished() == {"sums": str(path)}
        report = lab.ws.refresh(lab.spark, plan if cut is Sinks else None)
        assert list(report.sinks) == ["sums"]
        assert (report.run is None) == (cut is not Sinks), "one with nothing to do heals, too"
        assert published(path) == lab.bag("sums") != before
        assert lab.ws.unpublished() == {}


def test_an_older_run_never_overwrites_a_newer_one(
    shop: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab, path = shop, at(shop)
    lab.view("sums", SUMS, None, sink=to(lab))
    lab.refresh()
    lab.land("t", insert=[("c", 1)])
    switch, late = PointerLink.switch, []

    def overtaken(self, edition, document, seen):
        """While this one is about to switch, another process commits and publishes the next run."""
        monkeypatch.setattr(PointerLink, "switch", switch)
        other = Workspace.open(lab.ws.root, clock=lab.clock)
        lab.land("t", insert=[("d", 1)])
        late.append(other.refresh(lab.spark))
        return switch(self, edition, document, seen)

    monkeypatch.setattr(PointerLink, "switch", overtaken)
    report = lab.refresh()
    assert (report.run, late[0].run) == (2, 3)
    assert (report.sinks, list(late[0].sinks)) == ({}, ["sums"])
    assert published(path) == lab.bag("sums")
    assert lab.ws.status().views["sums"]["sink"]["run"] == 3


def test_a_failing_sink_does_not_lose_the_commit(shop: Lab) -> None:
    lab, path = shop, at(shop)
    lab.view("sums", SUMS, None, sink=to(lab))
    lab.view("copied", "SELECT k FROM t", None, sink=to(lab, "other"))
    lab.refresh()
    lab.land("t", insert=[("c", 1)])
    path.unlink()
    path.mkdir()
    (path / "mine.txt").write_text("mine", encoding="utf-8")
    report = lab.refresh()
    error = report.sinks["sums"]["error"]
    assert error["code"] == "SINK"
    assert "view sums" in error["message"]
    assert str(path) in error["message"]
    assert "nothing is" in error["hint"]
    assert "the next refresh publishes it" in error["hint"]
    assert report.run == 2
    assert lab.bag("sums")[("c", 1)] == 1
    assert published(at(lab, "other")) == lab.bag("copied")
    assert lab.ws.status().views["sums"]["sink"]["error"]["code"] == "SINK"
    lab.ws.gc()
    assert (path / "mine.txt").exists()
    (path / "mine.txt").unlink()
    assert lab.refresh().sinks["sums"]["error"] is None
    assert published(path) == lab.bag("sums")


def test_a_run_that_fails_publishes_what_is_owed(shop: Lab, monkeypatch) -> None:
    lab = shop
    lab.view("sums", SUMS, None, sink=to(lab))
    monkeypatch.setattr(Sinks, "publish", lambda *_: {})
    lab.refresh()
    monkeypatch.undo()
    lab.folder("t").joinpath("z.parquet").write_bytes(b"no parquet")
    with pytest.raises(e.SourceError, match=r"z\.parquet"):
        lab.refresh()
    assert published(at(lab)) == lab.bag("sums")


def test_old_editions_are_collected_when_nobody_reads_them(shop: Lab) -> None:
    lab, folder = shop, at(shop).parent / ".out.slacktide"
    lab.view("sums", SUMS, None, sink=to(lab))
    for value in range(3):
        lab.land("t", insert=[("g", value)])
        lab.refresh()
    assert len([p for p in folder.iterdir() if p.is_dir()]) == 3
    assert lab.ws.gc().editions == 0, "the clock of this workspace stands before they were written"
    removed = Workspace.open(lab.ws.root, clock=lambda: datetime(2100, 1, 1, tzinfo=UTC)).gc()
    assert (removed.editions, removed.bytes > 0) == (2, True)
    assert [p for p in folder.iterdir() if p.is_dir()] == [at(lab).resolve()]
    assert published(at(lab)) == lab.bag("sums")
    lab.land("t", insert=[("h", 1)])
    lab.refresh()
    assert published(at(lab)) == lab.bag("sums")


def test_a_view_that_goes_leaves_what_it_published(shop: Lab) -> None:
    lab, path = shop, at(shop)
    lab.view("sums", SUMS, None, sink=to(lab))
    lab.refresh()
    before = published(path)
    lab.ws.replace_view(lab.spark, "sums", "SELECT sum(v) AS s FROM t", sink=to(lab))
    assert published(path) == before
    lab.refresh()
    assert published(path) == bag([(6,)])
    lab.ws.drop_view("sums")
    assert published(path) == bag([(6,)])
    lab.view("again", "SELECT k FROM t", None, sink=to(lab))
    lab.refresh()
    assert published(path) == lab.bag("again")


def test_places_that_cannot_be(shop: Lab) -> None:
    lab, path = shop, at(shop)
    lab.view("sums", SUMS, None, sink=to(lab))
    lab.refresh()
    theirs = lab.root / "theirs"
    theirs.mkdir()
    (theirs / "a.parquet").write_bytes(b"theirs")
    link = lab.root / "link"
    link.symlink_to(theirs)
    alias = lab.root / "alias"
    alias.symlink_to(lab.ws.root)
    cases = {
        str(theirs): (e.SinkError, "holds files that Slacktide did not publish"),
        str(theirs / "a.parquet"): (e.SinkError, "is a file"),
        str(theirs / "a.parquet" / "x"): (e.SinkError, "a file|no directory"),
        str(link): (e.SinkError, "a link that Slacktide did not make"),
        f"{lab.ws.root}/published": (e.InvalidSettingError, "shares files with the workspace"),
        f"{alias}/published": (e.InvalidSettingError, "shares files with the workspace"),
        str(lab.root): (e.InvalidSettingError, "shares files with"),
        str(lab.folder("t") / "x"): (e.InvalidSettingError, "shares files with source t"),
        str(path): (e.InvalidSettingError, "shares files with the sink of view sums"),
        str(path / "below"): (e.InvalidSettingError, "shares files with the sink of view sums"),
        "/": (e.InvalidSettingError, "root"),
        "ftp://x/y": (e.InvalidSettingError, "ftp"),
    }
    number = lab.number
    for place, (error, says) in cases.items():
        with pytest.raises(error, match=says) as caught:
            lab.view("more", SUMS, None, sink={"parquet": place})
        assert caught.value.hint, place
    for sink, says in (
        ({"delta": "/tmp/x"}, "kind delta; only parquet is supported"),
        ({"iceberg": "a.b"}, "kind iceberg; only parquet is supported"),
        ({"parquet": ""}, "has the sink"),
        ({"csv": "/tmp/x"}, "kind csv; only parquet is supported"),
        ("/tmp/x", "has the sink"),
    ):
        with pytest.raises(e.InvalidSettingError, match=says) as refused:
            lab.view("more", SUMS, None, sink=sink)
        assert '{"parquet": PATH}' in refused.value.hint
    for text, says in (
        ("SELECT k, v AS K FROM t", "2 columns with the name k"),
        ("SELECT k, NULL AS n FROM t", "type VOID"),
    ):
        with pytest.raises(e.InvalidSettingError, match=says):
            lab.view("more", text, None, policy="auto", sink=to(lab, "more"))
    with pytest.raises(e.InvalidSettingError, match="shares files with"):
        lab.ws.add_source("u", kind="files", path=str(path.parent), schema="x INT")
    assert lab.number == number
    (theirs / "a.parquet").unlink()
    lab.view("more", SUMS, None, sink={"parquet": str(theirs)})
    lab.refresh()
    assert published(theirs) == lab.bag("more"), "an empty directory is nothing of theirs"


def test_a_sink_is_held_apart_from_what_comes_meanwhile(shop: Lab) -> None:
    """A view that was read, one that a run registers, and a new text: each sink against a source of the same moment."""
    landing = at(shop).parent
    landing.mkdir()
    catalogue = Catalogue(store := Store.open(shop.ws.root, clock=system_clock))
    draft = catalogue.draft_view(shop.spark, "sums", SUMS, {"sink": to(shop)})
    declared = {"other": {"sql": SUMS, "sink": to(shop, "other")}}
    plan = shop.ws.plan(declarations={"views": declared})
    given = {"kind": "files", "format": "csv", "schema": "a INT"}
    shop.ws.add_source("late", path=str(landing), **given)
    with pytest.raises(e.InvalidSettingError, match="shares files with source late"):
        catalogue.add_view(draft)
    apart = catalogue.draft_view(shop.spark, "apart", SUMS, {"sink": {"parquet": f"{shop.root}/a"}})
    (shop.root / "unrelated").mkdir()
    shop.ws.add_source("unrelated", path=str(shop.root / "unrelated"), **given)
    assert catalogue.add_view(apart).name == "apart"
    with pytest.raises(e.InvalidSettingError, match="shares files with source late"):
        shop.ws.refresh(shop.spark, plan)
    with pytest.raises(e.InvalidSettingError, match="shares files with source late"):
        shop.view("sums", SUMS, None, sink=to(shop))
    assert set(store.world().views) == {"apart"}


def test_another_workspace_does_not_take_a_sink_over(shop: Lab) -> None:
    lab = shop
    lab.view("sums", SUMS, None, sink=to(lab))
    lab.refresh()
    folder = lab.root / "elsewhere"
    folder.mkdir()
    other = Lab(lab.spark, folder)
    other.source("t", "k STRING, v INT", ("z", 1))
    with pytest.raises(e.SinkError, match="is published by another workspace"):
        other.view("sums", SUMS, None, sink=to(lab))
    assert published(at(lab)) == lab.bag("sums")


def test_declared_views_publish_and_do_not_share_a_sink(shop: Lab) -> None:
    lab = shop
    declared = {
        "one": {"sql": SUMS, "sink": to(lab)},
        "two": {"sql": "SELECT k FROM t", "sink": to(lab)},
    }
    report = lab.ws.refresh(lab.spark, lab.ws.plan(declarations={"views": declared}))
    failed = [view.error for view in report.views.values() if view.error]
    assert [error["code"] for error in failed] == ["INVALID_SETTING"]
    assert "shares files with the sink of view" in failed[0]["message"]
    assert list(report.sinks) == ["one"]
    assert published(at(lab)) == lab.bag("one")
    again = lab.ws.plan(declarations={"views": {"one": declared["one"]}})
    assert again.notices == ()

"""A view is dropped, a source begins anew: what goes, what stays, and what readers get."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from slacktide.engine.workspace import Workspace
from slacktide.errors import CommitConflictError, ObjectExistsError, UnknownObjectError
from tests.harness.lab import Lab, bag
from tests.spark.engine.test_replacing import led

pytestmark = pytest.mark.spark

SUMS = "SELECT k, sum(v) AS s FROM t GROUP BY k"
ROWS = [(f"k{i % 7}", i) for i in range(140)]


@pytest.fixture
def filled(lab: Lab) -> Lab:
    """Two sources; views over one, both, and other views; states that are shared."""
    lab.source("t", "k STRING, v INT", *ROWS)
    lab.source("u", "k STRING, n INT", *[(f"k{i}", i) for i in range(7)])
    lab.view("sums", SUMS)
    lab.view("sums_too", "SELECT sum(v) AS s, k FROM t GROUP BY k")
    lab.view("joined", "SELECT s.k, s.s, u.n FROM sums s LEFT JOIN u ON s.k = u.k")
    lab.view("rows", "SELECT t.v, u.n FROM t JOIN u ON t.k = u.k")
    lab.view("other", "SELECT n % 2 AS odd, count(*) AS c FROM u GROUP BY n % 2")
    lab.step()
    lab.land("t", insert=[("k1", 1)], delete=[("k2", 2)])
    lab.step()
    return lab


def late(lab: Lab) -> Workspace:
    return Workspace.open(lab.ws.root, clock=lambda: datetime(2100, 1, 1, tzinfo=UTC))


def test_a_dropped_view(filled: Lab) -> None:
    lab = filled
    for name, kind in (("sums", "view"), ("t", "source")):
        with pytest.raises(ObjectExistsError, match=f"{kind} {name} is read by joined"):
            lab.ws.drop_view(name) if kind == "view" else lab.ws.drop_source(name)
    before = set(lab.ws._store.world().chains)
    lab.ws.drop_view("joined")
    lab.ws.replace_view(lab.spark, "sums", "SELECT k, sum(v) + 1 AS s FROM t GROUP BY k")
    lab.ws.drop_view("sums")
    after = lab.ws._store.world()
    gone = {name for name in before - set(after.chains) if name.startswith("states/")}
    assert gone, "the keys of u that only the join asked for"
    assert not gone & {state for view in after.views.values() for state in view.states}
    assert not {name for name in after.chains if "/sums@" in name or name.endswith("/sums")}
    late(lab).gc(grace=timedelta(0))
    late(lab).gc(grace=timedelta(0))
    assert not lab.files("views/sums")
    assert not [f for state in gone for f in lab.files(state)]
    lab.land("t", insert=[("k1", 1)])
    lab.step(sums_too="incremental", rows="incremental", other="unchanged")
    lab.view("sums", SUMS)
    with pytest.raises(UnknownObjectError, match="no answer yet"):
        lab.read("sums")
    assert lab.changes("sums", 0) == {}
    report = lab.step(sums="full", sums_too="unchanged")
    assert report.views["sums"].reasons == ("FIRST_RUN", "STATES_KEPT")
    with pytest.raises(UnknownObjectError, match="no answer as of run 2"):
        lab.read("sums", run=2)
    assert lab.changes("sums", 0) == lab.bag("sums")
    lab.land("t", insert=[("k1", 1)])
    lab.step(sums="incremental", sums_too="incremental")


def test_a_source_begins_anew(filled: Lab) -> None:
    lab = filled
    before = {name: lab.bag(name) for name in lab.ws._store.world().views}
    for path in sorted(lab.folder("t").iterdir()):
        path.unlink()
    lab.rows["t"] = []
    lab.land("t", insert=[("k1", 100), ("k2", 7), ("new", 1)])
    planned = lab.ws.plan()
    lab.ws.reset_source("t")
    chains = lab.ws._store.world().chains
    assert "sources/t" not in chains
    assert {name: lab.bag(name) for name in before} == before
    report = lab.ws.refresh(lab.spark, planned)
    assert report.views["other"].method == "unchanged"
    report = lab.step(other="unchanged")
    newest = max(lab.ws._store.world().runs)
    for name in before:
        led(lab, name, 2, newest)
        led(lab, name, 1, newest)
        assert lab.bag(name, run=2) == before[name]
    lab.land("t", insert=[("k3", 5)], delete=[("k2", 7)])
    lab.land("u", insert=[("new", 9)])
    lab.ws.refresh(lab.spark)
    lab.verified()
    assert lab.bag("joined") == bag([("k1", 100, 1), ("k3", 5, 3), ("new", 1, 9)])
    assert lab.bag("rows") == bag([(100, 1), (5, 3), (1, 9)])


def test_a_source_begins_anew_in_the_middle_of_a_run(filled: Lab) -> None:
    """A run that used its history fails, to be tried again; one of other sources goes on."""
    lab = filled
    lab.land("u", insert=[("k1", 5)])
    others = lab.ws.plan(["other", "sums"])
    report = interrupted(lab).refresh(lab.spark, others)
    methods = {name: view.method for name, view in report.views.items()}
    assert methods == {"other": "incremental", "sums": "unchanged"}
    lab.step(sums="full", other="unchanged")
    lab.land("t", insert=[("k1", 5)])
    mine = lab.ws.plan(["sums", "rows"])
    with pytest.raises(CommitConflictError, match="source t was changed"):
        interrupted(lab).refresh(lab.spark, mine)
    report = lab.ws.refresh(lab.spark, mine)
    assert "STALE_PLAN" in " ".join(report.views["sums"].reasons)
    lab.step()
    newest = max(lab.ws._store.world().runs)
    for name in ("sums", "sums_too", "joined", "rows", "other"):
        led(lab, name, 2, newest)


def interrupted(lab: Lab) -> Workspace:
    """The workspace of a process in whose refresh, when all is computed, another resets `t`."""
    looks = 0

    def clock() -> datetime:
        nonlocal looks
        looks += 1
        if looks == 2:
            Workspace.open(lab.ws.root).reset_source("t")
        return lab.clock()

    return Workspace.open(lab.ws.root, clock=clock)

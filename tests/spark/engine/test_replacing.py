"""A view gets another text: what stays, what readers get, and what becomes of views above it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from slacktide.engine.workspace import Workspace
from slacktide.errors import (
    ObjectExistsError,
    QueryError,
    UnknownObjectError,
    UnsupportedQueryError,
)
from tests.harness.lab import Lab

pytestmark = pytest.mark.spark

SUMS = "SELECT k, sum(v) AS s FROM t GROUP BY k"
ROWS = [(f"k{i % 7}", i) for i in range(140)]


@pytest.fixture
def filled(lab: Lab) -> Lab:
    """A workspace with the source `t`, large enough for small changes."""
    lab.source("t", "k STRING, v INT", *ROWS)
    return lab


def states(lab: Lab) -> set[str]:
    return {name for name in lab.ws._store.world().chains if name.startswith("states/")}


def led(lab: Lab, view: str, since: int, until: int) -> None:
    """The changes between two runs lead from the one answer to the other."""
    change = lab.bag(view, run=until)
    change.subtract(lab.bag(view, run=since))
    assert lab.changes(view, since, until) == {row: n for row, n in change.items() if n}


def test_a_state_that_means_the_same_is_gone_on_from(filled: Lab) -> None:
    lab = filled
    lab.view("sums", SUMS)
    lab.view("other", "SELECT sum(v) AS s, k FROM t GROUP BY k")
    lab.step()
    before, kept = lab.bag("sums"), states(lab)
    lab.land("t", insert=[("k1", 1000)], delete=[("k2", 2)])
    lab.ws.replace_view(lab.spark, "sums", f"{SUMS} HAVING sum(v) > 1400", policy="incremental")
    assert (states(lab), lab.bag("sums")) == (kept, before), "readers keep the last answer"
    assert lab.ws.status().views["sums"]["replaced"]
    assert lab.ws.verify(lab.spark).views.keys() == {"other"}
    report = lab.step(sums="full", other="incremental")
    assert report.views["sums"].reasons == ("FIRST_RUN", "STATES_KEPT")
    assert report.views["sums"].actual["rows_read"] < 50, "groups, a change, and the last answer"
    led(lab, "sums", 1, 2)
    assert lab.bag("sums", run=1) == before
    lab.land("t", insert=[("k3", 5000)])
    lab.step(sums="incremental", other="incremental")
    led(lab, "sums", 1, 3)
    led(lab, "sums", 2, 3)
    assert lab.changes("sums", 0) == lab.bag("sums")


def test_what_is_held_back_stays_so(filled: Lab) -> None:
    """A new text takes in no more than the former one did, or would have."""
    lab = filled
    lab.source("u", "k STRING, n INT", ("k1", 1), max_backlog=1)
    lab.view("sums", SUMS)
    lab.view("pairs", "SELECT k, n FROM u")
    lab.step()
    before = lab.bag("sums")
    lab.land("t", insert=[("k1", 1000)])
    for number in range(3):
        lab.land("u", insert=[("k2", number)])
        lab.ws.discover()
    lab.ws.hold_source("t")
    lab.ws.replace_view(lab.spark, "sums", f"{SUMS} HAVING sum(v) > 0", policy="incremental")
    lab.ws.replace_view(lab.spark, "pairs", "SELECT k, n + 0 AS n FROM u", policy="incremental")
    lab.view("first", "SELECT max(v) AS m FROM t")
    report = lab.step(sums="full")
    assert report.versions == {"t": 1, "u": 2}
    assert report.views["sums"].reasons == ("FIRST_RUN", "STATES_KEPT")
    assert (lab.bag("sums"), lab.bag("pairs").total()) == (before, 2)
    lab.ws.hold_source("t", held=False)
    assert lab.step(sums="incremental", pairs="incremental").versions == {"t": 2, "u": 3}
    assert lab.read("first") == [(1000,)]


def test_other_columns(filled: Lab) -> None:
    lab = filled
    lab.view("sums", f"{SUMS} ORDER BY s DESC")
    lab.refresh()
    lab.land("t", insert=[("k1", 7)])
    lab.refresh()
    first, second = lab.read("sums", run=1), lab.read("sums", run=2)
    lab.ws.replace_view(lab.spark, "sums", "SELECT max(v) AS m FROM t", policy="incremental")
    assert lab.read("sums") == second
    lab.land("t", insert=[("k1", 900)])
    lab.step(sums="full")
    assert lab.read("sums") == [(900,)]
    assert (lab.read("sums", run=1), lab.read("sums", run=2)) == (first, second)
    led(lab, "sums", 1, 2)
    assert lab.ws.read(lab.spark, "sums", run=2).columns == ["k", "s"]
    for since in (0, 1, 2):
        with pytest.raises(UnknownObjectError, match="other columns since run 3: m INT") as told:
            lab.changes("sums", since)
        assert told.value.hint == "read the answer as of run 3, and its changes since then"
    assert lab.changes("sums", 3) == {}
    lab.land("t", delete=[("k1", 900)])
    lab.step(sums="incremental")
    led(lab, "sums", 3, 4)
    late = Workspace.open(lab.ws.root, clock=lambda: datetime(2100, 1, 1, tzinfo=UTC))
    late.gc(keep_runs=1, grace=timedelta(0))
    with pytest.raises(UnknownObjectError, match="no answer as of run 2"):
        lab.read("sums", run=2)
    for until in (1, 2, None):
        with pytest.raises(UnknownObjectError, match=r"up to run \d are no longer kept"):
            lab.changes("sums", 0, until)
    assert lab.read("sums", run=3) == [(900,)]
    assert {name for name in lab.ws._store.world().chains if "@" in name} == set()
    lab.verified()


def test_a_first_run_that_fails_leaves_the_last_answer(filled: Lab) -> None:
    lab = filled
    lab.view("ratio", "SELECT k, v AS r FROM t")
    lab.view("sums", SUMS)
    lab.refresh()
    kept = lab.bag("ratio")
    lab.ws.replace_view(lab.spark, "ratio", "SELECT k, 1 DIV v AS r FROM t")
    lab.land("t", insert=[("k1", 1)])
    report = lab.refresh()
    assert (report.views["ratio"].method, report.views["ratio"].versions) == ("failed", {})
    assert lab.bag("ratio") == lab.bag("ratio", run=2) == kept
    status = lab.ws.status().views["ratio"]
    assert (status["replaced"], status["run"]) == (True, 1)
    text = "SELECT k, v + 1 AS r FROM t WHERE v > 70 ORDER BY v % 3"
    lab.ws.replace_view(lab.spark, "ratio", text, policy="incremental")
    lab.step(ratio="full")
    led(lab, "ratio", 1, 3)
    led(lab, "ratio", 2, 3)
    assert not lab.ws.status().views["ratio"]["replaced"]
    lab.land("t", insert=[("k1", 1000)], delete=[("k2", 72)])
    lab.step(ratio="incremental")
    led(lab, "ratio", 1, 4)
    led(lab, "ratio", 3, 4)
    order = [(r - 1) % 3 for _, r in lab.read("ratio")]
    assert order == sorted(order)


def test_what_means_the_same_keeps_the_answer(filled: Lab) -> None:
    lab = filled
    lab.view("sums", SUMS, policy="full")
    lab.view("dice", "SELECT k, rand() AS x FROM t", policy="auto")
    lab.refresh()
    dice = lab.bag("dice")
    lab.ws.replace_view(lab.spark, "sums", "SELECT t.k, sum(t.v) AS s FROM t GROUP BY 1 ORDER BY s")
    lab.ws.replace_view(lab.spark, "dice", "SELECT k, rand() AS x FROM t", paused=True)
    assert lab.refresh().run is None
    assert lab.ws.status().views["dice"]["paused"]
    assert lab.bag("dice") == dice
    assert lab.read("sums") == sorted(lab.read("sums"), key=lambda row: row[1])
    lab.land("t", insert=[("k1", 1)])
    lab.step(sums="full")
    lab.land("t", insert=[("k1", 1)])
    lab.step(sums="incremental")


def test_a_source_that_a_former_text_has_read_may_go(filled: Lab) -> None:
    """Its answers stay readable, and planning goes on."""
    lab = filled
    lab.source("other", "k STRING", ("a",))
    lab.view("counts", "SELECT count(*) AS n FROM other")
    lab.view("beside", "SELECT max(v) AS m FROM t")
    lab.step()
    lab.land("other", insert=[("b",)])
    then = lab.step(counts="incremental").run
    lab.ws.replace_view(lab.spark, "counts", "SELECT count(*) AS n FROM t", policy="incremental")
    lab.ws.drop_source("other")
    report = lab.refresh()
    assert report.views["counts"].method == "full"
    assert lab.ws.verify(lab.spark).equal
    assert [row["n"] for row in lab.ws.read(lab.spark, "counts", run=then).collect()] == [2]


def test_views_above_are_read_again(filled: Lab) -> None:
    lab = filled
    lab.view("base", SUMS)
    lab.view("over", "SELECT k, s FROM base WHERE s > 1400")
    lab.view("top", "SELECT count(*) AS n FROM over")
    lab.view("all_of", "SELECT * FROM base")
    lab.view("beside", "SELECT max(v) AS m FROM t")
    lab.step()
    before = {name: lab.bag(name) for name in lab.ws._store.world().views}
    number = lab.number
    for text, match in {
        "SELECT k FROM t": "base is read by view all_of|base is read by view over",
        "SELECT k, s FROM over": "view over reads base, and cannot be read by it",
        "SELECT k, s FROM nowhere": "does not resolve",
        "SELECT k, rand() AS s FROM t": "its new text is not deterministic",
    }.items():
        with pytest.raises(QueryError, match=match) as refused:
            lab.ws.replace_view(lab.spark, "base", text)
        assert refused.value.hint
    with pytest.raises(UnsupportedQueryError, match="base is read by view"):
        lab.ws.replace_view(
            lab.spark, "base", "SELECT k, row_number() OVER (ORDER BY v) AS s FROM t"
        )
    assert lab.number == number
    text = "SELECT k, CAST(max(v) AS BIGINT) AS s, count(*) AS n FROM t GROUP BY k"
    lab.ws.replace_view(lab.spark, "base", text, policy="incremental")
    assert {name: lab.bag(name) for name in before} == before
    report = lab.step(base="full", over="full", top="full", all_of="full", beside="unchanged")
    assert lab.ws.read(lab.spark, "all_of").columns == ["k", "s", "n"]
    led(lab, "over", 1, 2)
    led(lab, "top", 1, 2)
    assert lab.bag("all_of", run=1) == before["all_of"]
    lab.land("t", insert=[("k1", 5000)])
    lab.step(base="incremental", over="incremental", top="incremental", beside="incremental")
    led(lab, "top", 1, 3)
    assert report.run == 2
    with pytest.raises(ObjectExistsError):
        lab.ws.drop_view("base")
    lab.view("mid", "SELECT k, v FROM t")
    same = "SELECT k, CAST(max(v) AS BIGINT) AS s, count(*) AS n FROM mid GROUP BY k"
    lab.ws.replace_view(lab.spark, "base", same, policy="incremental")
    lab.step(base="unchanged", top="unchanged")
    lab.ws.replace_view(lab.spark, "mid", "SELECT k, -v AS v FROM t", policy="incremental")
    lab.step(base="full", over="full", top="full", beside="unchanged")
    assert lab.read("top") == [(0,)]


LISTS = "SELECT k, sort_array(collect_list(v)) AS l FROM t"
PAIRS = {
    "sums": (SUMS, f"{SUMS} HAVING sum(v) > 1400"),
    "sums_and_counts": (SUMS, f"{SUMS} HAVING count(*) > 19"),
    "means": ("SELECT k, avg(v) AS a FROM t GROUP BY k",) * 2,
    "fewer": (
        "SELECT k, avg(v) AS a FROM t GROUP BY k",
        "SELECT k, avg(v) AS a FROM t WHERE v > 9 GROUP BY k",
    ),
    "most": ("SELECT k, max(v) AS m FROM t GROUP BY k", "SELECT k, min(v) AS m FROM t GROUP BY k"),
    "ranked": (
        "SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) AS n FROM t",
        "SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM t",
    ),
    "top": (
        "SELECT k, v FROM t ORDER BY v DESC LIMIT 5",
        "SELECT k, v FROM t ORDER BY v LIMIT 7",
    ),
    "joined": (
        "SELECT t.k, v, n FROM t JOIN u ON t.k = u.k",
        "SELECT t.k, v, n FROM t LEFT JOIN u ON t.k = u.k AND u.n > 2",
    ),
    "outer": (
        "WITH s AS (SELECT k, sum(v) AS s FROM t GROUP BY k) SELECT k, s FROM u LEFT JOIN s USING (k)",
        "WITH s AS (SELECT k, sum(v) AS s FROM t GROUP BY k) SELECT k, s FROM u JOIN s USING (k)",
    ),
    "met": (
        "SELECT k, v FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.k)",
        "SELECT k, v FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND n > 3)",
    ),
    "distinct": ("SELECT DISTINCT k FROM t", "SELECT DISTINCT k FROM u"),
    "text": (
        "SELECT k, max(v) OVER () AS m FROM t",
        "SELECT k, max(v) OVER (PARTITION BY k) AS m FROM t",
    ),
    "back": (
        "SELECT k, max(v) OVER (PARTITION BY k) AS m FROM t",
        "SELECT k, max(v) OVER () AS m FROM t",
    ),
    "lists": (f"{LISTS} GROUP BY k", f"{LISTS} WHERE v % 2 = 0 GROUP BY k"),
    "doubles": (
        "SELECT k, sum(CAST(v AS DOUBLE)) AS d FROM t GROUP BY k",
        "SELECT k, sum(CAST(v AS DOUBLE) + 1) AS d FROM t GROUP BY k",
    ),
}


def test_texts_of_all_shapes_take_each_others_place(filled: Lab) -> None:
    lab = filled
    lab.source("u", "k STRING, n INT", *[(f"k{i}", i) for i in range(1, 8)])
    for name, (text, _) in PAIRS.items():
        lab.view(name, text, policy="auto")
    lab.refresh()
    lab.land("t", insert=[("k1", 500), ("k7", 3)], delete=[("k2", 2)])
    lab.refresh()
    before = {name: lab.bag(name) for name in PAIRS}
    for name, (_, text) in PAIRS.items():
        lab.ws.replace_view(lab.spark, name, text, policy="auto")
        assert lab.bag(name) == before[name]
    lab.land("t", insert=[("k3", 11)], delete=[("k1", 500)])
    report = lab.step(means="incremental")
    kept = {name for name, view in report.views.items() if "STATES_KEPT" in view.reasons}
    assert {"sums", "outer", "ranked"} <= kept
    lab.land("t", insert=[("k4", 12), ("k8", 1)], delete=[("k3", 11)])
    lab.land("u", update=[(("k1", 1), ("k1", 9))], insert=[("k8", 5)])
    lab.step(sums="incremental")
    for name in PAIRS:
        assert lab.bag(name, run=2) == before[name]
        for since, until in ((1, 2), (2, 3), (1, 4)):
            led(lab, name, since, until)

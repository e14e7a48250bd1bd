"""Chains that grow are compacted: answers, time travel and changes stay what they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from slacktide.engine.workspace import Workspace
from slacktide.errors import CommitConflictError
from slacktide.optimizer.compaction import Prices
from slacktide.store.address import parse_address
from slacktide.store.naming import segments
from slacktide.store.objects import connect
from slacktide.store.record import Chain
from slacktide.store.store import Store
from tests.harness.lab import Lab, Row
from tests.harness.objects import FaultyObjects, Killed

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

NEVER = Prices(file=0, read=0)
ALWAYS = Prices(file=0, job=0, write=0, write_byte=0)
DDL = "k INT, g STRING, v INT, x DOUBLE"
SHARED = "SELECT g, sum(v) AS s FROM t GROUP BY g"
VIEWS = {
    "rows": "SELECT k, g, v FROM t WHERE v > 0",
    "summed": "SELECT g, count(*) AS n, sum(v) AS s FROM t GROUP BY g",
    "ranked": "SELECT k, g, row_number() OVER (PARTITION BY g ORDER BY v DESC, k) AS r FROM t",
    "paired": "SELECT t.k, u.name FROM t LEFT JOIN u ON t.g = u.g WHERE t.x > 1.5 OR t.v > 3",
}


def row(key: int, run: int) -> Row:
    return key, f"g{key % 4}", key + run, float("nan") if key % 5 == 0 else key / 2


def world_of(lab: Lab) -> dict[str, Chain]:
    return dict(lab.ws._store.world().chains)


def stored(lab: Lab) -> dict[str, Counter]:
    """The rows of all states and answers as Parquet holds them, added up."""
    return {
        name: contents(lab, chain)
        for name, chain in world_of(lab).items()
        if name.startswith(("states/", "views/"))
    }


def contents(lab: Lab, chain: Chain) -> Counter:
    """A bag as counts of rows, a state as sums of partials by key."""
    found: Counter = Counter()
    root = Path(lab.ws.root)
    for piece in segments(chain):
        for file in piece.files:
            table = pq.read_table(root / file.path)
            rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
            names = table.column_names
            for values in rows:
                if names[-1] == "__m":
                    found[tuple(map(repr, values[:-1]))] += values[-1]
                else:
                    for place, value in enumerate(values):
                        if isinstance(value, str):
                            continue
                        found[(repr(values[0]), place)] += value
    return Counter({key: count for key, count in found.items() if count})


def grown(spark, root: Path, prices: Prices) -> Lab:
    """Six runs in which rows come, change and go, groups among them."""
    root.mkdir()
    lab = Lab(spark, root)
    lab.ws = Workspace(lab.ws._store, lab.clock, prices=prices)
    lab.source("t", DDL, *(row(key, 0) for key in range(300)), key=["k"])
    lab.source("u", "g STRING, name STRING", ("g0", "zero"), ("g1", "one"))
    for name, sql in VIEWS.items():
        lab.view(name, sql)
    lab.refresh()
    for run in range(1, 6):
        kept = {old[0]: old for old in lab.rows["t"]}
        lab.land(
            "t",
            insert=[row(100 + run, run), (200 + run, "gone" if run % 2 else "late", run, None)],
            delete=[old for old in lab.rows["t"] if old[1] == "gone" or old[0] == run + 20],
            update=[(kept[key], row(key, run)) for key in (run, run + 1)],
        )
        if run == 2:
            lab.land("u", insert=[(f"g{run % 4}", f"again {run}")])
        report = lab.refresh()
        assert {view.method for view in report.views.values()} == {"incremental"}
        assert not any(done.error for done in report.compactions.values())
    return lab


@pytest.fixture(scope="module")
def apart(spark, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A workspace in which nothing was ever compacted."""
    return grown(spark, tmp_path_factory.mktemp("apart") / "lab", NEVER)


@pytest.fixture(scope="module")
def merged(spark, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Its twin, in which all was compacted that could be, in every run."""
    return grown(spark, tmp_path_factory.mktemp("merged") / "lab", ALWAYS)


def test_answers_and_states_are_the_same(apart: Lab, merged: Lab) -> None:
    assert stored(merged) == stored(apart)
    for lab in (apart, merged):
        lab.verified()
    for view in VIEWS:
        assert merged.bag(view) == apart.bag(view), view


def test_chains_are_short_where_they_were_long(apart: Lab, merged: Lab) -> None:
    long, short = world_of(apart), world_of(merged)
    assert not apart.ws.history()[-1].compactions
    for name, chain in long.items():
        if name.startswith(("states/", "views/")) and len(chain.segments) > 2:
            assert len(short[name].segments) <= 2, name
    assert len(long["sources/t"].segments) == 0
    assert len(short["sources/t"].segments) >= 1


def test_every_run_can_be_read_and_every_change(apart: Lab, merged: Lab) -> None:
    runs = range(1, len(apart.ws.history()) + 1)
    for view in ("rows", "ranked"):
        for run in runs:
            assert merged.bag(view, run=run) == apart.bag(view, run=run), (view, run)
        assert merged.changes(view, 0) == apart.changes(view, 0)
        assert merged.changes(view, 3, 5) == apart.changes(view, 3, 5)


def test_an_emptied_group_leaves_no_trace(merged: Lab, tmp_path: Path) -> None:
    for name, chain in world_of(merged).items():
        base = chain.base
        if base is None or not name.startswith("states/") or base.runs == 1:
            continue
        texts = [
            column
            for file in base.files
            for column in pq.read_table(Path(merged.ws.root) / file.path)["c0"].to_pylist()
        ]
        assert "gone" not in texts[:-1], name
    reports = merged.ws.history()[-3:]
    done = [one for report in reports for one in report.compactions.values()]
    assert done
    assert all(one.reason.startswith("COMPACTION(") for one in done)
    assert all(one.actual["jobs"] >= 1 for one in done)
    assert any(one.rows[1] is not None and one.rows[1] < one.rows[0] for one in done)


def test_old_pieces_are_garbage_and_the_rest_is_not(merged: Lab) -> None:
    before = {view: merged.bag(view) for view in VIEWS}
    merged.ws.gc()
    named = {
        file.path
        for chain in world_of(merged).values()
        for s in segments(chain)
        for file in s.files
    }
    assert all((Path(merged.ws.root) / path).is_file() for path in named)
    assert {view: merged.bag(view) for view in VIEWS} == before
    assert merged.bag("rows", run=3)


def test_a_view_that_lags_behind_what_was_compacted_is_rebuilt(lab: Lab) -> None:
    lab.ws = Workspace(lab.ws._store, lab.clock, prices=ALWAYS)
    lab.source("t", DDL, *(row(key, 0) for key in range(60)), key=["k"])
    lab.source("u", "g STRING, name STRING", *((f"g{key}", "name") for key in range(60)))
    lab.view("one", SHARED, policy="auto")
    lab.view("two", f"{SHARED} HAVING sum(v) > 3", policy="auto")
    lab.view("pairs", "SELECT t.k, u.name FROM t JOIN u ON t.g = u.g", policy="auto")
    lab.view("other", "SELECT t.v, u.name FROM t JOIN u ON t.g = u.g", policy="auto")
    lab.refresh()
    lab.ws.pause_view("two")
    lab.ws.pause_view("pairs")
    for run in range(1, 8):
        lab.land("t", insert=[row(100 + run, run)])
        lab.land("u", insert=[("g1", f"name {run}")])
        lab.refresh()
    merged = world_of(lab)["sources/t"].segments
    assert merged[0].runs > 1
    lab.ws.pause_view("two", paused=False)
    lab.ws.pause_view("pairs", paused=False)
    lab.land("t", insert=[row(300, 1)])
    views = lab.refresh().views
    assert views["two"].reasons[0].startswith("STATE_MISSING(states/")
    assert views["pairs"].reasons[0].startswith("STATE_MISSING(rows of")
    assert views["other"].method == "incremental"
    lab.verified()


def test_the_plan_says_what_it_merges_and_why(lab: Lab) -> None:
    lab.ws = Workspace(lab.ws._store, lab.clock, prices=ALWAYS)
    lab.source("t", DDL, *(row(key, 0) for key in range(20)))
    lab.view("summed", VIEWS["summed"])
    for run in range(3):
        lab.land("t", insert=[row(100 + run, run)])
        lab.refresh()
    lab.land("t", insert=[row(103, 3)])
    plan = lab.ws.plan()
    assert {one.chain.partition("/")[0] for one in plan.compactions} == {"states", "views"}
    text = lab.ws.explain(plan).text
    assert "compacts views/summed" in text
    assert "because the pieces of the chain have cost more to read" in text
    assert "merge from=0" in text
    report = lab.ws.refresh(lab.spark, plan.plan_id)
    assert set(report.compactions) == {one.chain for one in plan.compactions}
    lab.verified()


def due(lab: Lab) -> None:
    """A workspace in which the next run has chains to compact, and changes to take in."""
    lab.ws = Workspace(lab.ws._store, lab.clock, prices=ALWAYS)
    lab.source("t", DDL, *(row(key, 0) for key in range(20)))
    lab.view("one", SHARED)
    lab.view("two", f"{SHARED} HAVING sum(v) > 3")
    lab.refresh()
    for run in range(2):
        lab.land("t", insert=[row(100 + run, run)])
        lab.refresh()
    lab.land("t", insert=[row(200, 2)])


def another(lab: Lab, hook: Callable[[str, str], None]) -> Workspace:
    """The workspace as another process has it, which stops for a hook before each call."""
    objects = FaultyObjects(connect(parse_address(lab.ws.root)), hook=hook)
    store = Store.open(lab.ws.root, clock=lab.clock, objects=objects)
    return Workspace(store, lab.clock, prices=ALWAYS)


@pytest.mark.parametrize("where", ["merged", "log"])
def test_a_run_that_dies_while_it_compacts_leaves_nothing_but_garbage(lab: Lab, where: str) -> None:
    due(lab)
    plan = lab.ws.plan()
    assert len(plan.compactions) == 3
    before, world = lab.bag("one"), lab.ws._store.world()

    def hook(name: str, key: str) -> None:
        if name.startswith("put") and where in key:
            raise Killed

    with pytest.raises(Killed):
        another(lab, hook).refresh(lab.spark, plan.plan_id)
    assert lab.ws._store.world() == world
    assert lab.bag("one") == before
    assert len(lab.ws.refresh(lab.spark, plan.plan_id).compactions) == 3
    lab.verified()


def test_another_run_on_the_old_chain_is_refused_and_done_again(lab: Lab) -> None:
    due(lab)
    plan = lab.ws.plan(["two"])
    done: list[str] = []

    def hook(name: str, key: str) -> None:
        if name == "put" and not done:
            done.append(key)
            assert "views/one" in lab.ws.refresh(lab.spark, views=["one"]).compactions

    late = another(lab, hook)
    with pytest.raises(CommitConflictError):
        late.refresh(lab.spark, plan.plan_id)
    assert late.refresh(lab.spark, plan.plan_id).views["two"].reasons[-1].startswith("STALE_PLAN")
    lab.verified()


def test_a_reader_of_the_old_chain_reads_on(lab: Lab) -> None:
    due(lab)
    before = lab.bag("one")
    frame = lab.ws.read(lab.spark, "one")
    assert "views/one" in lab.refresh().compactions
    lab.ws.gc()
    assert Counter(tuple(row) for row in frame.collect()) == before
    assert lab.bag("one") != before


@pytest.mark.parametrize("left", [-9, 0])
@pytest.mark.parametrize("every", [False, True], ids=["one file", "every file"])
def test_a_damaged_answer_is_told_and_left_as_it_is(lab: Lab, left: int, every: bool) -> None:
    due(lab)
    pieces = [*segments(world_of(lab)["views/one"])]
    for file in (file for piece in pieces[0 if every else -1 :] for file in piece.files):
        path = Path(lab.ws.root) / file.path
        path.write_bytes(path.read_bytes()[:left])
    report = lab.refresh()
    error = report.compactions["views/one"].error
    assert error is not None
    assert "cannot be read" in error["message"]
    assert error["code"] == "DAMAGED_FILE"
    assert report.views["one"].method == "incremental"
    assert report.compactions["views/two"].error is None

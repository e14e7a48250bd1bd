"""What a user does with sources, views and functions between runs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from slacktide.engine.workspace import Workspace
from slacktide.errors import (
    DataError,
    ObjectExistsError,
    QueryError,
    UnknownObjectError,
    UnsupportedQueryError,
)
from tests.harness.lab import Lab, bag
from tests.harness.summed import SUMS_ALONE as SUMS
from tests.harness.summed import sums

pytestmark = pytest.mark.spark


def total(rows):
    return [(sum(s for _, s in sums(rows)),)]


def chains(lab: Lab, prefix: str) -> dict[str, object]:
    return {n: c for n, c in lab.ws._store.world().chains.items() if n.startswith(prefix)}


def test_two_views_share_a_state(filled: Lab) -> None:
    lab = filled
    lab.view("first", SUMS, sums)
    lab.view(
        "second", "SELECT sum(v) AS s, k FROM t GROUP BY k", lambda r: [(s, k) for k, s in sums(r)]
    )
    lab.step()
    assert len(chains(lab, "states/")) == 1
    assert len(lab.files("states")) == 1
    lab.land("t", insert=[("b", 4), ("c", 5)])
    lab.step(first="incremental", second="incremental")
    assert len(lab.files("states")) == 2
    lab.ws.pause_view("second")
    lab.land("t", insert=[("a", 6)], delete=[("c", 5)])
    report = lab.refresh()
    assert list(report.views) == ["first"]
    assert lab.bag("second") == bag([(3, "a"), (7, "b"), (5, "c")])
    lab.verified()
    lab.ws.pause_view("second", paused=False)
    lab.land("t", insert=[("a", 7)])
    report = lab.step(first="incremental", second="full")
    assert report.views["second"].reasons[0].startswith("STATE_MISSING(states/")
    assert report.views["second"].reasons[1:] == ("STATES_KEPT",)
    lab.land("t", insert=[("a", 8)])
    lab.step(first="incremental", second="incremental")
    lab.ws.drop_view("second")
    assert len(chains(lab, "states/")) == 1
    lab._expected.pop("second")
    lab.land("t", insert=[("a", 9)])
    lab.step(first="incremental")
    lab.ws.drop_view("first")
    assert not lab.ws._store.world().chains


def test_a_declared_view_shares_the_state_of_an_older_one(filled: Lab) -> None:
    lab = filled
    lab.view("first", SUMS, sums)
    lab.step()
    lab.land("t", insert=[("b", 4)], delete=[("a", 1)])
    declared = {"views": {"second": {"sql": SUMS}}}
    report = lab.ws.refresh(lab.spark, lab.ws.plan(declarations=declared))
    assert {name: view.method for name, view in report.views.items()} == {
        "first": "incremental",
        "second": "full",
    }
    lab._expected["second"] = (sums, ["t"])
    lab.check()
    lab.land("t", insert=[("c", 4)], delete=[("a", 2)])
    lab.ws.replace_view(lab.spark, "second", SUMS, policy="incremental")
    lab.step()


def test_views_over_views(filled: Lab) -> None:
    lab = filled
    lab.view("base", SUMS, sums)
    lab.view("left_side", "SELECT k, s FROM base WHERE s > 2", None)
    lab.view("right_side", "SELECT k, s * 2 AS twice FROM base", None)
    diamond = "SELECT l.k, s, twice FROM left_side l JOIN right_side r ON l.k = r.k"
    lab.view("diamond", diamond, lambda rows: [(k, s, 2 * s) for k, s in sums(rows) if s > 2])
    lab.step()
    assert lab.ws._store.world().views["diamond"].versions == {"t": 1}
    lab.land("t", insert=[("c", 9), ("b", -1)], delete=[("a", 2)])
    lab.step(base="incremental", diamond="incremental")
    views = lab.ws._store.world().views
    assert views["base"].states == views["left_side"].states == views["right_side"].states
    with pytest.raises(ObjectExistsError, match="base is read by diamond, left_side, right_side"):
        lab.ws.drop_view("base")
    lab.verified()


def test_policies(filled: Lab) -> None:
    lab = filled
    lab.view("always", SUMS, sums, policy="full")
    lab.view("maybe", SUMS, sums, policy="auto")
    lab.view("never", SUMS, sums, policy="incremental")
    lab.step()
    lab.land("t", insert=[("d", 1)])
    report = lab.step(always="full", maybe="full", never="full")
    assert report.views["always"].reasons == ("POLICY(full)",)
    assert report.views["maybe"].reasons == ("CHANGE_TOO_LARGE(25%)",)
    assert report.views["never"].reasons[0].startswith("STATE_MISSING")
    number = lab.number
    with pytest.raises(
        UnsupportedQueryError, match="window without PARTITION BY is computed anew"
    ) as refused:
        lab.view("ranked", "SELECT row_number() OVER (ORDER BY v) AS n FROM t")
    assert refused.value.hint
    assert lab.number == number
    assert chains(lab, "states/")
    for name in ("maybe", "never"):
        lab.ws.drop_view(name)
    assert not chains(lab, "states/"), "a view that is always computed anew keeps none"


def test_a_source_that_is_held(filled: Lab) -> None:
    lab = filled
    lab.source("u", "x INT", (1,))
    lab.view("sums", SUMS, None)
    lab.view("copied", "SELECT x FROM u", None)
    lab.refresh()
    lab.ws.hold_source("t")
    lab.land("t", insert=[("c", 1)])
    lab.land("u", insert=[(2,)])
    report = lab.step(sums="unchanged", copied="incremental")
    assert report.versions == {"t": 1, "u": 2}
    assert lab.bag("sums") == bag([("a", 3), ("b", 3)])
    lab.ws.hold_source("t", held=False)
    lab.step(sums="incremental", copied="unchanged")
    assert lab.bag("sums") == bag([("a", 3), ("b", 3), ("c", 1)])


def test_a_backlog_is_taken_in_parts(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", ("a", 1), max_backlog=2)
    lab.view("sums", SUMS, None)
    lab.refresh()
    for value in range(5):
        lab.land("t", insert=[("b", value)])
    taken = []
    for _ in range(4):
        report = lab.step()
        taken.append(report.views["sums"].versions["t"])
    assert taken == [3, 5, 6, 6]
    assert lab.bag("sums") == bag([("a", 1), ("b", 10)])


def test_views_at_different_versions_meet(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", ("a", 1), max_backlog=1)
    lab.view("first", SUMS, None)
    lab.view("second", "SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k", None)
    lab.view("third", SUMS, None)
    lab.refresh()
    for value in range(4):
        lab.land("t", insert=[("b", value)])
    for _ in range(2):
        lab.refresh("first")
    lab.step(first="incremental", second="incremental", third="full")
    assert {v["versions"]["t"] for v in lab.ws.status().views.values()} == {4}


def test_an_arrival_is_left_out_after_it_was_taken_in(filled: Lab) -> None:
    lab = filled
    lab.view("sums", SUMS, sums)
    lab.view("copied", "SELECT k, v FROM t", lambda rows: rows)
    lab.refresh()
    lab.land_as("t", [("insert", ("wrong", 1))])
    lab.refresh()
    lab.land("t", insert=[("c", 1)])
    lab.ws.skip("t", 2)
    assert lab.bag("copied").total() == 4
    report = lab.step(sums="full", copied="full")
    assert report.views["copied"].reasons == ("FIRST_RUN",)
    lab.land("t", insert=[("c", 1)])
    lab.step(sums="incremental")
    assert lab.ws.status().sources["t"]["skipped"] == [2]


def test_an_arrival_is_left_out_before_it_is_taken_in(filled: Lab) -> None:
    lab = filled
    lab.view("sums", SUMS, sums)
    lab.refresh()
    lab.land_as("t", [("insert", ("wrong", 1))])
    lab.ws.discover()
    lab.ws.skip("t", 2)
    lab.land("t", insert=[("c", 1)])
    lab.step(sums="incremental")
    path = lab.land_as("t", [("delete", ("never", 1))])
    lab.ws.skip("t", path.name)
    assert lab.ws.status().sources["t"]["skipped"] == [2, 4]
    lab.step()
    assert lab.ws.status().views["sums"]["behind"] == 0


def test_a_source_is_complete_up_to(filled: Lab) -> None:
    lab = filled
    lab.ws.mark_complete("t", datetime(2026, 1, 1, tzinfo=UTC))
    lab.ws.mark_complete("t", "2026-02")
    lab.ws.mark_complete("t", "2026-02")
    assert lab.ws.status().sources["t"]["complete"] == ["2026-01-01T00:00:00.000000Z", "2026-02"]


def test_a_source_begins_anew(filled: Lab) -> None:
    lab = filled
    lab.view("sums", SUMS, sums)
    lab.view("always", "SELECT max(v) AS m FROM t", policy="auto")
    lab.refresh()
    lab.land("t", insert=[("c", 1)])
    lab.refresh()
    lab.ws.reset_source("t")
    assert lab.ws.status().sources["t"]["version"] == 0
    assert lab.bag("sums").total() == 3
    report = lab.step(sums="full")
    assert report.versions == {"t": 2}
    lab.land("t", delete=[("c", 1)])
    lab.step(sums="incremental")
    assert lab.changes("sums", 3) == {("c", 1): -1}


def test_a_view_gets_another_text(filled: Lab) -> None:
    lab = filled
    lab.view("sums", SUMS, None)
    lab.refresh()
    lab.ws.replace_view(lab.spark, "sums", "SELECT sum(v) AS s FROM t", policy="incremental")
    assert chains(lab, "").keys() == {"views/sums@1", "changes/sums@1"}
    lab._expected["sums"] = (total, ["t"])
    report = lab.step(sums="full")
    assert report.views["sums"].reasons == ("FIRST_RUN",)
    lab.land("t", insert=[("z", 10)])
    lab.step(sums="incremental")


def test_what_is_read_is_not_dropped(filled: Lab) -> None:
    lab = filled
    lab.view("sums", SUMS, sums)
    lab.view("over", "SELECT s FROM sums", None)
    lab.refresh()
    number = lab.number
    with pytest.raises(ObjectExistsError, match="source t is read by over, sums") as refused:
        lab.ws.drop_source("t")
    assert refused.value.hint == "drop these views first"
    assert lab.number == number
    lab.ws.drop_view("over")
    lab.step()
    lab.ws.drop_view("sums")
    lab.ws.drop_source("t")
    status = lab.ws.status()
    assert (status.views, status.sources, status.state_bytes, status.answer_bytes) == ({}, {}, 0, 0)
    assert lab.ws.gc().files == 0, "what a running refresh may be writing is kept"


SCORE = """
def score(value):
    return None if value is None else value * 2 + 1

def shout(texts):
    return texts.str.upper()
"""


def test_functions(filled: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = filled
    (tmp_path / "scores_of_a_test.py").write_text(SCORE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    lab.ws.add_function("score", "scores_of_a_test:score", returns="int")
    lab.ws.add_function("shout", "scores_of_a_test:shout", returns="string", kind="pandas")
    lab.view("scored", "SELECT k, score(v) AS s FROM t", scored)
    lab.view("loud", "SELECT shout(k) AS k FROM t", lambda rows: [(k.upper(),) for k, _ in rows])
    lab.step(scored="full", loud="full")
    lab.land("t", insert=[("c", None)], delete=[("a", 1)])
    lab.step(scored="incremental", loud="incremental")
    with pytest.raises(ObjectExistsError, match="texts of scored may call function score"):
        lab.ws.drop_function("score")
    lab.ws.drop_view("scored")
    lab.ws.drop_function("score")


def scored(rows):
    return [(k, None if v is None else v * 2 + 1) for k, v in rows]


def test_garbage(filled: Lab) -> None:
    lab = filled
    lab.view("sums", SUMS, sums)
    lab.view("always", "SELECT k, v FROM t", lambda rows: rows, policy="full")
    for value in range(3):
        lab.land("t", insert=[("g", value)])
        lab.refresh()
    orphan = Path(lab.ws.root) / "states" / "dead" / ("d" * 32) / "base" / "part.parquet"
    orphan.parent.mkdir(parents=True)
    orphan.write_bytes(b"what a killed attempt left")
    late = Workspace.open(lab.ws.root, clock=lambda: datetime(2100, 1, 1, tzinfo=UTC))
    removed = late.gc()
    assert removed.files >= 2, "two answers that were replaced"
    assert removed.bytes > 0
    assert orphan.exists(), "it came after the last entry"
    # Twice: the clock of the file system may have given the orphan the time of the next entry.
    assert late.gc().files + late.gc().files == 1
    assert not orphan.exists()
    lab.check()
    assert lab.changes("always", 1, 2) == bag([("g", 1)])
    first = [("a", 1), ("a", 2), ("b", 3), ("g", 0)]
    assert lab.bag("always", run=1) == bag(first)
    late.gc(keep_runs=1)
    assert lab.changes("always", 2) == bag([("g", 2)])
    with pytest.raises(UnknownObjectError, match="no longer kept"):
        lab.changes("always", 1, 2)
    assert lab.bag("always", run=2) == bag([*first, ("g", 1)])
    lab.land("t", delete=[("g", 0)])
    lab.step(sums="incremental")


MOMENTS = (
    "to_date('today')",
    "to_timestamp('now')",
    "try_to_timestamp('now')",
    "CAST(concat('to', 'day') AS DATE)",
    "try_cast(lower('TODAY') AS DATE)",
    'DATE"today"',
    "DATE /* of */ r'today'",
)


def test_who_asks_for_the_time_is_computed_anew(filled: Lab) -> None:
    """Spark folds each of these into the moment at which the view is added."""
    texts = [f"SELECT k, {moment} AS m FROM t" for moment in MOMENTS]  # noqa: S608
    for place, text in enumerate([*texts, "SELECT * FROM m5"]):
        added = filled.ws.add_view(filled.spark, f"m{place}", text)
        assert any(reason.startswith("CLOCK(") for reason in added.reasons), text
    text = "SELECT k, to_date('2026-01-01') AS d, 'today' AS day FROM t"
    assert not filled.ws.add_view(filled.spark, "told", text).reasons


def test_the_clock_stands_still_during_a_run(filled: Lab) -> None:
    lab = filled
    lab.view(
        "now_is", "SELECT k, current_timestamp() AS at, current_date() AS day FROM t", policy="auto"
    )
    report = lab.step(now_is="full")
    assert report.views["now_is"].reasons[0] == "FIRST_RUN"
    assert any(reason.startswith("CLOCK(") for reason in report.views["now_is"].reasons)
    (first,) = {row[1] for row in lab.read("now_is")}
    lab.land("t", insert=[("c", 1)])
    lab.step(now_is="full")
    (second,) = {row[1] for row in lab.read("now_is")}
    assert second > first
    lab.step(now_is="full")
    (third,) = {row[1] for row in lab.read("now_is")}
    assert third > second


def test_dice_are_thrown_in_every_run_and_not_compared(filled: Lab) -> None:
    lab = filled
    lab.view("dice", "SELECT k, rand() AS x FROM t", policy="auto")
    report = lab.refresh()
    assert report.views["dice"].reasons == ("FIRST_RUN", "NON_DETERMINISTIC_EXPRESSION(rand)")
    assert lab.refresh().run is None
    found = lab.ws.verify(lab.spark)
    assert found.equal
    assert found.views["dice"].incomparable == "rand gives another value each time it is asked"
    with pytest.raises(QueryError, match=r"view over.*dice.*another value each time"):
        lab.view("over", "SELECT x FROM dice")


def test_settings_stay_as_they_were(filled: Lab) -> None:
    lab = filled
    ansi, zone = "spark.sql.ansi.enabled", "spark.sql.session.timeZone"
    other = lab.spark.newSession()
    other.conf.set(ansi, "false")
    other.conf.set(zone, "Asia/Tokyo")
    text = "SELECT CAST(k AS INT) AS n, hour(timestamp_seconds(v)) AS h FROM t"
    lab.ws.add_view(other, "lax", text)
    lab.step(lax="full")
    assert lab.read("lax") == [(None, 9)] * 3
    lab.land("t", insert=[("7", 3600)])
    lab.step()
    assert lab.bag("lax")[(7, 10)] == 1
    assert lab.spark.conf.get(ansi) == "true"


def test_one_view_fails_and_the_others_go_on(filled: Lab) -> None:
    lab = filled
    lab.view("ratio", "SELECT k, 12 / v AS r FROM t", None)
    lab.view("sums", SUMS, sums)
    lab.step()
    kept = lab.bag("ratio")
    lab.land("t", insert=[("zero", 0)])
    report = lab.refresh()
    failed = report.views["ratio"]
    assert failed.error is not None
    assert (failed.method, failed.error["code"]) == ("failed", "DATA")
    assert "DIVIDE_BY_ZERO" in failed.error["message"]
    assert failed.error["hint"]
    assert lab.bag("ratio") == kept
    lab.check()
    with pytest.raises(DataError, match=r"view ratio.*DIVIDE_BY_ZERO"):
        lab.refresh()
    assert lab.ws.status().views["ratio"]["behind"] == 1
    lab.land("t", delete=[("zero", 0)], insert=[("b", 6)])
    report = lab.step(ratio="full", sums="incremental")
    assert report.views["ratio"].reasons == ("POLICY(incremental)", "CHANGE_FAILS(DATA)")
    assert lab.bag("ratio") - kept == bag([("b", 2.0)])
    lab.land("t", insert=[("b", 4)])
    lab.step(ratio="incremental")

"""What a workspace says of itself: reports, history, status, changes, earlier answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from slacktide.errors import UnknownObjectError
from slacktide.store.record import ColumnStatistics
from tests.harness.lab import Lab, bag

pytestmark = pytest.mark.spark

PRICING = """
SELECT flag, status, sum(quantity) AS q, sum(price * (1 - discount)) AS p, avg(price) AS a,
  count(*) AS n
FROM lines WHERE shipped <= DATE '1998-09-02' GROUP BY flag, status ORDER BY flag, status
"""
LINES = "flag STRING, status STRING, quantity DECIMAL(15,2), price DECIMAL(15,2), discount DECIMAL(15,2), shipped DATE"


def line(number: int) -> tuple:
    price = Decimal(number * 101 % 9973) / 100
    day = date(1995, 1, 1 + number % 28)
    return ("ANR"[number % 3], "OF"[number % 2], Decimal(number % 50), price, Decimal("0.05"), day)


def test_a_small_change_is_read_and_little_else(lab: Lab) -> None:
    lab.source("lines", LINES, *map(line, range(400)))
    lab.view("pricing", PRICING, policy="auto")
    first = lab.step(pricing="full").views["pricing"]
    assert first.reasons == ("FIRST_RUN",)
    assert first.actual["rows_read"] >= 400
    lab.land("lines", insert=map(line, range(400, 420)), delete=[line(3), line(5)])
    second = lab.step(pricing="incremental").views["pricing"]
    states = 6
    assert second.reasons == ("CHANGE_SMALL(5.3%)",)
    assert second.actual["rows_read"] <= 2 * (22 + states)
    assert second.rows == 418
    assert second.state_bytes > 0
    assert second.versions == {"lines": 2}
    assert second.actual["writes"] == 2


def test_mirrors_cost_besides_the_views(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", *((f"k{number}", number) for number in range(300)))
    lab.view("pairs", "SELECT l.k, r.v FROM t l JOIN t r ON l.k = r.k")
    first = lab.step(pairs="full")
    made = first.mirrors["t"]
    assert (made.piece, made.version, made.rows) == ("base", 1, 300)
    assert made.actual["rows_read"] == 300
    assert made.bytes == lab.ws.status().mirror_bytes > 0
    lab.land("t", insert=[("k1", -1)])
    assert lab.step(pairs="incremental").mirrors == {}, "a small change waits"
    lab.land("t", delete=[(f"k{number}", number) for number in range(20, 100)])
    assert lab.step().mirrors["t"].version == 3
    assert [set(report.mirrors) for report in lab.ws.history()] == [{"t"}, set(), {"t"}]


def test_a_feed_that_drops_what_is_old_has_the_range_of_what_is_left(lab: Lab) -> None:
    def days(first: int, last: int) -> list[tuple[date, datetime, int]]:
        noons = [
            datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(day) for day in range(first, last)
        ]
        return [(noon.date(), noon, day) for day, noon in enumerate(noons, first)]

    lab.source("t", "day DATE, at TIMESTAMP, v INT", *days(0, 100))
    lab.view("pairs", "SELECT l.day, r.v FROM t l JOIN t r ON l.v = r.v")
    lab.step()
    start = date(2026, 1, 1).toordinal()
    assert _known(lab)["day"] == ColumnStatistics(100, 0, start, start + 99, 100)
    lab.land("t", insert=days(100, 150), delete=days(0, 80))
    assert lab.step().mirrors["t"].piece == "base"
    ends = {"day": (start + 80, start + 149), "at": (start + 80.5, start + 149.5), "v": (80, 149)}
    for name, (low, high) in ends.items():
        found = _known(lab)[name]
        assert (found.rows, found.nulls, found.low, found.high) == (70, 0, low, high)
        assert found.distinct == (None if name == "at" else pytest.approx(70, rel=0.01))
    lab.land("t", delete=days(80, 150))
    lab.step()
    assert _known(lab)["v"].high == 149, "of no rows nobody tells"


def _known(lab: Lab) -> Mapping[str, ColumnStatistics]:
    return lab.ws._store.world().sources["t"].statistics


def test_answers_of_earlier_runs_and_what_lies_between(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", ("a", 1), ("b", 2))
    lab.view("sums", "SELECT k, sum(v) AS s FROM t GROUP BY k")
    lab.view("always", "SELECT k, v FROM t WHERE v > 0", policy="full")
    answers = [{name: lab.bag(name) for name in ("sums", "always")} for _ in [lab.refresh()]]
    batches = ([("a", 5), ("c", 1)], [("c", -1), ("b", 3), ("b", 3)], [("d", 0)])
    for batch in batches:
        lab.land("t", insert=batch, delete=[("a", 1)] if batch == batches[1] else [])
        lab.refresh()
        answers.append({name: lab.bag(name) for name in ("sums", "always")})
    for run, answer in enumerate(answers, 1):
        assert {name: lab.bag(name, run=run) for name in answer} == answer, run
    for view in ("sums", "always"):
        for since in range(4):
            for until in range(since + 1, 5):
                change = answers[until - 1][view].copy()
                if since:
                    change.subtract(answers[since - 1][view])
                net = {row: n for row, n in change.items() if n}
                assert lab.changes(view, since, until) == net, (view, since, until)
    kinds = {row[-2] for row in lab.ws.changes(lab.spark, "sums", since=1).collect()}
    assert kinds == {"insert", "delete"}
    lab.ws.gc(keep_runs=2)
    assert lab.bag("always", run=3) == answers[2]["always"]
    assert lab.bag("always", run=2) == answers[1]["always"], "by what the kept runs changed"
    assert lab.changes("always", 2, 4) == lab.changes("always", 2)
    with pytest.raises(UnknownObjectError, match="no answer as of run 1"):
        lab.read("always", run=1)
    with pytest.raises(UnknownObjectError, match="up to run 2 are no longer kept"):
        lab.changes("always", 1)


def test_history_and_status(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", ("a", 1))
    lab.source("other", "x INT", (1,))
    lab.view("sums", "SELECT k, sum(v) AS s FROM t GROUP BY k")
    lab.view("copied", "SELECT x FROM other")
    before = lab.ws.status().views["sums"]
    assert (before["run"], before["behind"], before["method"]) == (None, 0, None)
    first = lab.refresh()
    lab.land("t", insert=[("b", 2)])
    assert lab.ws.pending() == {"t": 1, "other": 0}
    assert lab.ws.status().sources["t"]["landed"] == 1
    lab.ws.discover()
    assert lab.ws.status().views["sums"]["behind"] == 1
    second = lab.refresh()
    assert {n: v.method for n, v in second.views.items()} == {
        "sums": "incremental",
        "copied": "unchanged",
    }
    assert [r.run for r in lab.ws.history()] == [1, 2]
    assert [r.to_dict() for r in lab.ws.history("copied")] == [first.to_dict()]
    assert lab.ws.history()[1].to_dict() == second.to_dict()
    status = lab.ws.status()
    assert (status.runs, status.views["sums"]["run"], status.views["copied"]["run"]) == (2, 2, 1)
    assert status.views["sums"]["state_bytes"] == status.state_bytes > 0
    assert status.answer_bytes > 0
    assert dict(status.sources["t"]) | {"bytes": 0, "path": ""} == {
        "kind": "change-feed",
        "path": "",
        "version": 2,
        "rows": 2,
        "bytes": 0,
        "landed": 0,
        "error": None,
        "held": False,
        "skipped": [],
        "complete": [],
        "foreign_keys": [],
        "extra": [],
        "wide": None,
        "quarantine": None,
        "quarantined": 0,
        "removable": 0,
    }


def test_a_plan_runs_once(lab: Lab) -> None:
    lab.source("t", "k STRING", ("a",))
    lab.view("copied", "SELECT k FROM t", lambda rows: rows)
    plan = lab.ws.plan()
    assert lab.ws.report(plan.plan_id) is None
    report = lab.ws.refresh(lab.spark, plan)
    number = lab.number
    assert lab.ws.refresh(lab.spark, plan.plan_id).to_dict() == report.to_dict()
    assert lab.ws.report(plan.plan_id) == report
    assert lab.number == number
    lab.check()


def test_an_answer_of_an_instant_does_not_go_back_to_an_earlier_one(lab: Lab) -> None:
    """By a plan that waited while another one was executed."""
    lab.source("t", "k INT", (1,))
    lab.view("at", "SELECT k, current_timestamp() AS at FROM t", policy="auto")
    early, late = (datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in (10, 11))
    waiting = lab.ws.plan(now=early)
    lab.ws.refresh(lab.spark, lab.ws.plan(now=late))
    report = lab.ws.refresh(lab.spark, waiting)
    assert report.views["at"].reasons[-1].startswith("STALE_PLAN")
    (row,) = lab.ws.read(lab.spark, "at").selectExpr("unix_seconds(at)").collect()
    assert row[0] == late.timestamp()
    assert lab.ws.verify(lab.spark).equal


def test_a_plan_that_others_overtook_is_made_again(lab: Lab) -> None:
    lab.source("t", "k STRING", ("a",))
    lab.view("copied", "SELECT k FROM t", lambda rows: rows)
    plan = lab.ws.plan()
    lab.land("t", insert=[("b",)])
    lab.refresh()
    report = lab.ws.refresh(lab.spark, plan)
    assert report.views["copied"].reasons == ("NO_CHANGE", "STALE_PLAN(view copied)")
    lab.land("t", insert=[("c",)])
    stale = lab.ws.plan()
    lab.ws.replace_view(lab.spark, "copied", "SELECT k FROM t WHERE k <> 'b'")
    report = lab.ws.refresh(lab.spark, stale)
    assert report.views["copied"].reasons == ("FIRST_RUN", "STALE_PLAN(view copied)")
    assert lab.bag("copied") == bag([("a",), ("c",)])


def test_explain(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", ("a", 1))
    lab.view("sums", "SELECT k, sum(v) AS s FROM t GROUP BY k")
    said = lab.ws.explain("sums")
    assert (said.is_incremental, said.reasons) == (True, ())
    assert "view sums is maintained incrementally\nreads: t" in said.text
    text = "SELECT k, row_number() OVER (ORDER BY v) AS n FROM t"
    said = lab.ws.explain(text, spark=lab.spark)
    assert (said.is_incremental, said.reasons) == (
        False,
        ("OPERATOR_NOT_INCREMENTAL(window without PARTITION BY)",),
    )
    plan = lab.ws.plan()
    said = lab.ws.explain(plan)
    assert said.reasons == ("FIRST_RUN",)
    assert "view sums: full" in said.text
    assert "because there is no answer yet to go on from [FIRST_RUN]" in said.text
    with pytest.raises(UnknownObjectError, match="no view 'SELECT"):
        lab.ws.explain(text)


def test_explain_sets_what_a_run_took_beside_what_was_expected(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", ("a", 1))
    lab.view("sums", "SELECT k, sum(v) AS s FROM t GROUP BY k")
    assert "rows expected" in lab.ws.explain("sums").text
    lab.refresh()
    lab.land("t", insert=[("a", 2), ("b", 3)])
    lab.refresh()
    done, coming = lab.ws.explain("sums").text.split("\nnext run: ")
    assert coming.startswith("unchanged")
    assert "\nrun 2: incremental, " in done
    (head,) = (line for line in done.splitlines() if "rows expected" in line)
    assert head.split() == ["rows", "expected", "CPU", "s", "rows", "found", "CPU", "s"]
    (answer,) = (line.split() for line in done.splitlines() if "publish segment sums" in line)
    assert answer[2] == "3", "a row goes, two come"
    (read,) = (line.split() for line in done.splitlines() if "read_changes t" in line)
    assert read[0] == "2"
    plan_id = lab.ws.history()[-1].plan_id
    assert "rows found" in lab.ws.explain(lab.ws.stored_plan(plan_id)).text

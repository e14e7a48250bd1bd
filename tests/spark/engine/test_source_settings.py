"""How far a run takes its sources in, and which views it works on."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from slacktide import errors as e
from tests.harness.lab import Lab, bag

pytestmark = pytest.mark.spark

SUMS = "SELECT k, sum(v) AS s FROM t GROUP BY k"


def test_a_backlog_is_limited_from_the_first_run_on(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", ("a", 1), max_backlog=2)
    for value in range(3):
        lab.land("t", insert=[("b", value)])
    lab.view("sums", SUMS, None)
    taken = [lab.step().views["sums"].versions["t"] for _ in range(3)]
    assert taken == [2, 4, 4]
    assert lab.ws.pending() == {"t": 0}
    lab.ws.skip("t", 1)
    assert lab.step(sums="full").views["sums"].versions["t"] == 4, "it does not go back in time"
    assert lab.bag("sums") == bag([("b", 3)])


def test_a_backlog_in_bytes(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", ("a", 1))
    size = lab.land("t", insert=[("b", 1)]).stat().st_size
    lab.source("u", "k STRING, v INT", max_backlog=f"{2 * size + size // 2}B")
    for value in range(5):
        lab.land("u", insert=[("b", value)])
    lab.land("u", insert=[(f"{value:09}", value) for value in range(5000)])
    lab.view("copied", "SELECT k, v FROM u", lambda rows: rows, "u")
    lab.view("both", "SELECT k, v FROM u UNION ALL SELECT k, v FROM t", None)
    taken = []
    for _ in range(4):
        report = lab.refresh()
        lab.verified()
        taken.append((report.views["both"].versions["u"], report.views["both"].versions["t"]))
    assert taken == [(2, 2), (4, 2), (5, 2), (6, 2)], "one that is too large comes alone"
    lab.check()


def test_accepted_arrivals_of_a_held_source_wait(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", ("a", 1))
    lab.view("sums", SUMS, None)
    lab.refresh()
    lab.land("t", insert=[("b", 1)])
    plan = lab.ws.plan()
    lab.ws.hold_source("t")
    assert lab.refresh().run is None
    report = lab.ws.refresh(lab.spark, plan)
    assert report.run == 2, "a plan from before the hold is executed as it is"
    lab.land("t", insert=[("c", 1)])
    assert lab.refresh().run is None
    lab.ws.hold_source("t", held=False)
    assert lab.step(sums="incremental").versions == {"t": 3}


def test_a_paused_view_keeps_its_answer_even_where_it_is_named(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", ("a", 1))
    lab.view("asleep", SUMS, None)
    lab.view("awake", SUMS, None)
    lab.refresh()
    lab.ws.pause_view("asleep")
    lab.land("t", insert=[("b", 1)])
    plan = lab.ws.plan(["asleep", "awake"])
    assert plan.notices == ("view asleep is paused and left out; slacktide view resume asleep",)
    assert set(lab.ws.refresh(lab.spark, plan).views) == {"awake"}
    assert lab.refresh("asleep").run is None
    assert lab.bag("asleep") == bag([("a", 1)])
    assert lab.ws.status().views["asleep"]["paused"]
    lab.ws.pause_view("asleep", paused=False)
    lab.refresh()
    lab.verified()
    assert lab.bag("asleep") == lab.bag("awake")


def test_a_delete_in_text_is_an_error_where_only_rows_are_added(lab: Lab) -> None:
    folder = lab.folder("t")
    folder.mkdir()
    (folder / "a.csv").write_text("a,1,insert\n", encoding="utf-8")
    lab.ws.add_source(
        "t",
        kind="change-feed",
        path=str(folder),
        format="csv",
        schema="k STRING, v INT",
        append_only=True,
    )
    lab.view("sums", SUMS, None)
    lab.refresh()
    (folder / "b.csv").write_text("b,1,insert\na,1,delete\n", encoding="utf-8")
    with pytest.raises(
        e.SourceError, match=r"b\.csv: delete takes a row away.*append_only"
    ) as caught:
        lab.refresh()
    assert "slacktide source skip" in caught.value.hint
    lab.ws.skip("t", "b.csv")
    lab.step()
    assert lab.bag("sums") == bag([("a", 1)])


TIMED = "SELECT t.id, unix_micros(t.at) AS at, n.name FROM times t JOIN names n ON t.id = n.id"
DAY = "2024-03-10 {:02}:30:00"


def micros(text: str, zone: str) -> int:
    local = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
    return (local - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def land_text(lab: Lab, name: str, changes: list[tuple[str, int, str]]) -> None:
    """Let changes of `times` land as csv or as json, with times that say no zone."""
    lines = [
        json.dumps({"id": key, "at": at, "_change_type": kind})
        if name.endswith("json")
        else f"{key},{at},{kind}"
        for kind, key, at in changes
    ]
    (lab.folder("times") / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "options", "zone"),
    [
        ("csv", {}, "UTC"),
        ("json", {}, "UTC"),
        ("csv", {"timezone": "America/New_York"}, "America/New_York"),
    ],
)
def test_times_without_a_zone_are_those_of_the_source(
    lab: Lab, kind: str, options: dict[str, str], zone: str
) -> None:
    """A mirror is written in one session, and the answer of a view in that of its own zone."""
    declared = {"format": kind, "schema": "id INT, at TIMESTAMP", "options": options}
    lab.ws.add_source("times", kind="change-feed", path=lab.landing("times"), **declared)
    lab.source("names", "id INT, name STRING", *((i, f"n{i}") for i in range(40)))
    first = [("insert", i, DAY.format(i % 24)) for i in range(40)]
    land_text(lab, f"a.{kind}", first)
    there = lab.spark.newSession()
    there.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    lab.ws.add_view(there, "timed", TIMED, policy="incremental")
    lab.step(timed="full")
    land_text(lab, f"b.{kind}", [("delete", key, at) for _, key, at in first[:9]])
    lab.step(timed="incremental")
    lab.land("names", update=[((i, f"n{i}"), (i, "new")) for i in range(5, 12)])
    lab.step(timed="incremental")
    names: dict[int, str] = dict(lab.rows["names"])
    assert lab.bag("timed") == bag((k, micros(at, zone), names[k]) for _, k, at in first[9:])

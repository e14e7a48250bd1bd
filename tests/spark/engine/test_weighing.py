"""A view that goes the way that is cheapest has the right answer on each of them, and on the way back."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from slacktide.engine.reports import ViewReport
from slacktide.optimizer import weighing
from slacktide.store import update as u
from tests.harness.lab import Lab, bag

pytestmark = pytest.mark.spark

SUMS = "SELECT t.k, sum(t.v + u.w) AS s FROM t JOIN u ON t.k = u.k GROUP BY t.k"
MOST = "SELECT t.k, max(t.v + u.w) AS m FROM t JOIN u ON t.k = u.k GROUP BY t.k"
Pairs = list[tuple[int, int]]


def answer(total: Callable[[list[int]], int]) -> Callable[[Pairs, Pairs], Pairs]:
    """What a view has: some total of v + w, by k."""

    def rows(t: Pairs, u: Pairs) -> Pairs:
        met = [(k, v + w) for k, v in t for other, w in u if k == other]
        return [(key, total([n for k, n in met if k == key])) for key in {k for k, _ in met}]

    return rows


def took(lab: Lab, run: int, seconds: float) -> None:
    """Have the log tell of one more run, just like an earlier one, that took so long."""
    world = lab.ws._store.world()
    report = json.loads(json.dumps(lab.ws._store.report(run)))
    for view in report["views"].values():
        view["actual"]["cpu_seconds"] = seconds
    number = world.next_run
    lab.ws._store.commit([u.RecordRun(number, f"{number:064x}", {**report, "run": number})])


def land(lab: Lab, number: int) -> None:
    lab.land("t", insert=[(number % 5, number)], delete=[lab.rows["t"][number % 3]])
    lab.land("u", update=[(lab.rows["u"][1], (lab.rows["u"][1][0], number))])


@pytest.mark.parametrize(
    ("sql", "total"), [(SUMS, sum), (MOST, max)], ids=["additive", "recomputed"]
)
def test_every_way_has_the_right_answer(
    lab: Lab,
    monkeypatch: pytest.MonkeyPatch,
    sql: str,
    total: Callable[[list[int]], int],
) -> None:
    monkeypatch.setattr(weighing, "LEAST_ROWS", 0)
    lab.source("t", "k INT, v INT", *((n % 5, n) for n in range(40)))
    lab.source("u", "k INT, w INT", *((n, 10 * n) for n in range(5)))
    lab.view("v", sql, policy="auto")
    answered = answer(total)

    def step(number: int, method: str, code: str, way: str) -> ViewReport:
        land(lab, number)
        before = lab.bag("v")
        report = lab.refresh()
        told = report.views["v"]
        assert told.method == method
        assert [reason.partition("(")[0] for reason in told.reasons] == ([code] if code else [])
        assert told.predicted["way"] == way
        assert report.run is not None
        before.update(lab.changes("v", report.run - 1, report.run))
        assert lab.bag("v") == +before == bag(answered(lab.rows["t"], lab.rows["u"]))
        return told

    lab.refresh()
    took(lab, 1, 100.0)
    told = step(1, "incremental", "", "incremental")
    assert {one["way"] for one in told.predicted["alternatives"]} == {
        "incremental",
        "rebuild",
        "text",
    }
    assert told.actual["cpu_seconds"] > 0
    cheap = max(lab.ws._store.world().runs)
    took(lab, cheap, 500.0)
    step(2, "full", "CHEAPER_FULL", "text")
    took(lab, max(lab.ws._store.world().runs), 90.0)
    step(3, "full", "CHEAPER_FULL", "text")
    took(lab, cheap, 1.0)
    took(lab, max(lab.ws._store.world().runs) - 1, 90.0)
    step(4, "full", "STATE_MISSING", "rebuild")
    took(lab, max(lab.ws._store.world().runs), 100.0)
    step(5, "incremental", "", "incremental")
    lab.verified()

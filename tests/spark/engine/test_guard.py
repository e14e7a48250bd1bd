"""Runs that turn back: more to do than expected, a full run instead, the same answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from slacktide.engine.planning import knowledge
from slacktide.optimizer.costs import Coefficients, Fit, evidence
from slacktide.optimizer.periods import pricing
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.ways import guard
from slacktide.program.limits import UNLIMITED, Limits
from slacktide.spark.tasks.bounded import Spent
from tests.campaigns.misled import few_changes
from tests.campaigns.side_by_side import believing
from tests.harness import guarded
from tests.harness.daily import storing
from tests.harness.lab import Lab

pytestmark = pytest.mark.spark

STUCK = """
import time
from pathlib import Path

def once(value):
    trap, caught = Path({trap!r}), Path({caught!r})
    try:
        trap.rename(caught)
    except FileNotFoundError:
        return value
    while caught.exists():
        time.sleep(0.05)
    return value
"""
SUMS = "SELECT k, sum(v) AS s FROM t GROUP BY k"
WEIGHED = "SELECT t.k, sum(t.v * p.w) AS s FROM t JOIN p ON t.p = p.id GROUP BY t.k"
TOPS = "SELECT k, max(v) AS top FROM t GROUP BY k"


@pytest.fixture
def wary() -> Iterator[None]:
    """Every step of an incremental program may write one row."""
    with guarded.wary():
        yield


@pytest.fixture
def stuck(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that stops the function `once` when it is next called; the first look after that finds time up."""
    trap, caught, module = tmp_path / "trap", tmp_path / "caught", f"stuck_in_{tmp_path.name}"
    code = STUCK.format(trap=str(trap), caught=str(caught))
    (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    lab.ws.add_function("once", f"{module}:once", returns="int")
    looks = []

    def seconds(_: Spent) -> float:
        looks.extend([9.0] if caught.exists() else [])
        return 9.0 if len(looks) == 1 else 0.0

    monkeypatch.setattr(Spent, "seconds", seconds)
    with guarded.wary(lambda *_, **__: Limits(cpu_seconds=5.0)):
        yield trap
    caught.unlink(missing_ok=True)


def stocked(lab: Lab, *views: str) -> None:
    lab.source("t", "k INT, v INT", *((i % 4, i) for i in range(100)))
    for number, sql in enumerate(views):
        lab.view(f"v{number}", sql, policy="auto")
    lab.refresh()


@pytest.mark.usefixtures("wary")
def test_a_run_that_finds_more_takes_the_text(lab: Lab) -> None:
    stocked(lab, SUMS)
    lab.land("t", insert=[(1, 5), (2, 5), (9, 9)])
    plan = lab.ws.plan()
    assert plan.views[0].method == "incremental"
    assert plan.views[0].guard.rows
    assert ViewPlan.from_dict(plan.views[0].to_dict()).guard == plan.views[0].guard
    done = lab.ws.refresh(lab.spark, plan).views["v0"]
    assert (done.method, done.switched) == ("full", True)
    small, reason = done.reasons
    assert small.startswith("CHANGE_SMALL(")
    assert reason.startswith("RUNTIME_GUARD(3 rows of states/")
    assert done.predicted["way"] == "incremental", "what the run took is the price of that choice"
    read = [one["rows"] for one in done.actual["operators"]]
    assert sum(filter(None, read)) > 100 + 3, "what was given up is counted"
    assert {step["chain"].partition("/")[0] for step in done.actual["steps"]} >= {"states", "views"}
    lab.verified()


def test_changes_that_are_thought_small_are_taken_in_full(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the limits that the planner itself works out, of a view that is weighed; rows are what is dear."""
    nothing = {field.name: 1e-9 for field in fields(Coefficients)}
    prices = Coefficients(**nothing | {"rows_read": 1.0, "rows_grouped": 1.0})
    monkeypatch.setattr(knowledge, "fit", lambda *_: Fit(prices, 0, None, None))
    monkeypatch.setattr(evidence, "LEAST_ROWS", 1)
    monkeypatch.setattr(guard, "LEAST", 1)
    lab.source("p", "id INT, w INT", *((i, i) for i in range(50)))
    lab.source("t", "k INT, p INT, v INT", *((i % 400, i % 50, i) for i in range(4000)))
    lab.view("v0", WEIGHED, policy="auto")
    with believing(few_changes):
        lab.refresh()
        lab.land("t", insert=[(i, i % 50, 7) for i in range(390)])
        plan = lab.ws.plan()
    assert plan.views[0].method == "incremental", plan.views[0].reasons
    (limit,) = plan.views[0].guard.rows.values()
    assert limit < 390
    done = lab.ws.refresh(lab.spark, plan).views["v0"]
    assert (done.method, done.switched) == ("full", True)
    untried, turned = done.reasons
    assert untried.startswith("INCREMENTS_UNTRIED(")
    assert turned.startswith("RUNTIME_GUARD(390 rows of states/")
    lab.verified()


@pytest.mark.usefixtures("wary")
def test_it_goes_on_from_there(lab: Lab) -> None:
    stocked(lab, SUMS, TOPS)
    seen = []
    for number, rows in enumerate(([(1, 5), (2, 5)], [(0, 1)], [], [(1, 7), (5, 5), (6, 6)])):
        lab.land("t", insert=rows, delete=[(number % 4, number)])
        seen.append(lab.refresh().views["v0"])
        lab.verified()
    assert [one.switched for one in seen] == [True, False, False, True]
    assert seen[1].reasons[0].startswith("STATE_MISSING"), "the full run left it behind"
    assert seen[2].method == "incremental"


@pytest.mark.usefixtures("wary")
def test_nothing_of_what_was_given_up_is_left(lab: Lab) -> None:
    stocked(lab, SUMS)
    chains = {name: chain.versions for name, chain in lab.ws._store.world().chains.items()}
    lab.land("t", insert=[(1, 5), (2, 5), (9, 9)])
    assert lab.refresh().views["v0"].switched
    after = lab.ws._store.world().chains
    states = [name for name in chains if name.startswith("states/")]
    assert states
    assert {name: after[name].versions for name in states} == {n: chains[n] for n in states}


@pytest.mark.usefixtures("wary")
def test_where_the_text_cannot_run_increments_go_on(lab: Lab) -> None:
    stocked(lab, SUMS)
    (first,) = lab.folder("t").iterdir()
    first.unlink()  # increments never open it again
    lab.land("t", insert=[(1, 5), (2, 5), (9, 9)])
    done = lab.refresh().views["v0"]
    assert (done.method, done.switched, done.reasons) == (
        "incremental",
        False,
        ("CHANGE_SMALL(2.9%)",),
    )
    sums = {k: sum(v for key, v in lab.rows["t"] if key == k) for k in (0, 1, 2, 3, 9)}
    assert dict(lab.read("v0")) == sums


def test_a_step_that_takes_more_than_it_may_is_given_up(lab: Lab, stuck: Path) -> None:
    stocked(lab, "SELECT k, sum(once(v)) AS s FROM t GROUP BY k")
    lab.land("t", insert=[(1, 5), (2, 5), (9, 9)])
    stuck.touch()
    plan = lab.ws.plan()
    assert plan.views[0].method == "incremental"
    assert ViewPlan.from_dict(plan.views[0].to_dict()).guard == plan.views[0].guard
    done = lab.ws.refresh(lab.spark, plan).views["v0"]
    assert (done.method, done.switched) == ("full", True)
    small, reason = done.reasons
    assert small.startswith("CHANGE_SMALL(")
    assert reason.startswith("RUNTIME_GUARD(9.0 s of CPU up to states/")
    assert reason.endswith(", worth it up to 5.0)")
    assert done.predicted["way"] == "incremental"
    assert done.actual["cpu_seconds"] > 9.0, "what was given up is counted"
    lab.verified()
    assert not [*lab.spark.sparkContext.getJobTags()]
    for rows in ([(1, 5)], [(2, 7), (3, 1)]):
        lab.land("t", insert=rows, delete=[(1, 5)])
        assert not lab.refresh().views["v0"].switched
        lab.verified()


def test_a_refresh_before_the_due_one_that_takes_more_than_it_may_is_given_up(
    lab: Lab, stuck: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pricing, "early_limits_of", lambda *_: Limits(cpu_seconds=5.0))
    lab.source("t", "k INT, v INT", *((i % 4, i) for i in range(100)))
    sums = "SELECT k, sum(v) AS s FROM t WHERE once(v) >= 0 GROUP BY k"
    lab.view("v0", sums, policy="auto", goal={"weights": [0.001, 1]})
    lab.refresh()
    with storing():
        lab.land("t", insert=[(1, 5), (2, 5), (9, 9)])
        stuck.touch()
        plan = lab.ws.plan()
        assert plan.views[0].method == "states-only"
        early = lab.ws.refresh(lab.spark, plan).views["v0"]
        assert (early.method, early.switched) == ("unchanged", True)
        assert early.reasons[-1].startswith("RUNTIME_GUARD(9.0 s of CPU up to states/")
        assert early.actual["cpu_seconds"] >= 9.0, "what was given up is told"
        (told,) = [run.views["v0"] for run in lab.ws.history("v0") if run.run == 2]
        assert told.actual == early.actual
        lab.land("t", insert=[(1, 6)], delete=[(1, 5)])
        assert lab.refresh().views["v0"].method == "incremental"
    lab.verified()


def test_what_one_view_gives_up_another_one_stores(lab: Lab, stuck: Path) -> None:
    sums = "SELECT k, sum(once(v)) AS s FROM t GROUP BY k"
    stocked(lab, sums, sums)
    lab.land("t", insert=[(1, 5), (2, 5), (9, 9)])
    stuck.touch()
    done = lab.refresh().views
    assert [one.switched for one in done.values()] == [True, False]
    assert [one.method for one in done.values()] == ["full", "incremental"]
    lab.verified()


def test_without_a_guard_nothing_turns_back(lab: Lab) -> None:
    stocked(lab, SUMS)
    lab.land("t", insert=[(n, n) for n in range(9)])
    assert lab.ws.plan().views[0].guard == UNLIMITED, "it is small"
    done = lab.refresh().views["v0"]
    assert (done.method, done.switched) == ("incremental", False)

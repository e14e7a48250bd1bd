"""Views whose answer is due only now and then: what readers see, what is stored for the due refresh, and what goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from slacktide import store as s
from slacktide.engine.planning import knowledge
from slacktide.engine.reports import ViewReport
from slacktide.errors import DataError, ExecutionError, InvalidSettingError, SlacktideError
from slacktide.optimizer.costs import Coefficients, Fit, Sample
from slacktide.optimizer.periods import pricing
from slacktide.program import operator as o
from slacktide.program.limits import Limits
from slacktide.spark.tasks.executor import Executor
from slacktide.spark.tasks.task import Outcome, Task
from tests.harness import guarded
from tests.harness.lab import Lab

pytestmark = pytest.mark.spark

SOLD = (
    "SELECT p.kind, count(*) AS n, sum(o.amount) AS total "
    "FROM orders o JOIN products p ON o.product = p.id GROUP BY p.kind"
)
CHEAP = [0.001, 0.001, 1]


@pytest.fixture(autouse=True)
def by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are dear and jobs are nothing, whatever runs have taken, which are forgotten: so few rows are worth storing."""
    nothing = {
        "files": 1e-9,
        "stages": 1e-9,
        "jobs": 1e-9,
        "plans": 1e-9,
        "sessions": 0.0,
        "bytes_shuffled": 1e-3,
        "bytes_written": 1e-6,
        "rows_read": 1.0,
    }
    prices = Coefficients(**nothing)

    def fit(_: Sequence[Sample], __: Coefficients) -> Fit:
        return Fit(prices, 0, None, None)

    monkeypatch.setattr(knowledge, "fit", fit)
    monkeypatch.setattr(knowledge, "past_run", lambda *_: None)


def stocked(lab: Lab, *, weights: Sequence[float] = CHEAP, policy: str = "auto") -> None:
    lab.source("products", "id INT, kind STRING", *((i, f"k{i % 7}") for i in range(60)))
    lab.source("orders", "id INT, product INT, amount INT", *((i, i % 60, i) for i in range(9000)))
    lab.view("sold", SOLD, policy=policy, goal={"weights": weights})
    lab.refresh()


def sell(lab: Lab, first: int, count: int = 200, *, renames: bool = False) -> None:
    """Orders come, and some of those before go; a product changes its kind, maybe."""
    gone = lab.rows["orders"][first % 7 : 60 : 7]
    new = [(10_000 + first + i, (first + i) % 70, i) for i in range(count)]
    lab.land("orders", insert=new, delete=gone)
    if renames:
        old = lab.rows["products"][first % 5]
        lab.land("products", update=[(old, (old[0], f"k{first % 9}"))])


def a_day(lab: Lab, refreshes: int = 2) -> None:
    """Most comes early, so that the planner expects that of the next day."""
    for turn in range(refreshes):
        sell(lab, 50_000 + 1000 * turn, 20 if turn else 600)
        refreshed(lab)


def refreshed(lab: Lab) -> ViewReport:
    return lab.refresh().views["sold"]


def period(lab: Lab) -> s.Period | None:
    return lab.ws._store.world().views["sold"].period


def test_readers_see_the_last_due_answer_and_the_period_is_used_and_forgotten(lab: Lab) -> None:
    stocked(lab)
    seen: list[str] = []
    for day in range(3):
        before = lab.bag("sold")
        for turn in (1, 2):
            sell(lab, 1000 * (3 * day + turn), 600 if turn == 1 else 20)
            found = refreshed(lab)
            assert found.reasons[0].startswith(f"NOT_DUE({turn} of 3")
            assert not any(lab.ws.pending().values()), "nothing calls for the next refresh"
            assert lab.bag("sold") == before
            lab.verified()
            seen.append(found.method)
        world = lab.ws._store.world()
        stored = set(world.views["sold"].period.chains) if world.views["sold"].period else set()
        assert stored <= world.chains.keys()
        sell(lab, 1000 * (3 * day + 3), 20, renames=day == 1)
        plan = lab.ws.plan().views[0]
        assert plan.turn is not None
        seen.append("by the period" if plan.turn.expects else "from the answer")
        found = refreshed(lab)
        assert found.method == "incremental"
        assert lab.bag("sold") != before
        lab.verified()
        assert not stored & lab.ws._store.world().chains.keys()
        assert period(lab) is None
    assert "states-only" in seen, "something is stored early"
    assert "by the period" in seen, "and used"


def test_a_refresh_without_arrivals_counts(lab: Lab) -> None:
    stocked(lab)
    for turn in (1, 2):
        assert refreshed(lab).reasons == (f"NOT_DUE({turn} of 3, nothing has come)",)
    assert refreshed(lab).reasons == ("NO_CHANGE",)
    assert period(lab) is None
    assert refreshed(lab).reasons == ("NOT_DUE(1 of 3, nothing has come)",)


def test_an_answer_can_be_had_before_it_is_due(lab: Lab) -> None:
    stocked(lab)
    sell(lab, 1000)
    refreshed(lab)
    plan = lab.ws.plan(due=True)
    lab.land("orders", insert=[(7, 7, 7)])
    lab.ws.discover()
    found = lab.ws.refresh(lab.spark, plan).views["sold"]
    assert found.method == "incremental"
    assert period(lab) is None
    lab.verified()


def test_a_refresh_that_only_counts_needs_no_spark(lab: Lab) -> None:
    stocked(lab)
    plan = lab.ws.plan()
    assert (plan.is_empty, plan.needs_spark) == (False, False)
    report = lab.ws.count(plan)
    assert report.views["sold"].method == "unchanged"
    assert lab.ws.count(plan) == report, "once"
    found = period(lab)
    assert found is not None
    assert found.turn == 1


def test_views_without_weights_share_states_with_one_that_has_them(lab: Lab) -> None:
    stocked(lab)
    lab.view("often", SOLD, policy="auto")
    for turn in range(6):
        sell(lab, 1000 * (turn + 1), 30, renames=turn == 2)
        lab.refresh()
        lab.verified()


def test_a_view_that_fails_does_not_stop_the_count_of_others(lab: Lab) -> None:
    stocked(lab)
    lab.view("broken", "SELECT id, 1 / (amount - 77777) AS x FROM orders", policy="auto")
    lab.refresh()
    before = period(lab)
    lab.land("orders", insert=[(1, 1, 77777)])
    report = lab.refresh()
    assert report.views["broken"].method == "failed"
    found = period(lab)
    assert found is not None
    assert found.turn == (before.turn if before else 0) + 1


def test_files_without_counts_are_changes_too(lab: Lab) -> None:
    landing = lab.landing("kinds")
    (lab.folder("kinds") / "1.csv").write_text("".join(f"{i},k{i % 7}\n" for i in range(60)))
    lab.ws.add_source(
        "kinds", kind="files", path=landing, format="csv", schema="id INT, kind STRING"
    )
    lab.source("orders", "id INT, product INT, amount INT", *((i, i % 60, i) for i in range(9000)))
    lab.view("sold", SOLD.replace("products", "kinds"), policy="auto", goal={"weights": [0.001, 1]})
    lab.refresh()
    for day in range(2):
        (lab.folder("kinds") / f"a{day}.csv").write_text(f"{60 + day},new\n")
        sell(lab, 1000 * (day + 1), 600)
        lab.refresh()
        sell(lab, 5000 + 1000 * (day + 1), 20)
        lab.refresh()
        lab.verified()


def test_states_go_on_from_period_to_period(lab: Lab) -> None:
    stocked(lab)
    methods = []
    for number in range(9):
        sell(lab, 1000 * (number + 1), 50 + 10 * number)
        methods.append(refreshed(lab).method)
        lab.verified()
    assert "full" not in methods


def test_a_source_that_is_reset_ends_the_period(lab: Lab) -> None:
    stocked(lab)
    sell(lab, 1000)
    refreshed(lab)
    assert period(lab) is not None
    lab.ws.reset_source("products")
    lab.rows["products"] = []
    lab.land("products", insert=[(i, f"x{i % 3}") for i in range(60)])
    found = refreshed(lab)
    assert found.method == "full", "there is no answer to go on from"
    lab.verified()
    assert period(lab) is None
    sell(lab, 2000)
    assert refreshed(lab).reasons[0].startswith("NOT_DUE(1 of 3")


def test_what_is_stored_goes_with_the_text_or_the_view(lab: Lab) -> None:
    stocked(lab, weights=[0.001, 1])
    a_day(lab)
    sell(lab, 1000, 600)
    assert refreshed(lab).method == "states-only"
    stored = {*period(lab).chains}  # type: ignore[union-attr]
    assert stored
    lab.ws.replace_view(lab.spark, "sold", SOLD, goal={"weights": [0.5, 0.5]})
    assert stored <= lab.ws._store.world().chains.keys(), "it means the same"
    sell(lab, 2000)
    assert refreshed(lab).method == "incremental"
    assert period(lab) is None, "by the new weights the second refresh is due"
    lab.verified()
    sell(lab, 3000)
    refreshed(lab)
    stored = {*period(lab).chains}  # type: ignore[union-attr]
    lab.ws.replace_view(
        lab.spark, "sold", f"{SOLD} HAVING count(*) > 3", goal={"weights": [0.5, 1]}
    )
    assert not stored & lab.ws._store.world().chains.keys()
    refreshed(lab)
    lab.verified()
    lab.ws.drop_view("sold")
    assert not [c for c in lab.ws._store.world().chains if c.startswith("states/")]


def test_a_damaged_file_of_a_period_is_done_without(lab: Lab) -> None:
    stocked(lab)
    a_day(lab, 3)
    sell(lab, 1000, 600)
    assert refreshed(lab).method == "states-only"
    chains = lab.ws._store.world().chains
    damaged = {*period(lab).chains}  # type: ignore[union-attr]
    for chain in damaged:
        base = chains[chain].base
        assert base is not None
        for file in base.files:
            (Path(lab.ws.root) / file.path).write_bytes(b"PAR1")
    sell(lab, 2000, 20)
    refreshed(lab)
    lab.verified()
    sell(lab, 3000, 20)
    found = refreshed(lab)
    lab.verified()
    assert found.method == "incremental"
    assert not damaged & lab.ws._store.world().chains.keys()


@pytest.mark.parametrize("kind", [DataError, ExecutionError])
def test_what_fails_early_is_left_to_the_due_refresh(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, kind: type[SlacktideError]
) -> None:
    stocked(lab, weights=[0.001, 1])
    a_day(lab)
    sell(lab, 1000, 600)
    run = Executor.run

    def failing(self: Executor, task: Task) -> Outcome:
        if not any(isinstance(step, o.Publish) for step in task.program.steps):
            raise kind("a row cannot be divided", hint="wait")
        return run(self, task)

    monkeypatch.setattr(Executor, "run", failing)
    early = refreshed(lab)
    assert early.method == "unchanged"
    assert early.reasons[-1] == f"EARLY_FAILS({kind.code})"
    kept = period(lab)
    assert kept is not None
    assert (kept.turn, kept.reached, kept.chains) == (1, (), ())
    sell(lab, 2000, 20)
    assert refreshed(lab).method == "incremental"
    lab.verified()


def test_a_refresh_that_finds_too_much_leaves_it_to_the_due_one(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cost is told, the refresh counts, and nothing of it is left."""
    stocked(lab, weights=[0.001, 1])
    a_day(lab)
    sell(lab, 1000, 600)
    before = lab.ws._store.world().chains
    plan = lab.ws.plan()
    assert plan.views[0].method == "states-only"
    assert plan.views[0].turn is not None
    few = Limits(dict.fromkeys(plan.views[0].turn.writes, 1))
    monkeypatch.setattr(pricing, "early_limits_of", lambda *_: few)
    plan = lab.ws.plan()
    early = lab.ws.refresh(lab.spark, plan).views["sold"]
    assert (early.method, early.switched) == ("unchanged", True)
    assert early.reasons[-1].startswith("RUNTIME_GUARD(")
    assert early.actual["cpu_seconds"] > 0.0
    kept = period(lab)
    assert kept is not None
    assert (kept.turn, kept.reached, kept.chains) == (1, (), ())
    assert {n for n in lab.ws._store.world().chains if n.startswith("states/")} == {
        n for n in before if n.startswith("states/")
    }
    sell(lab, 2000, 20)
    assert refreshed(lab).method == "incremental"
    lab.verified()


def test_a_due_refresh_that_finds_too_much_answers_in_full(lab: Lab) -> None:
    """What the day has stored goes with the answer, as ever."""
    stocked(lab, weights=[0.001, 1])
    a_day(lab)
    sell(lab, 1000, 600)
    assert refreshed(lab).method == "states-only"
    sell(lab, 2000, 20)
    with guarded.wary():
        due = lab.ws.plan().views[0]
        assert [reason.code for reason in due.reasons] == ["STORED_EARLY"]
        told = lab.ws.refresh(lab.spark).views["sold"]
    assert (told.method, told.switched) == ("full", True)
    assert [reason.partition("(")[0] for reason in told.reasons] == [
        "STORED_EARLY",
        "RUNTIME_GUARD",
    ]
    assert period(lab) is None
    lab.verified()
    a_day(lab)
    lab.verified()


def test_a_view_that_is_never_incremental_waits(lab: Lab) -> None:
    lab.source("t", "k INT", (1,), (2,))
    lab.view("drawn", "SELECT k, rand(1) AS r FROM t", policy="auto", goal={"weights": [0.1, 1]})
    lab.refresh()
    lab.land("t", insert=[(3,)])
    assert lab.refresh().views["drawn"].method == "unchanged"
    assert len(lab.read("drawn")) == 2
    assert lab.refresh().views["drawn"].method == "full"
    assert len(lab.read("drawn")) == 3


def test_weights_that_are_none_are_refused(lab: Lab) -> None:
    lab.source("t", "k INT", (1,))
    with pytest.raises(InvalidSettingError, match="view v has the goal"):
        lab.view("v", "SELECT k FROM t", goal={"weights": [1]})
    assert not lab.ws._store.world().views

"""When a view starts and stops to remember a join, by what its runs have cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slacktide import store as s
from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.common.chain_ids import mirror_id
from slacktide.engine.planning.knowledge import Knowledge
from slacktide.engine.planning.staleness import stale
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.ways import remembered_joins
from slacktide.optimizer.ways.fallback import plan_without_joins
from slacktide.optimizer.ways.savings import Savings
from tests.harness.planner.tpch_views import TPCH
from tests.harness.priced import VIEW, Priced
from tests.harness.remembering import (
    begins,
    change,
    let_starts_cost,
    opened,
    reads,
    refreshed,
    remembered,
)


@pytest.fixture
def priced(tmp_path: Path) -> Priced:
    """A workspace with the view."""
    return opened(tmp_path)


def test_a_join_that_runs_read_tables_for_is_remembered(priced: Priced) -> None:
    priced.run(lambda _: 12.0)
    plans = [refreshed(priced, with_it=0.5, without=3.0) for _ in range(8)]
    assert {plan.method for plan in plans} == {"incremental"}
    started = [begins(plan) for plan in plans]
    assert started.count(True) == 1
    assert not started[0], "a program that has not run says nothing"
    after = plans[started.index(True) + 1]
    assert not reads(after, "lineitem")
    assert after.remembers == priced.world().views[VIEW].remembers
    assert "remembers the join of lineitem and part:" in priced.ws.explain(VIEW).text
    assert priced.world().chains[after.remembers[0]].segments


def test_a_join_is_remembered_sooner_for_many_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As soon as the program has run twice, where else it waits until runs have missed enough."""
    let_starts_cost(monkeypatch, lambda _, cost: 5 * cost)
    started = []
    for number, goal in enumerate(({"total": True}, {"rounds": 100}, {"rounds": 1})):
        (root := tmp_path / str(number)).mkdir()
        priced = opened(root, {"goal": goal})
        priced.run(lambda _: 12.0)
        plans = [refreshed(priced, with_it=0.9, without=1.4) for _ in range(12)]
        began = [begins(plan) for plan in plans]
        started.append(began.index(True) if True in began else None)
    assert started == [4, 2, None]


@pytest.mark.parametrize("every", [2, 4])
@pytest.mark.parametrize("without", [3.0, 3.9], ids=["by increments", "in full"])
def test_a_join_that_dear_runs_alone_miss_is_remembered(
    priced: Priced, every: int, without: float
) -> None:
    """Small changes lie together and need no join; large ones go by increments, or in full, and with it take 0.8 s."""
    priced.run(lambda _: 3.6)
    methods = []
    for number in range(1, 25):
        is_large = number % every == 0
        change(priced, is_large=is_large)
        plan = priced.ws.plan().views[0]
        has = bool(plan.remembers) and not begins(plan)
        increments = 0.2 if not is_large else 0.8 if has else without
        seconds = {"incremental": increments, "text": 3.2, "rebuild": 3.4}[plan.predicted["way"]]
        priced.run(lambda _, seconds=seconds: seconds)  # type: ignore[misc]
        methods.append((plan.method, has))
    assert methods[-8:] == [("incremental", True)] * 8
    assert methods[0] == ("incremental", False)


@pytest.mark.parametrize("without", [9.0, 20.0])
def test_a_join_that_full_runs_alone_miss_is_remembered(priced: Priced, without: float) -> None:
    """Increments take thrice what a full run does or more, and would take a fourth of it by what nobody has built yet."""
    priced.run(lambda _: 3.6)
    plans = []
    for _ in range(12):
        change(priced, is_large=True)
        (plan,) = priced.ws.plan().views
        has = bool(plan.remembers) and not begins(plan)
        seconds = {"incremental": 0.8 if has else without, "text": 3.2, "rebuild": 3.4}
        priced.run(lambda _, seconds=seconds[plan.predicted["way"]]: seconds)  # type: ignore[misc]
        plans.append(plan)
    (started,) = [number for number, plan in enumerate(plans) if begins(plan)]
    assert plans[started].predicted["way"] == "rebuild"
    assert "STATES_PAY" in {reason.code for reason in plans[started].reasons}
    assert "text" in {plan.predicted["way"] for plan in plans[:started]}
    assert {plan.predicted["way"] for plan in plans[started + 1 :]} == {"incremental"}


def test_dear_runs_are_asked_again_until_a_start_is_paid_for(
    priced: Priced, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What starting costs is thought so much that more than two dear runs must have missed the join."""
    let_starts_cost(monkeypatch, lambda saving, _: 5 * saving)
    priced.run(lambda _: 3.6)
    started = []
    for number in range(1, 25):
        is_large = number % 2 == 0
        change(priced, is_large=is_large)
        plan = priced.ws.plan().views[0]
        seconds = {"incremental": 3.0 if is_large else 0.2, "text": 3.2, "rebuild": 3.4}
        priced.run(lambda _, seconds=seconds[plan.predicted["way"]]: seconds)  # type: ignore[misc]
        started += [number] if begins(plan) else []
    assert started
    assert 8 <= started[0] <= 12, "after four that were dear"


def test_a_join_that_failed_is_not_started_again(priced: Priced) -> None:
    priced.run(lambda _: 12.0)
    plans = [refreshed(priced, with_it=0.5, without=3.0) for _ in range(2)]
    while not begins(plans[-1]):
        priced.arrive("lineitem", 6_000)
        plans.append(priced.ws.plan().views[0])
        if not begins(plans[-1]):
            priced.run(lambda _: 3.0)
    (joined,) = plans[-1].remembers
    most = plans[-1].guard.cpu_seconds
    assert most is not None
    assert most > 2 * plans[-1].predicted["cpu_seconds"] * 0.99, "it takes more on purpose"
    failed = plan_without_joins(
        ReadView.from_dict(priced.world().views[VIEW].definition), plans[-1]
    )
    assert failed is not None
    assert [reason.code for reason in failed.reasons] == ["CHEAPER_INCREMENTAL", "JOIN_FAILS"]
    assert failed.reasons[-1].detail == joined
    assert not begins(failed)
    priced.run(lambda _: 3.0, instead=failed)
    after = [refreshed(priced, with_it=0.5, without=3.0) for _ in range(12)]
    assert not any(plan.remembers for plan in after)


def test_a_join_that_another_view_left_behind_may_be_started_anew(priced: Priced) -> None:
    """Not one that another view has as of its answer."""
    joined = remembered(priced)
    known = Knowledge(priced.world())
    assert known.others("w").hold(joined)
    assert not known.others(VIEW).hold(joined)
    priced.arrive("lineitem", 6_000)
    world = priced.world()
    ahead = replace(world.views[VIEW], versions=dict.fromkeys(world.sources, 1))
    left = Knowledge(replace(world, views={VIEW: ahead}))
    assert not left.others("w").hold(joined), "it is not as of the answer any more"
    needed = world.views[VIEW].states[0]
    assert (known.others("w").need(needed), known.others(VIEW).need(needed)) == (True, False)


def test_what_has_turned_out_dearer_is_forgotten(priced: Priced) -> None:
    priced.run(lambda _: 12.0)
    plans = [refreshed(priced, with_it=5.0, without=3.0) for _ in range(24)]
    started = next(place for place, plan in enumerate(plans) if begins(plan))
    stopped = next(
        place for place, plan in enumerate(plans) if place > started and not plan.remembers
    )
    assert reads(plans[stopped], "lineitem")
    assert not any(plan.remembers for plan in plans[stopped:]), "evidence speaks against it"
    assert not priced.world().views[VIEW].remembers


def test_runs_after_smaller_changes_say_nothing_against_it(priced: Priced) -> None:
    priced.run(lambda _: 12.0)
    plans = [refreshed(priced, with_it=0.9, without=1.1) for _ in range(12)]
    assert plans[-1].remembers
    larger = [refreshed(priced, with_it=1.6, without=2.6, lines=60_000) for _ in range(12)]
    assert {plan.method for plan in larger} == {"incremental"}
    assert all(plan.remembers for plan in larger), "it took 1.6 s, where small changes took 1.1"


def test_the_model_alone_gives_no_join_up(priced: Priced, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program without it has run after large changes, and the one with it after small ones."""
    priced.run(lambda _: 12.0)
    for _ in range(2):
        refreshed(priced, with_it=0.5, without=3.0, lines=60_000)
    plans = [refreshed(priced, with_it=0.5, without=3.0) for _ in range(12)]
    monkeypatch.setattr(
        remembered_joins, "asking_runs", lambda known, program, *_: known.times(program)
    )
    monkeypatch.setattr(Savings, "saving", lambda *_: 9.0)
    for is_known in (False, True):
        plan = refreshed(priced, with_it=2.0, without=3.0, lines=60_000)
        assert plan.method == "incremental"
        assert plan.remembers == (() if is_known else plans[-1].remembers)
    assert plans[-1].remembers


def test_a_small_view_is_not_asked(tmp_path: Path) -> None:
    root = TPCH.relation("q17")
    read = ReadView(relation=root, outputs=root.columns, sources=sources(root))
    priced = Priced(tmp_path, read, {name: TPCH.rows[name] // 100 for name in read.sources})
    priced.run(lambda _: 12.0)
    for _ in range(8):
        assert not refreshed(priced, with_it=0.5, without=3.0).remembers


def test_explain_says_so(priced: Priced) -> None:
    priced.run(lambda _: 12.0)
    for _ in range(8):
        priced.arrive("lineitem", 6_000)
        if begins(priced.ws.plan().views[0]):
            text = priced.ws.explain(VIEW).text
            assert "starts to remember the join of lineitem and part:" in text
            return
        priced.run(lambda plan: 3.0)
    pytest.fail("nothing was remembered")


def test_a_remembered_join_that_is_gone_costs_no_rebuild(priced: Priced) -> None:
    priced.run(lambda _: 12.0)
    plans: list[Any] = [refreshed(priced, with_it=0.5, without=3.0) for _ in range(8)]
    priced.commit(s.DropChain(plans[-1].remembers[0]))
    priced.arrive("lineitem", 6_000)
    plan = priced.ws.plan().views[0]
    assert plan.method == "incremental"
    assert reads(plan, "lineitem")
    assert not plan.remembers


def test_a_join_is_kept_while_rows_are_gone_that_runs_read_without_it(tmp_path: Path) -> None:
    """Another view's run has written the mirror anew, past what this one has taken in."""

    def mirror(priced: Priced, name: str, rows: int) -> None:
        version = priced.world().sources[name].version
        base = s.Segment(99, (), rows, 50 * rows, {name: version})
        priced.commit(s.SetChain(s.Chain(mirror_id(name), (), base)))

    def started(name: str) -> Priced:
        (root := tmp_path / name).mkdir()
        priced = opened(root)
        priced.run(lambda _: 12.0)
        mirror(priced, "lineitem", 6_000_000)
        mirror(priced, "part", 200_000)
        return priced

    def next_of(priced: Priced) -> ViewPlan:
        return refreshed(priced, with_it=5.0, without=3.0)

    first = started("first")
    plans = [next_of(first) for _ in range(40)]
    begun = next(number for number, plan in enumerate(plans) if begins(plan))
    stopped = next(n for n, plan in enumerate(plans) if n > begun and not plan.remembers)
    for is_passed in (False, True):
        priced = started(f"passed {is_passed}")
        for _ in range(stopped):
            next_of(priced)
        priced.arrive("lineitem", 6_000)
        if is_passed:
            mirror(priced, "lineitem", 6_000_000)
        plan = priced.ws.plan()
        assert bool(plan.views[0].remembers) is is_passed
        assert stale(priced.world(), plan) == ""

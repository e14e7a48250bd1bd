"""Joins that are remembered, where the states of the view are built anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from slacktide import store as s
from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.common.tree import of_type
from slacktide.engine.planning.staleness import stale
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.ways.fallback import plan_text, plan_without_joins
from slacktide.program import operator as o
from tests.harness.priced import VIEW, Priced
from tests.harness.remembering import (
    begins,
    lose_what_operators_need,
    opened,
    reads,
    reads_join,
    refreshed,
    remembered,
)


@pytest.fixture
def priced(tmp_path: Path) -> Priced:
    """A workspace with the view."""
    return opened(tmp_path)


def test_states_are_built_again_for_what_increments_took_by_a_join_that_was_left(
    priced: Priced,
) -> None:
    """After a change of half of all lines the answer alone is made, which takes 1 s, and leaves all behind."""
    remembered(priced)
    ways = []
    for number in range(6):
        priced.arrive("lineitem", 3_000_000 if number < 2 else 6_000)
        (plan,) = priced.ws.plan().views
        has = bool(plan.remembers)
        increments = 30.0 if number < 2 else 0.5 if has else 3.0
        seconds = {"incremental": increments, "text": 1.0, "rebuild": 3.0}
        priced.run(lambda _, seconds=seconds[plan.predicted["way"]]: seconds)  # type: ignore[misc]
        ways.append(plan.predicted["way"])
    assert ways == ["incremental", "text", "rebuild", *["incremental"] * 3]


def test_a_join_that_was_dear_is_not_built_again_with_the_states(priced: Priced) -> None:
    """It took 20 s where 3.2 s had done without, and then all was left behind for a change of half of all lines."""
    priced.run(lambda _: 6.2)
    began: int | None = None
    ways = []
    for number in range(12):
        is_half = began is not None and number == began + 2
        rows = 3_000_000 if is_half else 60_000
        priced.arrive("lineitem", rows, rows // 2)
        priced.cover("lineitem", "l_partkey", 1.0)
        (plan,) = priced.ws.plan().views
        began = number if begins(plan) else began
        has = bool(plan.remembers) and not begins(plan)
        increments = 30.0 if is_half else 20.0 if has else 3.2
        seconds = {"incremental": increments, "text": 6.0, "rebuild": 6.2}
        priced.run(lambda _, seconds=seconds[plan.predicted["way"]]: seconds)  # type: ignore[misc]
        ways.append((plan.predicted["way"], bool(plan.remembers)))
    assert ("text", True) in ways
    left = ways.index(("text", True))
    assert ways[left + 1 :] == [("rebuild", False), *[("incremental", False)] * (10 - left)]


def large_and_small(
    priced: Priced, joined: str, building: float
) -> list[tuple[ViewPlan, bool, str]]:
    """Two large changes and a small one, in turns; building a join takes so many seconds more. The plans, whether they build it, and how they are explained."""
    told = []
    for number in range(15):
        is_large = number % 3 < 2
        priced.arrive("lineitem", 3_000_000 if is_large else 6_000)
        (plan,) = priced.ws.plan().views
        text = priced.ws.explain(VIEW).text
        assert plan.program is not None
        saves = (step for step in plan.program.steps if isinstance(step, o.Save))
        builds = any(save.chain == joined and save.is_base for save in saves)
        increments = 30.0 if is_large else 0.5 if plan.remembers else 3.0
        full = 3.5 + building if builds else 3.5
        seconds = {"incremental": increments, "text": 3.0, "rebuild": full}[plan.predicted["way"]]
        step = building / plan.predicted["joins"][joined] if builds else 0.0
        priced.run(lambda _, seconds=seconds: seconds, built={joined: step} if builds else {})  # type: ignore[misc]
        told.append((plan, builds, text))
    return told


def test_a_join_is_built_with_the_states_while_that_costs_less_than_it_saves(
    priced: Priced,
) -> None:
    told = large_and_small(priced, remembered(priced), building=1.0)
    assert sum(builds for _, builds, _ in told) > 5
    assert not any(plan.predicted.get("given_up") for plan, *_ in told)
    small = [plan.method for number, (plan, *_) in enumerate(told) if number % 3 == 2]
    assert small[1:] == ["incremental"] * 4


def test_a_join_that_is_dear_to_build_with_the_states_is_given_up(priced: Priced) -> None:
    """Nobody knows before the first time; what that took is told apart from what the states take."""
    joined = remembered(priced)
    told = large_and_small(priced, joined, building=9.0)
    assert sum(builds for _, builds, _ in told) == 1
    ((given_up, _, text),) = [one for one in told if one[0].predicted.get("given_up")]
    assert "gives up the join of lineitem and part: building it took" in text
    (one,) = given_up.predicted["given_up"]
    assert (one["chain"], one["cost"]) == (joined, pytest.approx(9.0, rel=0.01))
    assert given_up.predicted["way"] == "rebuild"
    assert not given_up.remembers
    built = [builds for _, builds, _ in told].index(True)
    assert all(plan.predicted["cpu_seconds"] < 6.0 for plan, *_ in told[built + 2 :]), (
        "what the states take without it is no dearer for it"
    )


def test_a_join_is_built_again_once_small_changes_are_back(priced: Priced) -> None:
    """After eight large changes no run tells that increments save anything; those that have missed the states since do."""
    joined = remembered(priced)
    taken = []
    for number in range(30):
        is_large = number < 8
        priced.arrive("lineitem", 3_000_000 if is_large else 6_000)
        (plan,) = priced.ws.plan().views
        assert plan.program is not None
        builds = any(joined == o.target(step) for step in plan.program.steps) and (
            plan.predicted["way"] == "rebuild"
        )
        increments = 30.0 if is_large else 0.5 if plan.remembers else 3.0
        full = 5.8 if builds else 5.5
        seconds = {"incremental": increments, "text": 5.0, "rebuild": full}[plan.predicted["way"]]
        priced.run(lambda _, seconds=seconds: seconds, built={joined: 0.7} if builds else {})  # type: ignore[misc]
        taken.append(seconds)
    assert taken[-15:] == [0.5] * 15


def test_nobody_gives_a_join_up_who_never_runs_in_full(tmp_path: Path) -> None:
    """The policy says so, whatever full runs would take; a state is lost, and built again with the join."""
    priced = opened(tmp_path, {"policy": "incremental"})
    joined = remembered(priced)
    lose_what_operators_need(priced, joined)
    plans = [refreshed(priced, with_it=3.0, without=6.0) for _ in range(4)]
    lose_what_operators_need(priced, joined)
    plans += [refreshed(priced, with_it=3.0, without=6.0) for _ in range(4)]
    assert [plan.method for plan in plans].count("full") == 2
    assert all(plan.remembers == (joined,) for plan in plans)


@pytest.mark.parametrize(("rows", "is_kept"), [(700_000, True), (3_000_000, False)])
def test_a_join_that_has_outgrown_the_tables_is_not_built_again(
    priced: Priced, rows: int, is_kept: bool
) -> None:
    """A tenth of the rows of lineitem are 600,000: none with more is begun, and one at the border does not come and go."""
    joined = remembered(priced)
    chain = priced.world().chains[joined]
    assert chain.base is not None
    priced.commit(s.SetChain(replace(chain, base=replace(chain.base, rows=rows))))
    lose_what_operators_need(priced, joined)
    plan = refreshed(priced, with_it=0.5, without=3.0)
    assert plan.method == "full"
    assert plan.remembers == ((joined,) if is_kept else ())


def test_a_plan_that_would_set_a_join_back_is_stale(priced: Priced) -> None:
    joined = remembered(priced)
    lose_what_operators_need(priced, joined)
    priced.arrive("lineitem", 6_000)
    plan, chain = priced.ws.plan(), priced.world().chains[joined]
    assert stale(priced.world(), plan) == ""
    assert chain.versions is not None
    further = {name: version + 5 for name, version in chain.versions.items()}
    priced.commit(s.ExtendChain(joined, s.Segment(90, (), 1, 1, further)))
    assert stale(priced.world(), plan) == f"{joined}, which is ahead"


def test_what_is_built_anew_is_remembered_on(priced: Priced) -> None:
    joined = remembered(priced)
    lose_what_operators_need(priced, joined)
    plan = refreshed(priced, with_it=0.5, without=3.0)
    assert plan.method == "full"
    assert plan.remembers == (joined,)
    assert plan.program is not None
    assert joined in {one.chain for one in of_type(plan.program, o.Save)}
    after = refreshed(priced, with_it=0.5, without=3.0)
    assert after.method == "incremental"
    assert not reads(after, "lineitem")


def test_what_is_lost_with_a_state_is_built_anew_with_it(priced: Priced) -> None:
    joined = remembered(priced)
    for chain in [chain for chain in priced.world().chains if chain.startswith("states/")]:
        priced.commit(s.DropChain(chain))
    plan = refreshed(priced, with_it=0.5, without=3.0)
    assert (plan.method, plan.remembers) == ("full", (joined,))
    assert priced.world().chains[joined].base is not None


def test_a_join_is_given_up_that_a_full_run_fails_over(priced: Priced) -> None:
    joined = remembered(priced)
    lose_what_operators_need(priced, joined)
    priced.arrive("lineitem", 6_000)
    plan = priced.ws.plan().views[0]
    assert plan.remembers
    view = ReadView.from_dict(priced.world().views[VIEW].definition)
    without = plan_without_joins(view, plan)
    assert without is not None
    assert plan.program is not None
    assert without.program is not None
    assert {one.chain for one in of_type(without.program, o.Save)} == (
        {one.chain for one in of_type(plan.program, o.Save)} - {joined}
    )
    assert not reads_join(without, joined)
    text = plan_text(view, plan, Reason("CHANGE_FAILS", "row"))
    assert text is not None
    assert without.remembers == text.remembers == ()

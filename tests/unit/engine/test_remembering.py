"""When a view starts and stops to remember a join, by what its runs have cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slacktide import store as s
from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.common.tree import of_type
from slacktide.engine.planning.knowledge import Knowledge
from slacktide.engine.planning.staleness import stale
from slacktide.optimizer.costs import Evidence, PastRun
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.ways import remembered_joins
from slacktide.optimizer.ways.fallback import plan_text, plan_without_joins
from slacktide.optimizer.ways.remembered_joins import dear_runs, is_asked, pays
from slacktide.optimizer.ways.weighing import LEAST_ROWS
from slacktide.program import operator as o
from tests.harness.planner.tpch_views import TPCH
from tests.harness.priced import VIEW, Priced
from tests.unit.optimizer.weighed import WORK


def opened(root: Path, settings: dict[str, Any] | None = None) -> Priced:
    """Q17: what is sold of few parts in small quantities, as measured by all that is sold of them."""
    relation = TPCH.relation("q17")
    read = ReadView(relation=relation, outputs=relation.columns, sources=sources(relation))
    rows = {name: TPCH.rows[name] for name in read.sources}
    return Priced(root, read, rows, settings=settings)


@pytest.fixture
def priced(tmp_path: Path) -> Priced:
    """A workspace with the view."""
    return opened(tmp_path)


def reads(plan: ViewPlan, source: str) -> bool:
    assert plan.program is not None
    return any(read.source == source for read in of_type(plan.program, o.ReadSnapshot))


def reads_join(plan: ViewPlan, chain: str) -> bool:
    assert plan.program is not None
    return any(read.chain == chain for read in of_type(plan.program, o.ReadSaved))


def begins(plan: ViewPlan) -> bool:
    return bool(plan.predicted.get("remembering", {}).get("starts"))


def refreshed(priced: Priced, *, with_it: float, without: float, lines: int = 6_000) -> ViewPlan:
    """Let lines arrive and refresh, at prices with and without what is remembered."""
    priced.arrive("lineitem", lines)
    plan = priced.ws.plan().views[0]
    paid = with_it if plan.remembers and not begins(plan) else without
    priced.run(lambda _: paid if plan.method == "incremental" else 4 * without)
    return plan


def change(priced: Priced, *, is_large: bool) -> None:
    """Let few lines arrive that lie together, or many that lie anywhere."""
    priced.arrive("lineitem", 600_000 if is_large else 6_000)
    priced.cover("lineitem", "l_partkey", 1.0 if is_large else 1e-4)


def let_starts_cost(patch: pytest.MonkeyPatch, cost_of: Callable[[float, float], float]) -> None:
    """Have it be thought that starting a join costs something else, by what it saves and what it was to cost."""
    patch.setattr(
        remembered_joins,
        "pays",
        lambda saving, cost, times, price: pays(saving, cost_of(saving, cost), times, price),
    )


def remembered(priced: Priced) -> str:
    """The join that runs have started to remember."""
    priced.run(lambda _: 12.0)
    plans = [refreshed(priced, with_it=0.5, without=3.0) for _ in range(8)]
    (joined,) = plans[-1].remembers
    return joined


def lose_what_operators_need(priced: Priced, joined: str) -> None:
    needed = next(c for c in priced.world().chains if c.startswith("states/") and c != joined)
    priced.commit(s.DropChain(needed))


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
    failed = plan_without_joins(
        ReadView.from_dict(priced.world().views[VIEW].definition), plans[-1]
    )
    assert failed is not None
    assert [str(reason) for reason in failed.reasons] == [f"JOIN_FAILS({joined})"]
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
    assert stale(priced.world(), plan) == joined


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
    monkeypatch.setattr(remembered_joins, "is_asked", lambda *_: True)
    monkeypatch.setattr(remembered_joins.Question, "_saving", lambda *_: 9.0)
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


@pytest.mark.parametrize(
    ("times", "run", "asked"),
    [
        (0, 1, False),
        (1, 1, False),
        (2, 1, True),
        (3, 3, False),
        (8, 9, True),
        (200, 201, False),
        (200, 224, True),
    ],
)
def test_when_to_ask(times: int, run: int, asked: bool) -> None:
    assert is_asked(times, run, LEAST_ROWS) == asked
    assert not is_asked(times, run, LEAST_ROWS - 1)


@pytest.mark.parametrize(
    ("others", "asked"), [(0, [2, 4, 8, 16]), (1, [1, 2, 4, 8]), (2, [1, 2, 3, 6])]
)
def test_dear_runs_of_a_size_ask_whatever_comes_between(others: int, asked: list[int]) -> None:
    """Small changes between large ones, of which no count may ever be a power of two, are dear, too."""
    full = {"text": 1.0, "rebuild": 1.0, "incremental": 5.0}
    runs: list[PastRun] = []
    found = []
    for number in range(1, 18):
        if dear_runs(Evidence(runs, changed=9000), "p"):
            found.append(number - 1)
        sizes = [9000] + [100] * others
        runs += [PastRun(number, "text", "t", WORK, WORK, 1.0, full, changed=n) for n in sizes]
    assert found[:4] == asked


def test_what_pays() -> None:
    assert pays(0.5, 1.0, 2, 3.0)
    assert not pays(0.5, 1.1, 2, 3.0), "not earned yet"
    assert not pays(0.2, 0.0, 9, 3.0), "less than a tenth of a run"
    assert not pays(0.05, 0.0, 9, 0.1), "less than what a write costs"


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

"""Questions of what runs would cost in other circumstances, through the workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.engine.telling.what_if import Comparison
from slacktide.errors import InvalidSettingError, UnknownObjectError
from slacktide.optimizer.costs import DEFAULTS
from tests.harness.planner.tpch_views import TPCH
from tests.harness.priced import VIEW, Priced
from tests.unit.engine.test_weighing import BIG, costs, step
from tests.unit.optimizer.views import SUMMED, view


@pytest.fixture
def priced(tmp_path: Path) -> Priced:
    """A view with an answer, and three runs by increments behind it."""
    made = Priced(tmp_path, view(SUMMED), BIG)
    made.run(costs(0.5))
    for _ in range(3):
        step(made, 0.5)
    return made


def total(found: Comparison) -> tuple[Any, Any]:
    told = found.to_dict()
    return told["cpu_seconds_now"], told["cpu_seconds_then"]


def test_nothing_else_costs_what_it_costs_and_nothing_is_written(priced: Priced) -> None:
    before = priced.world().number
    found = priced.ws.what_if()
    assert found.now == found.then
    assert found.now[VIEW].method == "incremental"
    assert found.now[VIEW].seconds == pytest.approx(0.6, abs=0.2), "as the last run took"
    assert priced.world().number == before


def test_it_goes_by_where_the_keys_of_a_change_lie_as_the_plan_does(priced: Priced) -> None:
    priced.arrive("orders", 40)
    priced.arrive("lines", 40)
    priced.cover("orders", "c1", 0.01, 1_000_000)
    priced.cover("lines", "c11", 0.02, 4_000_000)
    (plan,) = priced.ws.plan().views
    expected = {one["way"]: one["price"] for one in plan.predicted["alternatives"]}
    told = priced.ws.what_if().now[VIEW]
    assert told.method == plan.method
    assert told.seconds == expected[plan.predicted["way"]]


def test_what_waits_is_what_is_reckoned_with(priced: Priced) -> None:
    usual = priced.ws.what_if().now[VIEW].seconds
    priced.arrive("lines", 1_000_000)
    more = priced.ws.what_if().now[VIEW].seconds
    assert usual is not None
    assert more is not None
    assert more > 2 * usual


def test_runs_that_come_more_often_take_in_less_each(priced: Priced) -> None:
    often, seldom = priced.ws.what_if(pace=10.0), priced.ws.what_if(pace=0.1)
    now, then = total(often)
    assert often.then[VIEW].seconds < often.now[VIEW].seconds < seldom.then[VIEW].seconds  # type: ignore[operator]
    assert now < then, "each run has its price"
    each = (often.then[VIEW].seconds or 0.0) + DEFAULTS.sessions
    assert then == pytest.approx(10 * each, abs=0.02), "and each starts Spark"


def test_in_full_it_costs_what_full_costs(priced: Priced) -> None:
    found = priced.ws.what_if(policy="full")
    assert found.then[VIEW].method == "full"
    assert found.then[VIEW].reasons == ("POLICY(full)",)
    assert found.then[VIEW].seconds > 5 * found.now[VIEW].seconds  # type: ignore[operator]


def test_states_that_are_lost_are_built_again(priced: Priced) -> None:
    found = priced.ws.what_if(states_lost=True).then[VIEW]
    assert found.method == "full"
    assert found.reasons[0].startswith("STATE_MISSING")


def test_what_is_held_does_not_wait(priced: Priced) -> None:
    usual = priced.ws.what_if().now
    priced.ws.hold_source("lines")
    priced.arrive("lines", 1_000_000)
    assert priced.ws.what_if().now == usual


def test_a_view_that_is_not_there_costs_nothing(priced: Priced) -> None:
    found = priced.ws.what_if(without=[VIEW])
    assert found.then == {}
    assert total(found)[1] == 0.0


def test_a_first_run_is_told_too(tmp_path: Path) -> None:
    found = Priced(tmp_path, view(SUMMED), BIG).ws.what_if(pace=2.0)
    assert found.now[VIEW].method == "full"
    assert found.now[VIEW].reasons == ("FIRST_RUN",)


def test_answers_that_are_due_less_often_cost_less(priced: Priced) -> None:
    each = priced.ws.what_if().now[VIEW].seconds
    found = priced.ws.what_if(weights=[0.25, 0.25, 1.0])
    assert found.now[VIEW].seconds == each
    assert found.then[VIEW].method == "incremental", "nothing is stored before"
    assert found.then[VIEW].reasons[0].startswith("NOT_DUE(2 of 3")
    assert each is not None
    now, then = total(found)
    assert now - then > DEFAULTS.sessions / 2, "Spark is started for one of three"
    assert found.then[VIEW].seconds < each  # type: ignore[operator]  # three changes at once, a third of that each


def test_what_is_stored_early_counts_at_its_weight(tmp_path: Path) -> None:
    """Q19, of which most work may be done at a hundredth of the price."""
    root = TPCH.relation("q19")
    read = ReadView(relation=root, outputs=root.columns, sources=sources(root))
    made = Priced(tmp_path, read, {name: TPCH.rows[name] for name in read.sources})
    made.run(costs(12.0))
    made.arrive("lineitem", 3_000_000)
    waiting, early = (made.ws.what_if(weights=[first, 1.0]).then[VIEW] for first in (1.0, 0.01))
    assert (waiting.method, early.method) == ("incremental", "states-only")
    assert early.seconds < waiting.seconds  # type: ignore[operator]


def test_a_view_with_a_period_is_asked_by_its_own(tmp_path: Path) -> None:
    settings = {"goal": {"weights": [0.25, 1.0]}}
    made = Priced(tmp_path, view(SUMMED), BIG, settings=settings)
    made.run(costs(0.5))
    made.arrive("lines", 1_000)
    found = made.ws.what_if()
    assert found.now == found.then
    assert found.now[VIEW].reasons[0].startswith("NOT_DUE(1 of 2")


def test_a_refresh_of_a_period_costs_the_same_wherever_that_stands(tmp_path: Path) -> None:
    settings = {"goal": {"weights": [0.25, 0.25, 1.0]}}
    made = Priced(tmp_path, view(SUMMED), BIG, settings=settings)
    made.run(costs(0.5))
    found = []
    for _ in range(9):
        made.arrive("lines", 60_000)
        found.append(made.ws.what_if().now[VIEW].seconds)
        made.run(lambda _: 1.5)
    found.append(made.ws.what_if().now[VIEW].seconds)
    known = [seconds for seconds in found[4:] if seconds is not None]
    assert len(known) == 6
    assert max(known) < 1.5 * min(known), "two of three refreshes take in nothing"


@pytest.mark.parametrize(
    "settings", [{}, {"policy": "full"}, {"paused": True}, {"goal": {"rounds": 3}}], ids=str
)
@pytest.mark.parametrize("runs", [0, 2])
def test_periods_may_be_asked_of_any_view(
    tmp_path: Path, settings: dict[str, Any], runs: int
) -> None:
    made = Priced(tmp_path, view(SUMMED), BIG, settings=settings)
    for _ in range(runs):
        if not settings.get("paused"):
            made.run(costs(0.5))
        made.arrive("lines", 60_000)
    for lost in (False, True):
        found = made.ws.what_if(weights=[0.25, 1.0], states_lost=lost)
        assert (VIEW in found.then) != settings.get("paused", False)


@pytest.mark.parametrize(
    ("asked", "error", "told"),
    [
        ({"pace": 0.0}, InvalidSettingError, "the pace is 0, which is not from 0.0001 to 10000"),
        ({"pace": float("nan")}, InvalidSettingError, "the pace is nan, which is not"),
        ({"weights": [1.0]}, InvalidSettingError, r"\[1.0\] are no weights"),
        ({"weights": [0.2, -1]}, InvalidSettingError, "are no weights"),
        ({"policy": "lazy"}, InvalidSettingError, "there is no policy 'lazy'"),
        ({"without": ["ghost"]}, UnknownObjectError, "there is no view 'ghost'"),
    ],
)
def test_bad_questions(priced: Priced, asked: dict, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        priced.ws.what_if(**asked)

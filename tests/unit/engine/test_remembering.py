"""When a view starts and stops to remember a join, by what its runs have cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.common.tree import of_type
from slacktide.engine.explanation import explain_view
from slacktide.optimizer.plan import ViewPlan
from slacktide.program import operator as o
from tests.harness.planner.tpch_views import TPCH
from tests.harness.priced import VIEW, Priced


@pytest.fixture
def priced(tmp_path: Path) -> Priced:
    """Q17: what is sold of few parts in small quantities, as measured by all that is sold of them."""
    root = TPCH.relation("q17")
    read = ReadView(relation=root, outputs=root.columns, sources=sources(root))
    return Priced(tmp_path, read, {name: TPCH.rows[name] for name in read.sources})


def reads(plan: ViewPlan, source: str) -> bool:
    assert plan.program is not None
    return any(read.source == source for read in of_type(plan.program, o.ReadSnapshot))


def begins(plan: ViewPlan) -> bool:
    return bool(plan.predicted.get("remembering", {}).get("starts"))


def refreshed(priced: Priced, *, with_it: float, without: float, deletes: int = 0) -> ViewPlan:
    """Let lines arrive and refresh, at prices with and without what is remembered."""
    priced.arrive("lineitem", 6_000, deletes)
    plan = priced.ws.plan().views[0]
    paid = with_it if plan.remembers and not begins(plan) else without
    priced.run(lambda _: paid if plan.method == "incremental" else 4 * without)
    return plan


def test_a_join_that_runs_read_tables_for_is_remembered(priced: Priced) -> None:
    priced.run(lambda _: 12.0)
    plans = [refreshed(priced, with_it=0.5, without=3.0) for _ in range(8)]
    assert {plan.method for plan in plans} == {"incremental"}
    started = [begins(plan) for plan in plans]
    assert started.count(True) == 1
    assert not started[0], "a program that has not run says nothing"
    after = plans[started.index(True) + 1]
    assert not reads(after, "lineitem")
    assert set(after.remembers) <= set(priced.world().views[VIEW].states)
    assert priced.world().chains[after.remembers[0]].segments


def test_what_has_turned_out_dearer_is_forgotten(priced: Priced) -> None:
    priced.run(lambda _: 12.0)
    plans = [refreshed(priced, with_it=5.0, without=3.0) for _ in range(24)]
    started = next(place for place, plan in enumerate(plans) if begins(plan))
    stopped = next(
        place for place, plan in enumerate(plans) if place > started and not plan.remembers
    )
    assert reads(plans[stopped], "lineitem")
    assert not any(plan.remembers for plan in plans[stopped:]), "evidence speaks against it"
    chain = plans[started].remembers[0]
    assert chain not in priced.world().views[VIEW].states


def test_explain_says_so(priced: Priced) -> None:
    priced.run(lambda _: 12.0)
    for _ in range(8):
        priced.arrive("lineitem", 6_000)
        if begins(priced.ws.plan().views[0]):
            text = explain_view(priced.world(), VIEW).text
            assert "starts to remember what joins lineitem and part:" in text
            return
        priced.run(lambda plan: 3.0)
    pytest.fail("nothing was remembered")


def test_a_remembered_join_that_is_gone_costs_no_rebuild(priced: Priced) -> None:
    priced.run(lambda _: 12.0)
    plans: list[Any] = [refreshed(priced, with_it=0.5, without=3.0) for _ in range(8)]
    from slacktide import store as s

    priced.commit(s.DropChain(plans[-1].remembers[0]))
    priced.arrive("lineitem", 6_000)
    plan = priced.ws.plan().views[0]
    assert plan.method == "incremental"
    assert reads(plan, "lineitem")
    assert begins(plan), "what it saves is known"

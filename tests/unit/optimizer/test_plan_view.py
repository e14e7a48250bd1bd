"""Which method a run uses, and why: every line of the planner's rule, and its reasons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.common.tree import of_type
from slacktide.optimizer.api import plan_view
from slacktide.optimizer.compaction import extended
from slacktide.optimizer.costs import Evidence
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.upkeep import (
    kept_versions,
    missing_state,
    state_sources,
    upkeep_of,
)
from slacktide.optimizer.rule_parts.states import chain_of
from slacktide.optimizer.ways.situation import Situation
from slacktide.program import operator as o
from tests.unit.optimizer.views import (
    FILTERED,
    JOINED,
    LINES,
    ORDERS,
    RANKED,
    SUMMED,
    TOP,
    aggregate,
    column,
    view,
)

OLD = {"orders": 3, "lines": 5}
NEW = {"orders": 4, "lines": 5}
AMOUNT = column(12, "DECIMAL(15,2)")
STATES = {chain_of(SUMMED): OLD}
LATER = Situation(OLD, NEW, share=0.01, states=STATES, policy="auto", token=7)


def codes(plan: ViewPlan) -> list[str]:
    return [reason.code for reason in plan.reasons]


def test_an_unchanged_view_does_nothing() -> None:
    plan = plan_view("v", view(SUMMED), replace(LATER, end=OLD))
    assert (plan.method, codes(plan), plan.program) == ("unchanged", ["NO_CHANGE"], None)


def test_a_small_change_is_incremental() -> None:
    plan = plan_view("v", view(SUMMED), LATER)
    assert (plan.method, codes(plan)) == ("incremental", ["CHANGE_SMALL"])
    assert plan.program is not None
    assert [type(step) for step in plan.program.steps] == [o.Save, o.Publish]
    assert set(extended(plan)) == {chain_of(SUMMED), "views/v"}


def test_the_first_run_builds_answer_and_states() -> None:
    plan = plan_view("v", view(SUMMED), replace(LATER, start={}))
    assert (plan.method, codes(plan)) == ("full", ["FIRST_RUN"])
    assert plan.program is not None
    assert not extended(plan)
    assert next(of_type(plan.program, o.Save)).chain == chain_of(SUMMED)


@pytest.mark.parametrize(("share", "method"), [(0.1, "incremental"), (0.1001, "full")])
def test_a_tenth_of_the_sources_is_the_border(share: float, method: str) -> None:
    plan = plan_view("v", view(SUMMED), replace(LATER, share=share))
    assert plan.method == method
    assert codes(plan) == (["CHANGE_TOO_LARGE"] if method == "full" else ["CHANGE_SMALL"])


def test_policy_incremental_knows_no_border() -> None:
    plan = plan_view("v", view(SUMMED), replace(LATER, share=0.9, policy="incremental"))
    assert plan.method == "incremental"


@pytest.mark.parametrize(
    ("merges", "relation", "is_text"),
    [(False, SUMMED, True), (True, SUMMED, False), (True, FILTERED, True)],
)
def test_policy_full_stores_nothing(*, merges: bool, relation: r.Rel, is_text: bool) -> None:
    """By the author's text where mirrors are as they were written; over signed rows where a state would be kept."""
    given = replace(LATER, policy="full", evidence=Evidence(merges=merges))
    plan = plan_view("v", view(relation), given)
    assert (plan.method, plan.reasons) == ("full", (Reason("POLICY", "full"),))
    assert plan.program is not None
    assert [type(step) for step in plan.program.steps] == [o.Publish]
    assert isinstance(plan.program.steps[0].child, o.Batch) == is_text


@pytest.mark.parametrize("states", [{}, {chain_of(SUMMED): {"orders": 2, "lines": 5}}])
def test_a_state_that_is_not_there_is_built_anew(states: dict[str, dict[str, int]]) -> None:
    plan = plan_view("v", view(SUMMED), replace(LATER, states=states))
    assert (plan.method, plan.reasons) == ("full", (Reason("STATE_MISSING", chain_of(SUMMED)),))


def test_a_state_that_another_view_builds_anew_is_built_anew_here_too() -> None:
    plan = plan_view("v", view(SUMMED), replace(LATER, rebuilds=chain_of(SUMMED)))
    assert codes(plan) == ["STATE_MISSING"]


def test_what_has_no_delta_rule_says_so() -> None:
    plan = plan_view("v", view(RANKED), replace(LATER, start={"orders": 3}, end={"orders": 4}))
    assert plan.reasons == (Reason("OPERATOR_NOT_INCREMENTAL", "window without PARTITION BY"),)
    assert plan.method == "full"


def test_a_query_that_was_not_read_runs_as_text() -> None:
    unread = ReadView(None, SUMMED.columns, reasons=(Reason("CLOCK", "now"),), sources=("orders",))
    plan = plan_view("v", unread, replace(LATER, start={}, end={"orders": 4}))
    assert codes(plan) == ["FIRST_RUN", "CLOCK"]
    assert isinstance(plan.program and plan.program.steps[-1].child, o.Batch)


def test_an_order_over_hidden_columns_needs_the_relation() -> None:
    hidden = view(RANKED)
    shorter = replace(hidden, outputs=hidden.outputs[:1])
    plan = plan_view("v", shorter, replace(LATER, start={"orders": 3}, end={"orders": 4}))
    answer = plan.program and plan.program.steps[-1].child
    assert isinstance(answer, o.Evaluate)
    assert len(answer.columns) == 4


def test_the_top_of_a_view_stands_on_its_states() -> None:
    plan = plan_view("v", view(TOP), LATER)
    assert plan.method == "incremental"
    assert plan.program is not None
    change = plan.program.steps[-1].child
    assert any(True for _ in of_type(change, o.ReadState))
    assert not any(True for _ in of_type(change, o.ReadSnapshot))


def test_only_what_changed_is_read() -> None:
    plan = plan_view("v", view(SUMMED), LATER)
    assert plan.program is not None
    assert [read.source for read in of_type(plan.program, o.ReadChanges)] == ["orders"]
    assert [read.source for read in of_type(plan.program, o.ReadSnapshot)] == ["lines"]


def test_stored_plans_read_back() -> None:
    plan = plan_view("v", view(TOP), LATER)
    assert ViewPlan.from_dict(plan.to_dict()) == plan


def test_states_and_snapshots_of_a_view() -> None:
    assert state_sources(view(TOP)) == {chain_of(SUMMED): ("lines", "orders")}
    assert upkeep_of(view(SUMMED), "auto").snapshots == {"lines", "orders"}
    assert upkeep_of(view(FILTERED), "auto").snapshots == frozenset()
    assert upkeep_of(view(FILTERED), "full").snapshots == {"orders"}
    assert state_sources(view(JOINED)) == {}


FRESH = replace(LATER, start={}, kept=OLD)


def test_an_answer_is_made_from_a_state_that_is_there() -> None:
    assert kept_versions(view(SUMMED), STATES, NEW) == OLD
    plan = plan_view("v", view(SUMMED), FRESH)
    assert (plan.method, codes(plan), plan.start) == ("full", ["FIRST_RUN", "STATES_KEPT"], OLD)
    assert plan.program is not None
    save, publish = plan.program.steps
    assert isinstance(save, o.Save)
    assert isinstance(publish, o.Publish)
    assert (save.is_base, publish.is_base) == (False, True)
    assert any(True for _ in of_type(publish, o.ReadState))
    assert missing_state(plan.program, plan.start, STATES) == ""
    assert missing_state(plan.program, plan.start, {chain_of(SUMMED): NEW}) == chain_of(SUMMED)


AHEAD = {"orders": 4, "lines": 5}
LAGGING = replace(LATER, end={"orders": 6, "lines": 5}, states={chain_of(SUMMED): AHEAD})


def lagging(**moved: Any) -> Situation:
    """A view of which another one has brought the state further than its answer has come."""
    found = replace(LAGGING, **moved)
    kept = kept_versions(view(SUMMED), found.states, found.end)
    return replace(found, caught=replace(found, start={}, kept=kept) if kept else None)


@pytest.mark.parametrize("policy", ["auto", "incremental"])
def test_a_view_that_lags_goes_on_from_where_others_have_brought_a_state(policy: str) -> None:
    plan = plan_view("v", view(SUMMED), lagging(policy=policy))
    assert (plan.method, codes(plan)) == ("full", ["STATE_MISSING", "STATES_KEPT"])
    assert plan.start == AHEAD
    assert plan.program is not None
    save, publish = plan.program.steps
    assert isinstance(save, o.Save)
    assert isinstance(publish, o.Publish)
    assert (save.is_base, publish.is_base) == (False, True)


@pytest.mark.parametrize(
    "moved",
    [
        {"rebuilds": chain_of(SUMMED)},
        {"states": {}},
        {"states": {chain_of(SUMMED): {"orders": 9, "lines": 5}}},
        {"share": 0.2},
    ],
    ids=str,
)
def test_a_view_that_lags_alone_builds_its_states_anew(moved: dict) -> None:
    plan = plan_view("v", view(SUMMED), replace(LAGGING, **moved))
    assert (plan.method, codes(plan)) == ("full", ["STATE_MISSING"])
    assert plan.program is not None
    assert all(save.is_base for save in of_type(plan.program, o.Save))


@pytest.mark.parametrize(
    "moved",
    [
        {"policy": "full"},
        {"share": 0.2},
        {"rebuilds": chain_of(SUMMED)},
        {"kept": {}},
        {"mirrors": {"orders": 4}},
    ],
    ids=str,
)
def test_a_state_is_not_gone_on_from_where_that_is_more_or_cannot_be(moved: dict) -> None:
    end = {"orders": 4, "lines": 6}
    plan = plan_view("v", view(SUMMED), replace(FRESH, end=end, **moved))
    assert plan.method == "full"
    assert "STATES_KEPT" not in codes(plan)
    assert plan.start == {}


def test_states_that_stand_apart_or_ahead_are_not_gone_on_from() -> None:
    assert kept_versions(view(SUMMED), STATES, {"orders": 2, "lines": 5}) == {}
    assert kept_versions(view(FILTERED), STATES, NEW) == {}


def test_a_projection_that_changes_nothing_changes_no_state() -> None:
    """Catalyst writes one where a source has columns that the query does not use."""
    lines = r.Project(LINES, tuple(map(s.identity, LINES.columns)))
    idle = aggregate(
        r.Join(ORDERS, lines, "inner", JOINED.condition), "sum", AMOUNT, "DECIMAL(25,2)"
    )
    assert idle != SUMMED
    assert state_sources(view(idle)) == state_sources(view(SUMMED))
    fewer = r.Project(LINES, tuple(map(s.identity, LINES.columns[:2])))
    other = aggregate(
        r.Join(ORDERS, fewer, "inner", JOINED.condition), "sum", AMOUNT, "DECIMAL(25,2)"
    )
    assert state_sources(view(other)) != state_sources(view(SUMMED))

"""What planning tells of itself."""

from __future__ import annotations

import json
from itertools import count

import pytest

from slacktide.errors import InvariantError
from slacktide.optimizer.choice.objective import LastFirst
from slacktide.optimizer.costs.memo import MemoCosts
from slacktide.optimizer.expand import expand
from slacktide.optimizer.telemetry import Complexity, Planning, complexity_of, plan_and_tell, table
from tests.campaigns import planning_table
from tests.harness.planner.tpch_views import TPCH

pytestmark = pytest.mark.unit
INSTANTS = 3


@pytest.fixture(scope="module")
def planning() -> Planning:
    ticks = count(10.0, 2.5)
    return plan_and_tell(
        TPCH.problem("q3", INSTANTS),
        TPCH.statistics(INSTANTS),
        LastFirst(INSTANTS),
        lambda: next(ticks),
    )


def test_both_parts_of_planning_are_timed_by_the_clock(planning: Planning) -> None:
    assert (planning.telemetry.explored, planning.telemetry.chosen) == (2.5, 2.5)


def test_rules_and_sizes_are_those_of_the_memo(planning: Planning) -> None:
    told = planning.telemetry
    alone = expand(TPCH.problem("q3", INSTANTS))
    assert told.fired == dict(alone.trace.fired)
    assert told.fired["derive_change"] > 0
    assert told.skipped["subtract_snapshots"] > 0
    assert told.is_whole
    assert told.relations == len(alone.memo.tvrs())
    assert told.groups == len(alone.memo.groups)
    assert told.expressions == alone.memo.groups.size()


def test_states_and_costs_are_those_of_the_plan(planning: Planning) -> None:
    told, plan = planning.telemetry, planning.choice.plan
    assert told.estimated == plan.costs(planning.space)
    assert planning.choice.key == tuple(reversed(told.estimated))
    saving = {life.saved_at for life in plan.lifespans()}
    assert saving
    costs = MemoCosts(planning.expanded.memo, TPCH.statistics(INSTANTS))
    for instant, size in enumerate(told.state_bytes, 1):
        stored = {life.node for life in plan.lifespans() if life.saved_at == instant}
        written = sum(costs.sizes.of(node).rows.value for node in stored)
        assert (size > 0) == (instant in saving)
        assert size >= written, "a row has more than a byte"


def test_estimates_stand_beside_what_was_measured(planning: Planning) -> None:
    told = planning.telemetry
    first, second, third = told.beside([told.estimated[0] / 2e6, None, told.estimated[2] / 0.5e6])
    assert (first.instant, first.factor, third.factor) == (1, 2.0, 2.0)
    assert (second.actual, second.factor) == (None, None)
    with pytest.raises(InvariantError, match="1 runs"):
        told.beside([1.0])


def test_it_can_be_stored(planning: Planning) -> None:
    document = json.loads(json.dumps(planning.telemetry.to_dict()))
    assert document["fired"] == dict(planning.telemetry.fired)
    assert document["estimated"] == list(planning.telemetry.estimated)


def test_a_query_is_told_by_what_it_asks_for() -> None:
    assert complexity_of(TPCH.relation("q1")) == Complexity(joins=0, aggregates=1, subqueries=0)
    assert complexity_of(TPCH.relation("q5")).joins == 5


def test_a_table_has_a_column_for_each_query() -> None:
    assert table("query", {"q1": {"joins": "2", "PSE": "0.1"}, "q2": {"joins": "3"}}) == [
        "| query | q1 | q2 |",
        "|---|---|---|",
        "| joins | 2 | 3 |",
        "| PSE | 0.1 |  |",
    ]


def test_the_bench_prints_a_table_by_runs_methods_and_techniques(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert planning_table.main(["--query", "q6", "--query", "q3", "--instants", "2"]) == 0
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head == "| query | q6 | q3 |", "those of fewer joins first"
    names = [row.split(" | ")[0].removeprefix("| ") for row in rows]
    assert names[:3] == ["joins", "aggregates", "sub-queries"]
    assert {"2 runs: PSE", "2 runs: SMO", "2 runs: rules fired", "2 runs: state MB"} <= set(names)
    assert {"+ OJV: PSE", "PNA alone: SMO", "TS alone: PSE", "TS, PNA and GE: PSE"} <= set(names)

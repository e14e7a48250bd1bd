"""A file lands, and a real Airflow brings the view up to date: sensor, plan, spark-submit, commit."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from slacktide.common.clock import isoformat, system_clock
from slacktide.orchestration.refresh_operator import SlacktideRefreshOperator
from tests.harness.airflow_standalone import DAG

pytestmark = pytest.mark.airflow
ENDED = {"success", "failed", "skipped"}


class Handed:
    """The part of a task instance that takes what a task hands on."""

    def xcom_push(self, key, value):
        assert key == "_link_SlacktidePageLink"
        assert value == "/plugin/slacktide"


def attempts(shop, run_id):
    tasks = shop.airflow.api.tasks(DAG, run_id)
    return {task["task_id"]: (task["state"], task["try_number"]) for task in tasks}


def test_the_variable_alone_is_enough_for_a_first_answer(running_shop, spark):
    first = min(running_shop.seen)
    report = running_shop.handed_on(first, "cycle.refresh")
    assert report["views"]["revenue"]["method"] == "full"
    assert report["views"]["revenue"]["reasons"] == ["FIRST_RUN"]


def test_an_arrival_becomes_an_answer(running_shop, spark):
    running_shop.land(20)
    run_id, report = running_shop.next_report()
    assert {task: state for task, (state, _) in attempts(running_shop, run_id).items()} == {
        "await": "success",
        "cycle.plan": "success",
        "cycle.refresh": "success",
        "cycle.record": "success",
    }
    assert report["views"]["revenue"]["method"] == "incremental"
    assert running_shop.answer(spark) == running_shop.expected()

    plan = running_shop.handed_on(run_id, "cycle.plan")
    assert plan["plan_id"] == report["plan_id"]
    assert len(plan["summary"]) == 3
    assert not plan["empty"]


def test_a_plan_that_was_executed_is_not_submitted_again(running_shop, monkeypatch):
    """What clearing the task does: the workspace knows the plan, so Spark is not even needed."""
    first = min(running_shop.seen)
    plan = running_shop.handed_on(first, "cycle.plan")
    connection = {"conn_type": "slacktide", "host": str(running_shop.root)}
    monkeypatch.setenv("AIRFLOW_CONN_SLACKTIDE_SHOP", json.dumps(connection))
    operator = SlacktideRefreshOperator(
        task_id="refresh",
        plan=plan,
        slacktide_conn_id="slacktide_shop",
        spark_conn_id="spark_nowhere",
    )
    given: Any = {"ti": Handed()}
    assert operator.execute(given) == running_shop.handed_on(first, "cycle.refresh")


def test_a_killed_driver_is_tried_again_and_the_answer_is_right(running_shop, spark):
    running_shop.land(20)
    plan_id = running_shop.kill_driver()
    run_id, report = running_shop.next_report()
    assert attempts(running_shop, run_id)["cycle.refresh"] == ("success", 2)
    assert report["plan_id"] == plan_id
    assert running_shop.answer(spark) == running_shop.expected()


def state_of_the_sensor(shop, number):
    """How a run of the sensor alone ends."""
    api = shop.airflow.api
    at = isoformat(system_clock() + timedelta(seconds=number))
    run = api.call("POST", "/api/v2/dags/sensor_alone/dagRuns", {"logical_date": at})

    def ended():
        tasks = api.tasks("sensor_alone", run["dag_run_id"])
        return next((task["state"] for task in tasks if task["state"] in ENDED), None)

    return shop.airflow.wait_until("end of the sensor", ended, timeout=120)


def test_what_the_sensor_saw_is_known_to_all_later_runs(running_shop):
    """A workspace that is not there calls once for each change of the Variable, and else not before its patience has ended."""
    api, budgets, found = running_shop.airflow.api, [1, 2, 3, 3, 3], []
    api.unpause("sensor_alone")
    for number, budget in enumerate(budgets):
        lost = {"root": "/nowhere/lost", "state_budget": budget}
        api.set_variable("slacktide_other", json.dumps({"workspaces": {"lost": lost}}))
        found.append(state_of_the_sensor(running_shop, number))
    assert found == ["success", "success", "success", "skipped", "skipped"]

"""The tasks on a real workspace, as far as they go without Spark."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowSensorTimeout,
    AirflowTaskTerminated,
    TaskDeferred,
)

from slacktide import store as s
from slacktide.algebra.view import ReadView
from slacktide.common.clock import system_clock
from slacktide.engine.reports import Report, ViewReport
from slacktide.engine.workspace import Workspace
from slacktide.errors import ExecutionError, InvalidSettingError, StorageError
from slacktide.orchestration import arrivals
from slacktide.orchestration.events import view_asset
from slacktide.orchestration.hook import SlacktideHook
from slacktide.orchestration.plan_operator import SlacktidePlanOperator
from slacktide.orchestration.refresh_operator import SlacktideRefreshOperator
from slacktide.orchestration.reports import XCOM_LIMIT, shortened
from slacktide.orchestration.sensor import MEMORY_KEY, DeltaArrivalSensor
from tests.harness.planner.tpch_views import TPCH
from tests.harness.priced import Priced


class TaskInstance:
    """The part of a task instance that hands values on; XCom lives in a dict."""

    map_index = -1

    def __init__(self, xcoms=None):
        self.xcoms = dict(xcoms or {})

    def xcom_push(self, key, value):
        self.xcoms[key] = json.loads(json.dumps(value))

    def xcom_pull(self, *, task_ids, key, include_prior_dates, map_indexes):
        assert map_indexes == self.map_index, "all that was ever handed on, in no order"
        return self.xcoms.get(key)


def within(ti, **more) -> Any:
    """Give the part of a task's context that ours use."""
    return {"ti": ti, "dag_run": SimpleNamespace(logical_date=system_clock()), **more}


@pytest.fixture
def landing(tmp_path):
    folder = tmp_path / "orders"
    folder.mkdir()
    return folder


@pytest.fixture
def variable(tmp_path, landing, monkeypatch):
    """The Variable declares a shop with one source and one view; nothing else exists."""
    document = {
        "workspaces": {
            "shop": {
                "conn_id": "slacktide_shop",
                "spark_conn_id": "spark_nowhere",
                "sources": {"orders": {"kind": "files", "path": str(landing), "format": "parquet"}},
                "views": {
                    "revenue": {"sql": "SELECT region, SUM(amount) AS r FROM orders GROUP BY 1"}
                },
            }
        }
    }
    root = tmp_path / "workspace"
    connection = {"conn_type": "slacktide", "host": str(root)}
    monkeypatch.setenv("AIRFLOW_CONN_SLACKTIDE_SHOP", json.dumps(connection))
    monkeypatch.setenv("AIRFLOW_VAR_SLACKTIDE", json.dumps(document))
    land(landing, 1)
    return root


def land(landing, number):
    table = pa.table({"region": ["n", "s"], "amount": pa.array([number, 2], pa.int64())})
    pq.write_table(table, landing / f"{number}.parquet")


def plan(**given):
    return SlacktidePlanOperator(task_id="plan", **given).execute(within(TaskInstance()))


def test_planning_makes_what_only_the_variable_knows(variable):
    result = plan(workspace="shop")
    assert result["workspace"] == "shop"
    assert len(result["summary"]) == 3
    assert not result["empty"]
    assert result["plan_id"] in result["summary"][0]
    status = Workspace.open(str(variable)).status().to_dict()
    assert status["sources"]["orders"]["version"] == 1
    assert len(json.dumps(result)) < 48 * 1024


def test_the_only_workspace_needs_no_name(variable):
    assert plan()["workspace"] == "shop"


def test_planning_without_declarations_makes_nothing(variable, monkeypatch):
    with pytest.raises(AirflowFailException, match="WORKSPACE_MISSING"):
        plan(slacktide_conn_id="slacktide_shop")
    assert not variable.exists()


def test_answers_are_due_where_the_operator_says_so(tmp_path, monkeypatch):
    relation = TPCH.relation("q6")
    read = ReadView(relation=relation, outputs=relation.columns, sources=("lineitem",))
    goal = {"goal": {"weights": [0.25, 1]}}
    priced = Priced(tmp_path, read, {"lineitem": 6_000_000}, on_disk=True, settings=goal)
    priced.run(lambda _: 12.0)
    priced.arrive("lineitem", 1_000)
    connection = {"conn_type": "slacktide", "host": priced.ws.root}
    monkeypatch.setenv("AIRFLOW_CONN_DAILY", json.dumps(connection))
    waiting = plan(slacktide_conn_id="daily")
    answering = plan(slacktide_conn_id="daily", due=True)
    assert "unchanged: v" in waiting["summary"][1]
    assert "incremental: v" in answering["summary"][1]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "other",
            None,
            "UNKNOWN_OBJECT: Variable slacktide has no workspace 'other' (it has shop)",
        ),
        ("shop", "{}", "INVALID_SETTING: Variable slacktide: 'workspaces' is a required property"),
    ],
)
def test_what_the_user_must_change_is_not_retried(variable, monkeypatch, name, text, message):
    if text is not None:
        monkeypatch.setenv("AIRFLOW_VAR_SLACKTIDE", text)
    with pytest.raises(AirflowFailException) as caught:
        plan(workspace=name)
    assert message in str(caught.value)


def sensor(**given):
    return DeltaArrivalSensor(task_id="await", **given)


def test_a_shop_that_does_not_exist_yet_calls(variable):
    ti = TaskInstance()
    result = sensor().poke(within(ti))
    assert (result.is_done, result.xcom_value) == (True, ["shop"])
    assert set(ti.xcoms[MEMORY_KEY]) == {"shop"}
    assert not variable.exists()


@pytest.mark.parametrize("given", [{}, {"workspaces": ["shop"]}])
def test_the_same_sight_does_not_call_twice(variable, given):
    ti = TaskInstance()
    assert sensor(**given).poke(within(ti)).is_done
    assert not sensor(**given).poke(within(ti)).is_done
    assert sensor(patience=0, **given).poke(within(ti)).is_done


def test_an_arrival_calls_again(variable, landing):
    plan()
    ti = TaskInstance()
    assert sensor().poke(within(ti)).is_done
    assert not sensor().poke(within(ti)).is_done
    land(landing, 2)
    assert sensor().poke(within(ti)).is_done


def test_looking_writes_nothing(variable, landing):
    plan()
    land(landing, 2)
    before = sorted(str(path) for path in variable.rglob("*"))
    assert sensor(patience=0).poke(within(TaskInstance())).is_done
    assert sorted(str(path) for path in variable.rglob("*")) == before


def test_a_store_that_does_not_answer_is_waited_for_in_every_mode(variable, monkeypatch):
    def fail(config):
        raise StorageError("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(arrivals, "observe", fail)
        ti = TaskInstance()
        assert not sensor().poke(within(ti)).is_done
        with pytest.raises(TaskDeferred):
            sensor(deferrable=True).execute(within(ti))
        assert ti.xcoms == {}
    assert sensor().poke(within(ti)).is_done


def test_deferred_or_not_the_result_is_the_same(variable):
    quick = sensor(deferrable=True).execute(within(TaskInstance()))
    slow = sensor(deferrable=False).execute(within(TaskInstance()))
    assert quick == slow == ["shop"]


def test_nothing_to_do_is_waited_for_in_the_triggerer(variable):
    ti = TaskInstance()
    assert sensor().poke(within(ti)).is_done
    with pytest.raises(TaskDeferred) as caught:
        sensor(deferrable=True, timeout=60, poke_interval=7).execute(within(ti))
    _, kwargs = caught.value.trigger.serialize()
    assert kwargs["poll_interval"] == 7
    assert kwargs["memory"] == ti.xcoms[MEMORY_KEY]
    assert caught.value.method_name == "execute_complete"
    assert caught.value.timeout > timedelta(seconds=60)
    json.dumps(kwargs)


def test_every_event_of_the_trigger_has_its_end(variable):
    ti = TaskInstance()
    ready = {"status": "ready", "ready": ["shop"], "reasons": ["r"], "memory": {"shop": {}}}
    assert sensor().execute_complete(within(ti), ready) == ["shop"]
    assert ti.xcoms[MEMORY_KEY] == {"shop": {}}
    with pytest.raises(AirflowSensorTimeout, match="nothing"):
        sensor().execute_complete(within(ti), {"status": "timeout", "message": "nothing"})
    with pytest.raises(ExecutionError, match="wrong"):
        sensor().execute_complete(within(ti), {"status": "error", "message": "wrong"})
    with pytest.raises(ExecutionError, match="without an event"):
        sensor().execute_complete(within(ti), None)


def test_what_fails_in_the_triggerer_is_not_skipped(variable):
    """Airflow skips a task that may fail softly for any error of its own."""
    event = {"status": "error", "message": "INVALID_SETTING: Variable slacktide is not JSON"}
    with pytest.raises(ExecutionError, match="INVALID_SETTING"):
        sensor(soft_fail=True).resume_execution(
            "execute_complete", {"event": event}, within(TaskInstance())
        )


def test_a_change_of_the_variable_is_noticed_before_the_first_call(variable, monkeypatch):
    ti = TaskInstance()
    monkeypatch.setattr(arrivals, "observe", quiet)
    with pytest.raises(TaskDeferred) as caught:
        sensor(deferrable=True).execute(within(ti))
    _, kwargs = caught.value.trigger.serialize()
    assert kwargs["memory"]["shop"]["declared"]
    given = json.loads(os.environ["AIRFLOW_VAR_SLACKTIDE"])
    given["workspaces"]["shop"]["views"] = {}
    monkeypatch.setenv("AIRFLOW_VAR_SLACKTIDE", json.dumps(given))
    assert sensor(deferrable=True).execute(within(ti)) == ["shop"]


def quiet(config):
    """A workspace that has nothing to do."""
    return replace(arrivals.judge(config, {}, {}), calls=False, reason="")


def test_a_run_without_a_date_leaves_nothing_to_those_after_it(variable):
    """PostgreSQL takes it for the newest of all."""
    ti = TaskInstance()
    given = {**within(ti), "dag_run": SimpleNamespace(logical_date=None)}
    assert sensor().poke(given).is_done
    assert MEMORY_KEY not in ti.xcoms


@pytest.mark.parametrize("deferrable", [True, False])
def test_a_wrong_variable_is_said_and_may_be_corrected_before_the_retry(
    variable, monkeypatch, deferrable
):
    good = os.environ["AIRFLOW_VAR_SLACKTIDE"]
    monkeypatch.setenv("AIRFLOW_VAR_SLACKTIDE", "[]")
    with pytest.raises(AirflowException, match="INVALID_SETTING: Variable slacktide") as caught:
        sensor(deferrable=deferrable).execute(within(TaskInstance()))
    assert not isinstance(caught.value, AirflowFailException)
    monkeypatch.setenv("AIRFLOW_VAR_SLACKTIDE", good)
    assert sensor(deferrable=deferrable).execute(within(TaskInstance())) == ["shop"]


def refresh(**given):
    operator = SlacktideRefreshOperator(task_id="refresh", **given)
    return operator.execute(within(TaskInstance(), outlet_events={}))


def test_a_missing_spark_connection_is_an_error_and_never_yarn(variable):
    """Airflow says as much where its API server is away for a while: hence a retry, and not the end."""
    with pytest.raises(AirflowException) as caught:
        refresh(plan=plan())
    assert "Spark connection spark_nowhere is not defined" in str(caught.value)
    assert not isinstance(caught.value, AirflowFailException)


@pytest.mark.parametrize("name", ["conn_id", "application", "application_args"])
def test_an_argument_that_the_operator_sets_itself_is_refused(name):
    with pytest.raises(InvalidSettingError, match=f"takes no {name}") as refused:
        SlacktideRefreshOperator(task_id="refresh", plan="p", **{name: "x"})
    assert refused.value.hint


def test_a_kill_before_spark_submit_lets_nothing_be_submitted(variable, monkeypatch):
    """Airflow calls `on_kill`, and lets the task go on for some seconds."""
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_NOWHERE", '{"conn_type": "spark", "host": "local[1]"}')
    operator = SlacktideRefreshOperator(task_id="refresh", plan=plan())
    operator.on_kill()
    with pytest.raises(AirflowTaskTerminated):
        operator.execute(within(TaskInstance(), outlet_events={}))


def test_a_plan_with_many_notices_fits_into_xcom():
    for letter, kept in (("x", 30), ("ж", 16)):
        lines = shortened([f"notice {n} {letter * 1000}" for n in range(500)])
        assert len(json.dumps(lines).encode()) <= XCOM_LIMIT
        assert lines[-1] == f"and {500 - kept} lines more"
    assert shortened(["one", "x" * 2000]) == ["one", "x" * 2000]


def test_an_empty_plan_needs_no_spark(variable, monkeypatch):
    given = {**json.loads(os.environ["AIRFLOW_VAR_SLACKTIDE"])["workspaces"]["shop"], "views": {}}
    monkeypatch.setenv("AIRFLOW_VAR_SLACKTIDE", json.dumps({"workspaces": {"shop": given}}))
    result = plan()
    assert result["empty"]
    report = refresh(plan=result)
    assert report == {"run": None, "plan_id": result["plan_id"], "method": "unchanged", "views": {}}


def test_an_empty_plan_is_submitted_where_a_sink_lacks_an_answer(variable, monkeypatch):
    given = {**json.loads(os.environ["AIRFLOW_VAR_SLACKTIDE"])["workspaces"]["shop"], "views": {}}
    monkeypatch.setenv("AIRFLOW_VAR_SLACKTIDE", json.dumps({"workspaces": {"shop": given}}))
    result = plan()
    published = variable.parent / "out"
    published.write_text("not ours", encoding="utf-8")
    settings = {"sink": {"parquet": str(published)}}
    store = s.Store.open(str(variable), clock=system_clock)
    answer = s.Chain("views/v", (), s.Segment(1, (), 0, 0, {}))
    made = s.RecordRun(1, "p", {})
    store.commit([s.AddView("v", "SELECT 1", settings, {}, {}), s.SetChain(answer), made])
    with pytest.raises(AirflowException, match="Spark connection spark_nowhere is not defined"):
        refresh(plan=result)


class Events(dict):
    """The events of a task, made when they are asked for, as Airflow's are."""

    def __missing__(self, key):
        self[key] = SimpleNamespace(extra={})
        return self[key]


def test_a_run_that_an_attempt_committed_and_did_not_tell_is_told_by_the_next(variable):
    """Airflow drops the events of an attempt that fails, as one does whose sink fails after the commit."""
    result = plan()
    revenue = ViewReport("full", actual={"rows_out": 2})
    report = Report(1, result["plan_id"], {}, "", "", {"revenue": revenue})
    store = s.Store.open(str(variable), clock=system_clock)
    store.commit([s.RecordRun(1, result["plan_id"], report.to_dict())])
    events = Events()
    asset = view_asset("shop", "revenue")
    operator = SlacktideRefreshOperator(task_id="refresh", plan=result, outlets=[asset])
    told = operator.execute(within(TaskInstance(), outlet_events=events))
    assert told["run"] == 1
    assert events[asset].extra == {"run": 1, "method": "full", "rows": 2}


def test_a_run_of_long_ago_is_told_though_its_plan_was_removed(variable):
    result = plan()
    report = Report(1, result["plan_id"], {}, "", "", {})
    store = s.Store.open(str(variable), clock=system_clock)
    store.commit([s.RecordRun(1, result["plan_id"], report.to_dict())])
    store.delete([f"plans/{result['plan_id']}.json"])
    assert refresh(plan=result)["run"] == 1


def test_a_view_that_is_only_declared_may_be_named(variable):
    assert not plan(views=["revenue"])["empty"]


def test_a_root_that_begins_where_a_process_runs_is_refused(variable, monkeypatch):
    connection = {"conn_type": "slacktide", "host": "lake/shop"}
    monkeypatch.setenv("AIRFLOW_CONN_SLACKTIDE_SHOP", json.dumps(connection))
    with pytest.raises(AirflowFailException, match="another place for each process"):
        plan()


def test_a_plan_that_is_not_there_is_refused_before_spark(variable):
    plan()
    with pytest.raises(AirflowFailException, match="UNKNOWN_OBJECT: there is no plan abc"):
        refresh(plan="abc")


def test_the_hook_opens_the_workspace_and_says_what_is_wrong(variable, monkeypatch):
    hook = SlacktideHook("slacktide_shop")
    assert hook.test_connection()[0] is False
    plan()
    assert hook.get_conn().root
    assert hook.test_connection()[0] is True
    monkeypatch.setenv("AIRFLOW_CONN_SLACKTIDE_SHOP", '{"conn_type": "http", "host": "x"}')
    assert "is of type 'http'" in hook.test_connection()[1]
    monkeypatch.setenv("AIRFLOW_CONN_SLACKTIDE_SHOP", '{"conn_type": "slacktide"}')
    assert "names no workspace" in hook.test_connection()[1]
    assert "is not defined" in SlacktideHook("slacktide_none").test_connection()[1]


def test_the_uri_of_a_connection_is_the_whole_address(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", "slacktide://s3://lake/some/shop")
    assert SlacktideHook("lake").address() == ("s3://lake/some/shop", {})
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", "slacktide://abfss://lake@account.example.net/shop")
    with pytest.raises(InvalidSettingError, match="has a login or a port") as refused:
        SlacktideHook("lake").address()
    assert "as JSON" in refused.value.hint
    told = {"conn_type": "slacktide", "host": "s3://lake/shop", "schema": "shop"}
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", json.dumps(told))
    with pytest.raises(
        InvalidSettingError, match="has the host s3://lake/shop and the schema shop"
    ):
        SlacktideHook("lake").address()


def test_the_extra_of_the_connection_is_the_storage_options(monkeypatch):
    connection = {
        "conn_type": "slacktide",
        "host": "s3://lake/shop",
        "extra": {"region": "eu", "allow_http": True, "nothing": None},
    }
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", json.dumps(connection))
    assert SlacktideHook("lake").address() == (
        "s3://lake/shop",
        {"region": "eu", "allow_http": True},
    )

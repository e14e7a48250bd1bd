"""What spark-submit says of a failed driver becomes the error of the task, and a retry only where it helps."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from airflow.sdk.exceptions import AirflowFailException

from slacktide.engine.workspace import Workspace
from slacktide.orchestration.plan_operator import SlacktidePlanOperator
from slacktide.orchestration.refresh_operator import SlacktideRefreshOperator

pytestmark = pytest.mark.airflow


class Silent:
    """The part of a task instance that takes what a task hands on."""

    def xcom_push(self, key, value):
        pass


def test_a_view_that_does_not_parse_fails_the_task_for_good(tmp_path, monkeypatch, java_home):
    landing = tmp_path / "orders"
    landing.mkdir()
    pq.write_table(pa.table({"id": [1, 2]}), landing / "1.parquet")
    root = str(tmp_path / "workspace")
    shop = {
        "root": root,
        "sources": {"orders": {"kind": "files", "path": str(landing), "format": "parquet"}},
        "views": {"wrong": {"sql": "SELEC id FROM orders"}},
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("JAVA_HOME", java_home)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("AIRFLOW_VAR_SLACKTIDE", json.dumps({"workspaces": {"shop": shop}}))
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", '{"conn_type": "spark", "host": "local[1]"}')
    context: Any = {"ti": Silent(), "outlet_events": {}}

    plan = SlacktidePlanOperator(task_id="plan").execute(context)
    refresh = SlacktideRefreshOperator(task_id="refresh", plan=plan)
    with pytest.raises(AirflowFailException) as caught:
        refresh.execute(context)

    assert str(caught.value).startswith("QUERY: ")
    assert "\n" not in str(caught.value)
    status = Workspace.open(root).status().to_dict()
    assert (status["views"], status["runs"]) == ({}, 0)
    refresh.on_kill()
    hook: Any = refresh._hook
    hook._submit_sp.stdout.close()  # Airflow's hook leaves it to the garbage collector

"""The DAGs of the page of reference run, in a real Airflow, as they stand there."""

from __future__ import annotations

import pytest

from tests.harness.airflow_standalone import EXAMPLE, REFERENCE, Shop

pytestmark = pytest.mark.airflow
DAGS = {"shop": {"plan", "refresh", "record"}, "shop_gc": {"collect"}}


def test_every_example_is_run() -> None:
    examples = EXAMPLE.findall(REFERENCE.read_text(encoding="utf-8"))
    assert len(examples) == len(DAGS)
    for dag, example in zip(DAGS, examples, strict=True):
        assert f'"{dag}"' in example


@pytest.mark.parametrize("dag", DAGS)
def test_an_example_runs(running_shop: Shop, dag: str) -> None:
    airflow = running_shop.airflow
    airflow.wait_until("DAG", lambda: airflow.api.try_get(f"/api/v2/dags/{dag}"))
    airflow.api.unpause(dag)
    run = airflow.api.call("POST", f"/api/v2/dags/{dag}/dagRuns", {"logical_date": None})

    def states() -> dict[str, str] | None:
        told = {one["task_id"]: one["state"] for one in airflow.api.tasks(dag, run["dag_run_id"])}
        is_over = told and all(one in {"success", "failed"} for one in told.values())
        return told if is_over else None

    found = airflow.wait_until("end of the example", states, timeout=300)
    airflow.api.unpause(dag, paused=True)
    assert found == dict.fromkeys(DAGS[dag], "success")

"""A real Airflow for the tests: one for the whole run, with a shop whose orders arrive as files."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slacktide.orchestration.processes import session_members
from slacktide.orchestration.standalone import LocalAirflow

DAG = "slacktide_continuous"
DAGS = Path(__file__).parents[2] / "dags"
MORE_DAGS = Path(__file__).parents[1] / "airflow" / "dags"
REFERENCE = Path(__file__).parents[2] / "provider" / "docs" / "reference.md"
EXAMPLE = re.compile(
    r"<!-- executed by tests/airflow/test_reference.py -->\n```python\n(.*?)```", re.DOTALL
)
QUERY = "SELECT region, SUM(amount) AS revenue, COUNT(*) AS orders FROM orders GROUP BY region"
SCHEMA = "id BIGINT, region STRING, amount BIGINT"


@dataclass
class Shop:
    """The workspace ``shop`` of a running Airflow.

    Attributes:
        airflow: the Airflow that looks after it.
        landing: where files of orders land.
        root: the workspace.
        rows: every row that has landed.
        seen: ids of the runs of the DAG that `next_report` has given already.
    """

    airflow: LocalAirflow
    landing: Path
    root: Path
    rows: list[tuple[int, str, int]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def land(self, count: int) -> None:
        """Let a file with new orders land, whole at once, as a careful writer does."""
        first = len(self.rows)
        fresh = [(n, "nesw"[n % 4], 10 + n % 7) for n in range(first, first + count)]
        table = pa.table(
            {
                "id": pa.array([row[0] for row in fresh], pa.int64()),
                "region": [row[1] for row in fresh],
                "amount": pa.array([row[2] for row in fresh], pa.int64()),
            }
        )
        hidden = self.landing / f"_{first}.parquet"
        pq.write_table(table, hidden)
        self.rows += fresh
        hidden.rename(self.landing / f"{first:08}.parquet")

    def expected(self) -> dict[str, tuple[int, int]]:
        """Compute the answer from all rows, plainly."""
        answer: dict[str, tuple[int, int]] = {}
        for _, region, amount in self.rows:
            revenue, orders = answer.get(region, (0, 0))
            answer[region] = (revenue + amount, orders + 1)
        return answer

    def answer(self, spark: Any) -> dict[str, tuple[int, int]]:
        """Read the answer of the view from the workspace."""
        from slacktide.engine.workspace import Workspace

        rows = Workspace.open(str(self.root)).read(spark, "revenue").collect()
        return {row["region"]: (row["revenue"], row["orders"]) for row in rows}

    def next_report(self, timeout: float = 400.0) -> tuple[str, dict[str, Any]]:
        """Wait for a further run of the DAG that refreshed, and give its id and report."""
        found: tuple[str, dict[str, Any]] = self.airflow.wait_until(
            "finished run", self._finished, timeout=timeout
        )
        return found

    def _finished(self) -> tuple[str, dict[str, Any]] | None:
        api = self.airflow.api
        for run in reversed(api.runs(DAG)):
            run_id = run["dag_run_id"]
            if run["state"] == "failed" and run_id not in self.seen:
                self.seen.add(run_id)
                pytest.fail(f"run {run_id} failed: {self.story(run_id)}")
            if run["state"] == "success" and run_id not in self.seen:
                self.seen.add(run_id)
                report = self.handed_on(run_id, "cycle.refresh")
                if report is not None:
                    return run_id, report
        return None

    def handed_on(self, run_id: str, task_id: str) -> Any:
        """Give what the first of a mapped task's instances handed on, or None where that is nothing."""
        task = f"/api/v2/dags/{DAG}/dagRuns/{quote(run_id)}/taskInstances/{quote(task_id)}"
        asked = "map_index=0&deserialize=false&stringify=false"
        answer = self.airflow.api.try_get(f"{task}/xcomEntries/return_value?{asked}")
        return None if answer is None else answer["value"]

    def story(self, run_id: str) -> str:
        """Tell how a run went, with the end of the log of each task that failed."""
        api = self.airflow.api
        lines = []
        for task in api.tasks(DAG, run_id):
            lines.append(f"{task['task_id']}: {task['state']}")
            if task["state"] in {"failed", "up_for_retry"}:
                at = task.get("map_index", -1)
                lines.append(api.log(DAG, run_id, task["task_id"], task["try_number"], at)[-6000:])
        return "\n".join(lines)

    def kill_driver(self) -> str:
        """Wait for the driver of a refresh, kill it and its JVM, and give its plan."""
        found: list[psutil.Process] = self.airflow.wait_until("driver", self._driver, timeout=300)
        arguments = found[0].cmdline()
        for process in found:
            os.kill(process.pid, signal.SIGKILL)
        return str(arguments[arguments.index("--plan") + 1])

    def _driver(self) -> list[psutil.Process] | None:
        """The Python of a driver and the JVM above it, once both are there."""
        for process in psutil.process_iter():
            try:
                line = process.cmdline()
                parent = process.parent()
                ours = str(self.root) in line and any(
                    part.endswith("cli/submit.py") for part in line
                )
                if (
                    ours
                    and parent is not None
                    and "python" in process.name()
                    and parent.name() == "java"
                ):
                    return [parent, process]
            except psutil.Error:
                continue
        return None


@pytest.fixture(scope="session")
def shop(java_home: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """One Airflow for the whole run, its DAG still paused, and 400 orders landed."""
    place = tmp_path_factory.mktemp("shop")
    landing = place / "orders"
    landing.mkdir()
    root = place / "workspace"
    variable = {
        "workspaces": {
            "shop": {
                "conn_id": "slacktide_shop",
                "sources": {"orders": {"kind": "files", "path": str(landing), "format": "parquet"}},
                "views": {"revenue": {"sql": QUERY}},
                "spark": {"conf": {"spark.sql.shuffle.partitions": "2"}, "driver_memory": "1g"},
            }
        }
    }
    dags = place / "dags"
    for folder in (DAGS, MORE_DAGS):
        shutil.copytree(folder, dags, dirs_exist_ok=True)
    for number, example in enumerate(EXAMPLE.findall(REFERENCE.read_text(encoding="utf-8"))):
        (dags / f"example_{number}.py").write_text(example, encoding="utf-8")
    airflow = LocalAirflow(
        home=place / "airflow",
        dags=dags,
        variables={"slacktide": variable},
        connections={
            "slacktide_shop": {"conn_type": "slacktide", "host": str(root)},
            "spark_default": {"conn_type": "spark", "host": "local[2]"},
        },
        users={"admin": "admin", "vera": "viewer"},
        env={"JAVA_HOME": java_home},
    )
    airflow.start(timeout=400)
    with airflow:
        leader = airflow.pid
        assert leader is not None
        yard = Shop(airflow, landing, root)
        yard.land(400)
        yield yard
    assert session_members(leader) == []


@pytest.fixture(scope="session")
def running_shop(shop: Shop) -> Shop:
    """The shop after its first answer: the DAG runs, and the first orders are in the view."""
    shop.airflow.wait_until("DAG", lambda: shop.airflow.api.try_get(f"/api/v2/dags/{DAG}"))
    shop.airflow.api.unpause(DAG)
    shop.next_report()
    return shop

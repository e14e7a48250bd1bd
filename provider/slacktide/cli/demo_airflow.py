"""``slacktide demo --airflow``: the same through a real Airflow, as a user would set it up."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slacktide.cli.access import spark_session
from slacktide.cli.narration import Tell, announce, compared, landing, methods
from slacktide.cli.scoreboard import Scoreboard
from slacktide.cli.screen import progress
from slacktide.errors import ExecutionError, SetupError, WorkspaceMissingError

if TYPE_CHECKING:
    from slacktide.cli.showcase import Showcase
    from slacktide.engine.workspace import Workspace
    from slacktide.orchestration.standalone import LocalAirflow

DAG = "slacktide_continuous"
_WORKSPACE = "tpch"
_CONNECTION = "slacktide_tpch"
_PATIENCE = 600.0
_PAUSE = 1.5


def run_with_airflow(showcase: Showcase, arrivals: int, tell: Tell, *, wait: bool) -> Scoreboard:
    """Run the demo through Airflow, print its table and, in a terminal, wait for Ctrl-C."""
    from slacktide.orchestration.standalone import LocalAirflow

    landing(showcase, tell)
    airflow = LocalAirflow(
        home=showcase.root / "airflow",
        dags=_dags(showcase.root / "dags"),
        variables={"slacktide": variable(showcase)},
        connections={
            _CONNECTION: {"conn_type": "slacktide", "host": str(showcase.workspace)},
            "spark_default": {"conn_type": "spark", "host": "local[2]"},
        },
    )
    tell("Airflow starts, with the shipped DAG, one Variable and two connections.")
    with progress("starting Airflow"):
        airflow.start()
    try:
        tell(f"Its pages are at {airflow.url} (user admin, password {airflow.password('admin')}).")
        board = _cycles(showcase, arrivals, airflow, tell)
        if wait:
            board.show()
            _wait_for_reader(airflow, tell)
    finally:
        with progress("stopping Airflow"):
            airflow.stop()
    tell("Airflow is stopped, and nothing is left running.")
    return board


def variable(showcase: Showcase) -> dict[str, Any]:
    """Give the Variable ``slacktide``: all that Airflow has to be told."""
    views = {name: {"sql": text} for name, text in showcase.queries().items()}
    return {
        "workspaces": {
            _WORKSPACE: {
                "conn_id": _CONNECTION,
                "sources": showcase.sources(),
                "views": views,
                "spark": {"conf": {"spark.sql.shuffle.partitions": "4", **showcase.spark_conf()}},
            }
        }
    }


def _dags(folder: Path) -> Path:
    """Put the shipped DAG where Airflow looks for DAGs, as a user does.

    Raises:
        SetupError: it is not in this installation.
    """
    shipped = Path(__file__).resolve().parents[3] / "dags" / f"{DAG}.py"
    if not shipped.is_file():
        raise SetupError(
            f"the DAG {DAG}.py is not in this installation",
            hint="run make demo in a checkout, or slacktide demo without --airflow",
        )
    folder.mkdir(parents=True)
    shutil.copy(shipped, folder)
    return folder


def _cycles(showcase: Showcase, arrivals: int, airflow: LocalAirflow, tell: Tell) -> Scoreboard:
    with progress("Airflow reads the DAG"):
        airflow.wait_until(
            "DAG", lambda: airflow.api.try_get(f"/api/v2/dags/{DAG}"), timeout=_PATIENCE
        )
    airflow.api.unpause(DAG)
    tell("The DAG runs: it makes the workspace, registers the views and answers them in full.")
    with progress("first refresh, by spark-submit"):
        workspace = _settled(airflow, showcase, 1)
    board = Scoreboard()
    with ExitStack() as stack:
        spark: Any = None
        for number in range(1, arrivals + 1):
            before = len(workspace.history())
            announce(showcase, number, tell)
            with progress("Airflow notices, plans and submits to Spark"):
                workspace = _settled(airflow, showcase, before + 1)
            reports = [report.to_dict() for report in workspace.history()][before:]
            for report in reports:
                tell(f"  run {report['run']} by spark-submit: {methods(report)}")
            if spark is None:
                spark = stack.enter_context(spark_session("demo", conf=showcase.spark_conf()))
            with progress("batch runs, to compare"):
                verification = workspace.verify(spark).to_dict()
            tell(f"  compared with batch: {compared(verification)}")
            board.add(reports, verification)
    return board


def _settled(airflow: LocalAirflow, showcase: Showcase, runs: int) -> Workspace:
    """Wait until so many runs are committed and every view has taken in what landed."""

    def look() -> Workspace | None:
        _raise_if_failed(airflow)
        settled = _if_settled(showcase, runs)
        if settled is None:
            threading.Event().wait(_PAUSE)  # two cores have better to do than to be asked
        return settled

    found: Workspace = airflow.wait_until(f"run {runs}", look, timeout=_PATIENCE)
    return found


def _if_settled(showcase: Showcase, runs: int) -> Workspace | None:
    from slacktide.engine.workspace import Workspace

    try:
        workspace = Workspace.open(str(showcase.workspace))
    except WorkspaceMissingError:
        return None
    if len(workspace.history()) < runs or any(workspace.pending().values()):
        return None
    status = workspace.status().to_dict()
    newest_of = {name: source["version"] for name, source in status["sources"].items()}
    answered = [status["views"].get(name, {}).get("versions") for name in showcase.views]
    current = all(
        versions and all(newest_of[source] == at for source, at in versions.items())
        for versions in answered
    )
    return workspace if current else None


def _raise_if_failed(airflow: LocalAirflow) -> None:
    """Stop waiting for what cannot come: a run of the DAG that failed for good."""
    runs = airflow.api.runs(DAG)
    failed = next((run for run in runs if run["state"] == "failed"), None)
    if failed is None:
        return
    run_id = failed["dag_run_id"]
    tasks = [task for task in airflow.api.tasks(DAG, run_id) if task["state"] == "failed"]
    logs = [
        airflow.api.log(DAG, run_id, task["task_id"], task["try_number"], task["map_index"])
        for task in tasks[:1]
    ]
    raise ExecutionError(
        f"a run of the DAG failed in {', '.join(task['task_id'] for task in tasks) or run_id}: "
        f"{logs[0][-600:] if logs else 'it has no log'}",
        hint="slacktide demo shows the same without Airflow",
    )


def _wait_for_reader(airflow: LocalAirflow, tell: Tell) -> None:
    """Leave the pages up while somebody may look at them."""
    if os.environ.get("EXIT") == "1" or not sys.stdout.isatty():
        return
    tell(f"Look around at {airflow.url} (user admin, password {airflow.password('admin')}).")
    tell("Ctrl-C ends it all.")
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        tell("")

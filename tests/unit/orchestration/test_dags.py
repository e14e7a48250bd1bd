"""The shipped DAG: parsed without database, network or Variable, and stored by Airflow without loss."""

from __future__ import annotations

import itertools
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from airflow.serialization.serialized_objects import DagSerialization

FOLDER = Path(__file__).parents[3] / "dags"
FILES = sorted(FOLDER.glob("*.py"))

WATCHED = """
import runpy, sys
touched = []
def watch(event, args):
    if event in ("sqlite3.connect", "socket.connect", "socket.getaddrinfo"):
        touched.append(f"{event} {args[0]!r}")
sys.addaudithook(watch)
from airflow.sdk import Variable
def forbidden(*args, **kwargs):
    touched.append(f"Variable {args}")
Variable.get = forbidden
runpy.run_path(sys.argv[1])
print("\\n".join(touched))
sys.exit(bool(touched))
"""


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def file(request):
    return request.param


@pytest.fixture
def dag(file):
    return runpy.run_path(str(file))["dag"]


def test_parsing_touches_nothing(file):
    result = subprocess.run(
        [sys.executable, "-c", WATCHED, str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_id_is_the_name_of_the_file(file, dag):
    assert dag.dag_id == file.stem


def test_it_survives_being_stored(dag):
    stored = DagSerialization.serialize_dag(dag)
    again = DagSerialization.deserialize_dag(json.loads(json.dumps(stored)))
    assert {task.task_id for task in again.tasks} == {task.task_id for task in dag.tasks}


def test_no_date_is_assumed(file):
    """Runs without a logical date have no ds, ts or data interval; a template with them would fail."""
    assert not re.search(
        r"\{\{\s*(ds|ts|logical_date|data_interval)", file.read_text(encoding="utf-8")
    )


def test_the_loop_has_its_four_steps():
    dag = runpy.run_path(str(FOLDER / "slacktide_continuous.py"))["dag"]
    order = ["await", "cycle.plan", "cycle.refresh", "cycle.record"]
    assert {task.task_id for task in dag.tasks} == set(order)
    for before, after in itertools.pairwise(order):
        assert after in dag.get_task(before).downstream_task_ids
    assert dag.get_task("await").deferrable
    assert (dag.max_active_runs, dag.catchup) == (1, False)

"""Writers in an object store: killed, at once, and the retry of what they did."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from slacktide.engine.reports import Report
from slacktide.engine.workspace import Workspace
from slacktide.errors import CommitConflictError, SlacktideError
from slacktide.store.objects import connect
from slacktide.store.store import Store
from tests.harness import killed
from tests.harness.lake import ROOT, Lake
from tests.harness.objects import FaultyObjects

pytestmark = [pytest.mark.s3, pytest.mark.timeout(600)]

ROWS = [(f"k{number % 50}", number) for number in range(300)]
VIEWS = {
    "sums": "SELECT k, sum(v) AS s FROM t GROUP BY k",
    "least": "SELECT k, min(v) AS v FROM t GROUP BY k",
}
PATIENCE = 200


@pytest.fixture
def pending(lake: Lake) -> Lake:
    """One run is committed, and a change has landed."""
    lake.source("t", "k STRING, v INT", *ROWS)
    for name, sql in VIEWS.items():
        lake.view(name, sql)
    lake.step()
    lake.land("t", insert=[("k1", -7), ("new", 1)], delete=[("k2", 2)])
    return lake


def kill(lake: Lake, folder: Path, jars: list[Path], point: str, plan: str) -> None:
    """Execute a plan in a process of its own, which dies at a point."""
    conf = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.jars": ",".join(map(str, jars)),
        "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    given = " ".join(f"--conf '{key}={value}'" for key, value in conf.items())
    ran = subprocess.run(
        [sys.executable, killed.__file__, point, "--workspace", lake.ws.root, "--plan", plan],
        cwd=folder,
        env=os.environ
        | {
            "PYSPARK_SUBMIT_ARGS": f"--master 'local[2]' {given} pyspark-shell",
            "PYTHONPATH": os.pathsep.join(sys.path),
            "SLACKTIDE_STORAGE_OPTIONS": json.dumps(lake.bucket.options),
        },
        start_new_session=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == -signal.SIGKILL, ran.stdout + ran.stderr


@pytest.mark.parametrize(("point", "entries"), [("before the entry", 0), ("after the entry", 1)])
def test_a_killed_application_is_retried(
    pending: Lake, tmp_path: Path, connector_jars: list[Path], point: str, entries: int
) -> None:
    plan = pending.ws.plan().plan_id
    before, number = pending.written(), pending.number
    kill(pending, tmp_path, connector_jars, point, plan)
    assert pending.number == number + entries
    assert pending.written() > before
    report = pending.ws.refresh(pending.spark, plan)
    assert (report.run, pending.number) == (2, number + 1)
    assert {view.method for view in report.views.values()} == {"incremental"}
    pending.verified()
    assert set(pending.named()) <= pending.written()


def at_once(lake: Lake, *plans: str) -> list[Report | SlacktideError]:
    """Refresh plans in threads, all of which reach their commit before one of them commits."""
    barrier = Barrier(len(plans))

    def run(plan: str) -> Report | SlacktideError:
        met: list[str] = []

        def hook(name: str, key: str) -> None:
            if name == "put_if_absent" and not met:
                met.append(key)
                barrier.wait(PATIENCE)

        options = lake.bucket.options
        objects = FaultyObjects(connect(lake.bucket.address(ROOT), options), hook=hook)
        store = Store.open(lake.ws.root, clock=lake.clock, objects=objects, options=options)
        try:
            return Workspace(store, lake.clock).refresh(lake.spark, plan)
        except SlacktideError as error:
            return error

    with ThreadPoolExecutor(len(plans)) as pool:
        return list(pool.map(run, plans))


def test_two_writers_of_different_views_both_commit(pending: Lake) -> None:
    plans = [pending.ws.plan([name]).plan_id for name in VIEWS]
    reports = at_once(pending, *plans)
    assert {r.run for r in reports if isinstance(r, Report)} == {2, 3}
    pending.verified()
    assert pending.refresh().views["sums"].method == "unchanged"


def test_of_two_writers_of_one_view_one_commits(pending: Lake) -> None:
    plans = [pending.ws.plan(["sums"]).plan_id, pending.ws.plan(["sums", "least"]).plan_id]
    found = at_once(pending, *plans)
    done = [report for report in found if isinstance(report, Report)]
    lost = [error for error in found if isinstance(error, CommitConflictError)]
    assert (len(done), len(lost)) == (1, 1)
    pending.verified()
    pending.step()

"""A submitted application that is killed with SIGKILL, and the retry of its plan."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.harness import killed
from tests.harness.shop import Shop

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

POINTS = {  # what each leaves behind: files that the log does not name, and entries
    "before any write": (False, 0),
    "during a write": (None, 0),
    "between two writes": (True, 0),
    "before the entry": (True, 0),
    "after the entry": (False, 1),
}


def submit_and_kill(shop: Shop, point: str) -> None:
    """Submit the stored plan in a process of its own, which dies at a point."""
    conf = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.local.dir": str(shop.folder / "local"),
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    given = " ".join(f"--conf '{key}={value}'" for key, value in conf.items())
    arguments = ["--workspace", str(shop.root), "--plan", shop.plan_id]
    ran = subprocess.run(
        [sys.executable, killed.__file__, point, *arguments],
        cwd=shop.folder,
        env=os.environ
        | {
            "PYSPARK_SUBMIT_ARGS": f"--master 'local[2]' {given} pyspark-shell",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        start_new_session=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == -signal.SIGKILL, ran.stdout + ran.stderr


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_application_is_retried(spark, shop: Shop, expected: Shop, point: str) -> None:
    has_garbage, entries = POINTS[point]
    log = shop.log()
    submit_and_kill(shop, point)
    assert len(shop.log()) == len(log) + entries
    written = {path for path in shop.files() - shop.named() if path.endswith(".parquet")}
    assert has_garbage is None or bool(written) == has_garbage
    before = shop.files()
    report = shop.another().refresh(spark, shop.plan_id)
    assert report.run == 2
    assert (shop.files() == before) == bool(entries)
    shop.check()
    assert shop.log() == expected.log()
    assert shop.answers() == expected.answers()
    assert shop.workspace.verify(spark).equal

"""``slacktide demo --airflow``, small: real Airflow, real spark-submit, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

pytestmark = pytest.mark.airflow


def test_answers_are_equal_and_nothing_stays(java_home: str, tmp_path: Path) -> None:
    size = ("--scale", "0.002", "--arrivals", "1", "--views", "q6,q13")
    ran = subprocess.run(
        [sys.executable, "-m", "slacktide.cli.main", "demo", "--airflow", *size, "--json"],
        env=os.environ | {"JAVA_HOME": java_home, "TMPDIR": str(tmp_path), "EXIT": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    document = json.loads(ran.stdout)
    assert document["equal"] is True
    assert document["views"]["q6"]["methods"] == {"incremental": 1}
    assert document["views"]["q13"]["methods"] == {"incremental": 1}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("slacktide")] == []
    assert commands_naming(str(tmp_path)) == []


def commands_naming(folder: str) -> list[str]:
    """Give the command lines of running processes that name a folder."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or ())
        if folder in line:
            found.append(line)
    return found

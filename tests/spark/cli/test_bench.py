"""The bench: pairs of refreshes and batch runs, all answers compared."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slacktide.spark.measures.cost import Cost
from slacktide.spark.verification.batch import batch_run
from tests.unit.cli.conftest import HEEDING_INTERRUPTS, Program

pytestmark = pytest.mark.spark


def test_it_measures_pairs(program: Program, tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    options = ("--nature", "clustered", "--share", "0.02", "--arrivals", "2", "--views", "q1,q6")
    ran = program("bench", "--scale", "0.002", *options, "--out", str(out))
    assert (ran.code, ran.err) == (0, "")
    assert "clustered, 2.00% of the rows, 2 arrivals" in ran.out
    assert "rows read at most a tenth of batch: 2 of 2 views" in ran.out
    found = json.loads(out.read_text())
    assert [cell["order"][0] for cell in found["cells"]] == ["batch", "slacktide"]
    for cell in found["cells"]:
        assert cell["different"] == []
        for name in ("q1", "q6"):
            mine, batch = (cell[side]["views"][name] for side in ("slacktide", "batch"))
            assert mine["method"] == "incremental"
            assert 0 < mine["rows_read"] < batch["rows_read"] / 10
            assert min(mine["jobs"], mine["stages"], batch["jobs"], batch["stages"]) >= 1
            assert cell["batch"]["java_cpu_seconds"] >= batch["cpu_seconds"] > 0


def test_an_answer_that_the_batch_run_beside_it_has_not_is_told(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(session: Any, sql: str, target: str) -> Cost:
        return batch_run(session, sql if "q14" in target else f"{sql} LIMIT 0", target)

    monkeypatch.setattr("slacktide.cli.measuring.batch_run", short)
    out = tmp_path / "found.json"
    options = ("--nature", "clustered", "--arrivals", "1", "--warming", "0", "--views", "q6,q14")
    ran = program("bench", "--scale", "0.002", *options, "--out", str(out))
    assert ran.code == 1
    (cell,) = json.loads(out.read_text())["cells"]
    assert cell["different"] == ["q6"]


@pytest.fixture
def warming(java_home: str, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A bench that has its session."""
    with subprocess.Popen(
        [*HEEDING_INTERRUPTS, "bench", "--scale", "0.002", "--nature", "clustered", "-v", "q6"],
        env=os.environ | {"TMPDIR": str(tmp_path), "JAVA_HOME": java_home},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert any("warms Java up" in line for line in process.stdout)
        yield process


def left_in(place: Path) -> list[str]:
    """Folders of the bench that it did not remove."""
    return [path.name for path in place.iterdir() if path.name.startswith("slacktide-")]


def test_it_ends_quietly_with_its_java(warming: subprocess.Popen[str], tmp_path: Path) -> None:
    """As timeout, a scheduler or a closing machine end it: all processes of a group at once."""
    os.killpg(warming.pid, signal.SIGTERM)
    _, err = warming.communicate()
    assert warming.returncode == 143
    assert err.startswith("error: ended by SIGTERM ("), err
    assert err.count("\n") == 1, err
    assert left_in(tmp_path) == []


def test_a_java_that_is_killed_is_named(warming: subprocess.Popen[str], tmp_path: Path) -> None:
    """As a machine without memory does it: Java alone, at once."""
    java = subprocess.run(
        ["pgrep", "-g", str(warming.pid), "java"], capture_output=True, text=True, check=True
    )
    os.kill(int(java.stdout), signal.SIGKILL)
    _, err = warming.communicate()
    assert warming.returncode == 3
    assert err == (
        "error: Spark's Java ended in mid-work: it was killed, or ran out of memory "
        "(run it again, with more spark.driver.memory if the machine has it)\n"
    )
    assert left_in(tmp_path) == []

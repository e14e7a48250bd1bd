"""The demo: every answer equal, and nothing left behind, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.unit.cli.conftest import HEEDING_INTERRUPTS, Program

pytestmark = pytest.mark.spark


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where temporary folders are made."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_it_compares_every_answer(program: Program, scratch: Path) -> None:
    ran = program("demo", "--scale", "0.002", "--arrivals", "2", "--views", "q1,q6,q13", "--json")
    assert (ran.code, ran.err) == (0, "")
    document = ran.document
    assert document["equal"] is True
    assert sorted(document["views"]) == ["q1", "q13", "q6"]
    assert document["views"]["q1"]["methods"] == {"incremental": 2}
    assert document["views"]["q1"]["rows_read"] < document["views"]["q1"]["rows_read_full"] / 5
    assert document["views"]["q13"]["methods"] == {"incremental": 2}
    assert list(scratch.iterdir()) == []


def test_it_tells_what_is_going_on(program: Program, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    ran = program("demo", "--scale", "0.002", "--arrivals", "1", "-v", "q6", "--keep", str(kept))
    assert ran.code == 0
    for expected in ("q6   is incremental", "Arrival 1, clustered", "all 1 answers are equal"):
        assert expected in ran.out
    assert "of all refreshes, against batch runs" in ran.out
    assert (kept / "workspace" / "log").is_dir()
    assert str(kept / "workspace") in ran.out


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_it_cleans_up_when_it_is_stopped(
    java_home: str, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with subprocess.Popen(
        [*HEEDING_INTERRUPTS, "demo", "--scale", "0.002"],
        env=os.environ | {"TMPDIR": str(tmp_path), "JAVA_HOME": java_home},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("The first refresh"):
                process.send_signal(number)
                break
        _, err = process.communicate()
    assert process.returncode == code
    assert err.count("\n") == 1, err
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("slacktide-")] == []

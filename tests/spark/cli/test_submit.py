"""The application of spark-submit, submitted by its path, as Airflow does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from slacktide.cli import submit
from tests.unit.cli.conftest import Program

pytestmark = pytest.mark.spark

QUERY = "SELECT customer, count(*) AS n FROM orders GROUP BY customer"


def submitted(tmp_path: Path, *arguments: str) -> tuple[int, dict]:
    """Submit it from another folder, and give the exit code and the line that it printed."""
    program = shutil.which("spark-submit", path=str(Path(sys.executable).parent))
    assert program is not None
    conf = {"spark.pyspark.driver.python": sys.executable, "spark.local.dir": str(tmp_path)}
    conf |= {"spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
    given = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    ran = subprocess.run(
        [program, "--master", "local[2]", *given, submit.__file__, *arguments],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in ran.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == 1, ran.stdout + ran.stderr
    return ran.returncode, json.loads(lines[0])


def test_it_executes_a_stored_plan_once(shop: Program, tmp_path: Path) -> None:
    shop("view", "add", "v", "--sql", QUERY)
    plan = shop("plan", "--json").document["plan_id"]
    code, report = submitted(tmp_path, "--workspace", str(shop.root), "--plan", plan)
    assert (code, report["plan_id"], report["run"]) == (0, plan, 1)
    assert report["views"]["v"]["method"] == "full"
    assert sorted(shop("read", "v", "--json").document["rows"]) == [["ada", 2], ["bob", 1]]
    assert shop("refresh", "--plan", plan, "--json").document == report


def test_a_plan_that_is_not_there(shop: Program, tmp_path: Path) -> None:
    code, document = submitted(tmp_path, "--workspace", str(shop.root), "--plan", "0" * 32)
    assert code == 2
    assert document["error"]["code"] == "UNKNOWN_OBJECT"


BAD = {
    "no workspace": (("--plan", "x"), "INVALID_SETTING"),
    "an argument too many": (("--workspace", "w", "--plan", "x", "y"), "INVALID_SETTING"),
    "a workspace that is not there": (("--workspace", "{}", "--plan", "x"), "WORKSPACE_MISSING"),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_errors_are_one_line(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, code = BAD[case]
    given = [str(tmp_path / "nowhere") if text == "{}" else text for text in arguments]
    assert submit.main(given) == 2
    out, err = capsys.readouterr()
    (line,) = out.strip().splitlines()
    assert json.loads(line)["error"]["code"] == code
    assert err == ""


def test_its_folder_hides_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script's own folder stands first on the path."""
    own = str(Path(submit.__file__).parent)
    monkeypatch.setattr(sys, "path", [own, *sys.path])
    submit.forget_own_folder()
    assert own not in sys.path
    assert sys.path

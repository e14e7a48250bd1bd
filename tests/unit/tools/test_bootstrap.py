"""The environment is prepared once, and anew only when what it follows from has changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import bootstrap


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of two locks and a project file."""
    (tmp_path / "locks").mkdir()
    for name in ("locks/airflow.txt", "locks/dev.txt", "pyproject.toml"):
        (tmp_path / name).write_text(f"# {name}\n", encoding="utf-8")
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(bootstrap, "SCRATCH", tmp_path / ".build")
    return tmp_path


@pytest.fixture
def uv_calls(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program named uv that writes down what it is asked, and makes the environment's Python."""
    calls = checkout / "calls"
    calls.touch()
    program = checkout / "bin" / "uv"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$1 $2" >> {calls}\n'
        f'[ "$1" = venv ] && mkdir -p {checkout}/.venv/bin && touch {checkout}/.venv/bin/python\n'
        f"[ ! -e {checkout}/broken ]\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    return calls


def test_prepares_once(uv_calls: Path) -> None:
    bootstrap.prepare_venv("demo")
    assert uv_calls.read_text().splitlines() == ["venv --quiet", "pip sync", "pip install"]
    bootstrap.prepare_venv("demo")
    assert len(uv_calls.read_text().splitlines()) == 3


def test_what_the_tests_need_serves_the_demo_too(uv_calls: Path) -> None:
    bootstrap.prepare_venv("test")
    before = uv_calls.read_text()
    bootstrap.prepare_venv("demo")
    assert uv_calls.read_text() == before


def test_the_demo_s_environment_is_widened_for_the_tests(uv_calls: Path) -> None:
    bootstrap.prepare_venv("demo")
    bootstrap.prepare_venv("test")
    assert uv_calls.read_text().splitlines()[3:] == ["pip sync", "pip install"]


@pytest.mark.parametrize("name", ["locks/dev.txt", "pyproject.toml"])
def test_prepares_again_after_a_change(uv_calls: Path, checkout: Path, name: str) -> None:
    bootstrap.prepare_venv("test")
    (checkout / name).write_text("changed", encoding="utf-8")
    bootstrap.prepare_venv("test")
    assert uv_calls.read_text().splitlines()[3:] == ["pip sync", "pip install"]


def test_a_failure_is_told_and_tried_again(uv_calls: Path, checkout: Path) -> None:
    bootstrap.prepare_venv("demo")
    (checkout / "locks" / "airflow.txt").write_text("changed", encoding="utf-8")
    (checkout / "broken").touch()
    with pytest.raises(bootstrap.Unprepared, match=r"this failed.*pip sync"):
        bootstrap.prepare_venv("demo")
    assert bootstrap.written_stamp() == ""
    (checkout / "broken").unlink()
    bootstrap.prepare_venv("demo")
    assert bootstrap.written_stamp().startswith("demo ")


def test_this_python_is_taken_where_it_fits() -> None:
    assert bootstrap.find_python() == sys.executable


def test_a_newer_python_looks_for_one_that_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "NEWEST", (3, 10))
    monkeypatch.setattr(bootstrap, "OLDEST", (3, 9))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bootstrap.find_python() == "3.10"
    program = tmp_path / "python3.9"
    program.touch(mode=0o755)
    assert bootstrap.find_python() == str(program)


@pytest.mark.usefixtures("checkout")
def test_without_java_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "find_java", lambda environ: None)
    monkeypatch.setattr(bootstrap, "apt_install", lambda packages: False)
    assert bootstrap.main(["demo", "never"]) == 2
    assert "Java 17 or 21" in capsys.readouterr().err


def test_without_a_profile_it_says_how_to_call_it() -> None:
    root = Path(bootstrap.__file__).parent.parent
    command = [sys.executable, "-m", "tools.bootstrap"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: python -m tools.bootstrap demo|test ")

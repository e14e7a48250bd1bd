"""The shell examples of the README do what it says."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from slacktide.cli.main import run_command
from tests.meta.tree import ROOT

pytestmark = pytest.mark.spark

BLOCK = re.compile(r"<!-- executed by tests/spark/.*? -->\n```sh\n(.*?)```", re.DOTALL)


def test_examples_run(
    spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    outputs = {}
    for line in filter(None, block.splitlines()):
        words = shlex.split(line)
        if words[0] == "export":
            monkeypatch.setenv(*words[1].split("="))
        elif words[0] == "slacktide":
            assert run_command(words[1:]) == 0, (line, capsys.readouterr().err)
            outputs[line] = capsys.readouterr().out
        else:
            subprocess.run(["sh", "-c", line], check=True)
    answers = [text for line, text in outputs.items() if line.startswith("slacktide changes")]
    assert "15.00" in answers[0]
    assert "10.50" in answers[0]


def test_every_file_it_links_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []

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

BLOCK = re.compile(
    r"<!-- executed by tests/spark/.*? -->\n```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL
)
TUTORIALS = sorted((ROOT / "provider/docs/tutorials").glob("*.md"))


class Shell:
    """Runs examples in a folder, Slacktide's commands in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def run(self, block: str) -> dict[str, str]:
        """Run the lines of an example; give what the commands printed."""
        outputs = {}
        for line in filter(None, block.splitlines()):
            words = shlex.split(line)
            if words[0] == "export":
                self._monkeypatch.setenv(*words[1].split("="))
            elif words[0] == "slacktide":
                assert run_command(words[1:]) == 0, (line, self._capsys.readouterr().err)
                outputs[line] = self._capsys.readouterr().out
            else:
                subprocess.run(["sh", "-c", line], check=True)
        return outputs


@pytest.fixture
def shell(
    spark,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(monkeypatch, capsys)


def test_examples_run(shell: Shell) -> None:
    ((block, _),) = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    outputs = shell.run(block)
    answers = [text for line, text in outputs.items() if line.startswith("slacktide changes")]
    assert "15.00" in answers[0]
    assert "10.50" in answers[0]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorials_print_what_they_say(shell: Shell, page: Path) -> None:
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks
    for block, told in blocks:
        outputs = shell.run(block)
        printed = [line.split() for line in list(outputs.values())[-1].splitlines()]
        for line in told.splitlines():
            assert line.split() in printed, (line, outputs)


def test_every_file_it_links_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []

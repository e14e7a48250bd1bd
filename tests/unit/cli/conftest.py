"""A command line over a real workspace, run in this process."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from slacktide.cli.main import run_command


@dataclass(frozen=True)
class Ran:
    """What one command line came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict:
        """The one JSON document that was printed."""
        document: dict = json.loads(self.out)
        return document


@dataclass(frozen=True)
class Program:
    """The program over one workspace."""

    root: Path
    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Ran:
        code = run_command(["--workspace", str(self.root), *arguments])
        out, err = self.capture.readouterr()
        return Ran(code, out, err)


@pytest.fixture
def program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Program:
    """The program over a root where nothing is yet."""
    return Program(tmp_path / "workspace", capsys)


@pytest.fixture
def shop(program: Program, tmp_path: Path) -> Program:
    """The program over a workspace with the source `orders`, whose first file has landed."""
    landing = tmp_path / "orders"
    landing.mkdir()
    (landing / "a.csv").write_text("id,customer\n1,ada\n2,bob\n", encoding="utf-8")
    assert program("init").code == 0
    added = program(*ORDERS, "--path", str(landing))
    assert added.code == 0, added.err
    return program


# A shell that starts something in the background may have it ignore interrupts, and `nohup` that it hangs up.
_HEED = (
    "import signal; from slacktide.cli.main import main;"
    "signal.signal(signal.SIGINT, signal.default_int_handler);"
    "signal.signal(signal.SIGHUP, signal.SIG_DFL); main()"
)
HEEDING_INTERRUPTS = (sys.executable, "-u", "-c", _HEED)
ORDERS = (
    *("source", "add", "orders", "--kind", "files", "--format", "csv"),
    *("--schema", "id BIGINT, customer STRING", "--option", "header=true"),
)

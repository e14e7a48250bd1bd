"""What a person sees in a terminal of 80 or 120 columns."""

from __future__ import annotations

import errno
import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Program

ERASED = "\x1b[2K"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def seen(columns: int, *command: str) -> list[str]:
    """Run a command in a terminal, and give the lines that stand there in the end."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, columns))
    with subprocess.Popen(
        [sys.executable, "-m", "slacktide.cli.main", *command],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={key: value for key, value in os.environ.items() if key not in {"COLUMNS", "LINES"}},
    ):
        os.close(theirs)
        text = b"".join(iter(lambda: read(ours), b""))
    os.close(ours)
    lines = text.decode().replace("\r\n", "\n").split("\n")
    return [ESCAPES.sub("", line.rpartition(ERASED)[2]) for line in lines]


def read(terminal: int) -> bytes:
    """Read from a terminal; nothing comes once its other side is closed."""
    try:
        return os.read(terminal, 65536)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return b""


@pytest.fixture
def wide(shop: Program, tmp_path: Path) -> Program:
    """A shop with long texts in it."""
    shop(
        "function",
        "add",
        "f" * 30,
        f"{'some.long.package.' * 4}module:function",
        "--returns",
        "int",
    )
    for number in range(3):
        shop("source", "complete", "orders", f"2026-01-0{number + 1}")
    return shop


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(
    "command", [("status",), ("plan",), ("function", "list"), ("source", "list"), ("--help",)]
)
def test_nothing_is_wider_than_the_terminal(
    wide: Program, columns: int, command: tuple[str, ...]
) -> None:
    lines = seen(columns, "--workspace", str(wide.root), *command)
    assert len(lines) > 3
    assert max(len(line) for line in lines if str(wide.root) not in line) <= columns


def test_long_texts_are_folded_not_cut(wide: Program) -> None:
    lines = seen(80, "--workspace", str(wide.root), "function", "list")
    text = "".join(line[32:].split()[0] for line in lines if line.strip() and "─" not in line)
    assert "module:function" in text.replace(" ", "")
    assert "…" not in text


def test_errors_are_red_and_one_line(program: Program) -> None:
    lines = [line for line in seen(200, "--workspace", str(program.root), "status") if line]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")

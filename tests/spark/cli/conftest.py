"""The command line with Spark: in this process, on the shared session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Program


@pytest.fixture
def program(spark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Program:
    """The program over a root where nothing is yet; it works on the session that runs."""
    return Program(tmp_path / "workspace", capsys)


@pytest.fixture
def landing(tmp_path: Path) -> Path:
    """Where the files of `orders` land; the first is there."""
    folder = tmp_path / "orders"
    folder.mkdir()
    land(folder, "a", "1,ada,10.50\n2,bob,20.00\n3,ada,\n")
    return folder


@pytest.fixture
def shop(program: Program, landing: Path) -> Program:
    """The program over a workspace with the source `orders`."""
    assert program("init").code == 0
    schema = "id BIGINT, customer STRING, amount DECIMAL(10,2)"
    form = ("--format", "csv", "--schema", schema, "--option", "header=true")
    added = program("source", "add", "orders", "--kind", "files", "--path", str(landing), *form)
    assert added.code == 0, added.err
    return program


def land(folder: Path, name: str, lines: str) -> None:
    """Let a file of orders land."""
    (folder / f"{name}.csv").write_text(f"id,customer,amount\n{lines}", encoding="utf-8")

"""Whatever is typed wrongly: one line that says the way out, the right exit code, nothing written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from slacktide.cli.main import run_command
from tests.unit.cli.conftest import ORDERS, Program

ADD = ("source", "add", "s", "--kind", "files", "--path", ".")
WRONG = {
    "no such command": (("fly",), "No such command 'fly'"),
    "no such option": (("status", "--fast"), "No such option: --fast"),
    "a missing argument": (("view", "drop"), "Missing argument"),
    "a missing option": (("source", "add", "x"), "Missing option"),
    "a number that is none": (("history", "--limit", "x"), "Invalid value for"),
    "weights that are no numbers": (
        ("what-if", "--weights", "0.5;1"),
        "'0.5;1' has something that is no number",
    ),
    "a single weight": (("what-if", "--weights", "1"), "[1.0] are no weights"),
    "a format that is none": (("read", "v", "--format", "xml"), "Invalid value for"),
    "a name with a space": (("source", "add", "a b", "--kind", "files", "--path", "."), "'a b'"),
    "a name with a slash": (("source", "add", "a/b", "--kind", "files", "--path", "."), "'a/b'"),
    "a name with a quote": (("function", "add", "a'b", "m:f", "--returns", "int"), "a'b"),
    "a target that is none": (("function", "add", "f", "m.f", "--returns", "int"), "m.f"),
    "a path that is missing": (
        ("source", "add", "s", "--kind", "files", "--path", "/nowhere/at/all"),
        "/nowhere/at/all",
    ),
    "a kind that is none": (("source", "add", "s", "--kind", "tape", "--path", "."), "tape"),
    "an option without a value": (
        (*ADD, "--option", "header"),
        "--option 'header' is not of the form NAME=VALUE",
    ),
    "a source that is taken": (
        ("source", "add", "orders", "--kind", "files", "--path", ".", "--schema", "id INT"),
        "orders",
    ),
    "a source that is not there": (("source", "hold", "ghost"), "ghost"),
    "a plan that is not there": (("refresh", "--plan", "nope"), "there is no plan nope"),
    "a setting that is none": (
        ("view", "add", "v", "--sql", "SELECT 1", "--set", "nope=1"),
        "unknown setting 'nope'",
    ),
    "a wrong setting of a source": ((*ADD, "--settle", "30"), "source s: settle is '30'"),
    "an arrival that is not there": (("source", "skip", "orders", "9"), "9"),
    "a file that is not there": (("source", "skip", "orders", "z.csv"), "z.csv"),
    "a point in time that is none": (
        ("source", "complete", "orders", "whenever"),
        "source orders cannot be complete up to 'whenever'",
    ),
    "an option with two values": (
        (*ADD, "--option", "sep=;", "--option", "sep=,"),
        "--option gives sep two values",
    ),
    "an empty quarantine": (
        (*ADD, "--quarantine", ""),
        "quarantine",
    ),
    "a backlog of nothing": (
        (*ADD, "--max-backlog", "0"),
        "max_backlog",
    ),
    "a key of nothing": (
        (*ADD, "--key", ""),
        "'' names nothing",
    ),
    "a view that is not there": (("read", "ghost"), "ghost"),
    "changes of no view": (("changes", "ghost", "--since", "0"), "ghost"),
    "changes that end before they begin": (
        ("changes", "v", "--since", "3", "--until", "1"),
        "--until 1 is before --since 3",
    ),
    "a view to explain that is not there": (("explain", "ghost"), "ghost"),
    "nothing to explain": (("explain",), "explain takes one thing"),
    "two things to explain": (("explain", "v", "--plan", "p"), "explain takes one thing"),
    "two queries": (("view", "add", "v", "--sql", "SELECT 1", "--file", "q"), "both given"),
    "an empty query": (("view", "add", "v", "--sql", "  "), "the query is empty"),
    "a query file that is not there": (("view", "add", "v", "--file", "/no/q.sql"), "/no/q.sql"),
    "a setting without a value": (
        ("view", "add", "v", "--sql", "SELECT 1", "--set", "due"),
        "--set 'due' is not of the form NAME=VALUE",
    ),
    "a plan file that is not there": (("refresh", "--plan", "/no/plan.json"), "/no/plan.json"),
    "a plan and views": (("refresh", "--plan", "x", "--views", "v"), "both given"),
    "a file to write that cannot be": (
        ("plan", "--out", "/no/such/dir/p.json"),
        "cannot be written",
    ),
    "a demo of no query": (("demo", "--views", "q99"), "q99"),
    "a bench of no nature": (("bench", "--nature", "wild"), "nature 'wild' is unknown"),
    "a bench of no share": (("bench", "--share", "0"), "share 0.0 is not above 0"),
    "a bench to nowhere": (("bench", "--out", "nowhere/a.json"), "no directory nowhere"),
    "a demo of no size": (("demo", "--scale", "-1"), "scale -1.0 is not positive"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_is_one_line_with_the_way_out(shop: Program, case: str) -> None:
    command, expected = WRONG[case]
    before = log_of(shop.root)
    ran = shop(*command)
    assert ran.code == 2
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert expected in ran.err
    assert ran.err.endswith(")\n"), "there is no hint"
    assert log_of(shop.root) == before


@pytest.mark.parametrize("case", sorted(WRONG))
def test_is_one_document(shop: Program, case: str) -> None:
    command, expected = WRONG[case]
    ran = shop(*command, "--json")
    assert ran.code == 2
    assert ran.err == ""
    error = ran.document["error"]
    assert sorted(error) == ["code", "hint", "message"]
    assert expected in error["message"]
    assert error["hint"]


def test_a_view_to_plan_that_is_not_there(shop: Program) -> None:
    ran = shop("plan", "--views", "ghost")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: there is no view 'ghost' (")


def log_of(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "log").iterdir())


def test_no_workspace_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLACKTIDE_WORKSPACE", raising=False)
    assert run_command(["status"]) == 2
    assert "no workspace is named" in capsys.readouterr().err


def test_there_is_no_workspace(program: Program) -> None:
    ran = program("status")
    assert ran.code == 2
    assert str(program.root) in ran.err
    assert not program.root.exists()


def test_a_newer_workspace_is_refused(shop: Program) -> None:
    newest = max((shop.root / "log").glob("*.json"))
    text = newest.read_text(encoding="utf-8")
    assert '"format":1' in text.replace(" ", "")
    newest.write_text(text.replace(" ", "").replace('"format":1', '"format":99'), encoding="utf-8")
    ran = shop("status", "--json")
    assert ran.code == 2
    assert ran.document["error"]["code"] == "NEWER_FORMAT"


def test_a_file_that_is_no_plan(shop: Program, tmp_path: Path) -> None:
    for text in ("not json", "[]", "{}", '{"format": 1}', "[" * 100_000):
        (tmp_path / "plan.json").write_text(text, encoding="utf-8")
        ran = shop("refresh", "--plan", str(tmp_path / "plan.json"))
        assert ran.code == 2, text
        assert ran.err.count("\n") == 1


def test_a_demo_does_not_touch_a_full_directory(program: Program, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious", encoding="utf-8")
    ran = program("demo", "--keep", str(tmp_path))
    assert ran.code == 2
    assert "is not an empty directory" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_without_arguments_it_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([]) == 2
    assert "Usage: slacktide" in capsys.readouterr().out


def test_java_is_missing(shop: Program, tmp_path: Path) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    environ = {**os.environ, "PATH": str(empty), "JAVA_HOME": str(empty), "HOME": str(tmp_path)}
    program = (
        "import sys, slacktide.spark.sessions.session as session, slacktide.cli.main as main;"
        "session.USUAL_PLACES = ();"
        "sys.exit(main.run_command(sys.argv[1:]))"
    )
    command = ["view", "add", "v", "--sql", "SELECT id FROM orders"]
    ran = subprocess.run(
        [sys.executable, "-c", program, "--workspace", str(shop.root), *command],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: Spark needs Java 17 or 21")
    assert ran.stderr.count("\n") == 1


def test_a_link_that_leads_in_a_circle_is_named(shop: Program) -> None:
    circle = shop.root.parent / "circle"
    circle.symlink_to("circle")
    (command, verb, _, *rest) = ORDERS
    for ran in (
        shop(command, verb, "more", *rest, "--path", str(circle)),
        Program(circle, shop.capture)("status"),
    ):
        assert ran.code == 2
        assert f"{circle} is a symbolic link that leads back to itself" in ran.err

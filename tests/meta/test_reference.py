"""The page of reference names every command, option, key and argument, and none that is not there."""

from __future__ import annotations

import ast
import json
import re
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from slacktide import Workspace, errors
from slacktide.cli.main import INTERRUPTED, PIPE_CLOSED, app
from tests.meta.tree import PROVIDER, ROOT

FILE = ROOT / "provider" / "docs" / "reference.md"
PAGE = FILE.read_text(encoding="utf-8")
OPTION = re.compile(r"--[a-z][a-z-]+")
EVERYWHERE = {"--json", "--help"}
ORCHESTRATION = PROVIDER / "orchestration"
OPERATORS = ("sensor", "plan_operator", "refresh_operator")


def section(head: str) -> str:
    """The text below a head, up to the next one."""
    return re.split(r"^#+ ", PAGE.split(f"# {head}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def spans(text: str) -> set[str]:
    """All words that stand in code in a text."""
    return {word for code in re.findall(r"`([^`]+)`", text) for word in re.findall(r"\w+", code)}


def rows(text: str) -> dict[str, str]:
    """The lines of a table by what stands in their first cell."""
    cells = [line.strip("| ").split(" | ", 1) for line in text.splitlines() if line[:3] == "| `"]
    return dict(cells)


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """Every command and its long options."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
            continue
        told = [o for one in command.params for o in (*one.opts, *one.secondary_opts)]
        yield " ".join((*path, name)), {o for o in told if o.startswith("--")} - EVERYWHERE


GROUP: Any = typer.main.get_command(app)
COMMANDS = dict(commands(GROUP))
TABLE = rows(section("The command line"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_there_with_its_options(command: str) -> None:
    (row,) = (rest for first, rest in TABLE.items() if re.match(rf"`{command}[` ]", first))
    options = row.rpartition(" | ")[2] if " | " in row else ""
    assert set(OPTION.findall(options)) == COMMANDS[command]


def test_no_other_command_is_there() -> None:
    assert len(TABLE) == len(COMMANDS)


def test_what_every_command_takes_is_there() -> None:
    said = set(OPTION.findall(section("The command line")))
    assert said >= {o for one in GROUP.params for o in one.opts if o.startswith("--")} | EVERYWHERE


def keys(part: Any) -> Iterator[str]:
    """The names of all properties of a schema."""
    if isinstance(part, dict):
        yield from part.get("properties", {})
    for below in (
        part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    ):
        yield from keys(below)


def test_every_key_of_the_variable_is_there() -> None:
    schema = json.loads((ORCHESTRATION / "variable.schema.json").read_text(encoding="utf-8"))
    assert set(keys(schema)) - spans(section("The Variable")) == set()


@pytest.mark.parametrize("module", OPERATORS)
def test_an_operator_is_there_with_its_arguments(module: str) -> None:
    tree = ast.parse((ORCHESTRATION / f"{module}.py").read_text(encoding="utf-8"))
    (kind,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    functions = (node for node in kind.body if isinstance(node, ast.FunctionDef))
    (made,) = (node for node in functions if node.name == "__init__")
    row = rows(section("Operators and sensor"))[f"`{module}.{kind.name}`"]
    assert {one.arg for one in made.args.kwonlyargs} <= spans(row.partition(" | ")[0])


def test_every_exit_code_is_there() -> None:
    kinds = (kind for kind in vars(errors).values() if isinstance(kind, type))
    ours = {kind.exit_code for kind in kinds if issubclass(kind, errors.SlacktideError)}
    ended = {INTERRUPTED, PIPE_CLOSED, 128 + signal.SIGTERM, 128 + signal.SIGHUP}
    told = re.findall(r"^\| (\d+) \|", section("Exit codes"), re.MULTILINE)
    assert {*map(int, told)} == {0} | ours | ended


def test_what_it_links_is_there() -> None:
    heads = {
        re.sub(r"[^\w -]", "", h).lower().replace(" ", "-")
        for h in re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    }
    for place, head in re.findall(r"\]\(([^)#:]*)#?([^)]*)\)", PAGE):
        assert (FILE.parent / place).exists() if place else head in heads, (place, head)


def test_methods_of_the_page_are_there() -> None:
    cells = rows(section("Python")).values()
    named = {one for cell in cells for one in re.findall(r"`(?:Workspace\.)?([a-z_]+)[`(]", cell)}
    assert len(named) > 20
    assert [name for name in sorted(named) if not hasattr(Workspace, name)] == []

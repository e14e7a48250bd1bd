"""``init``, and the commands that add, list and drop functions."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from slacktide.cli.access import AsJson, opened, root_of, storage_options
from slacktide.cli.screen import emit, say, show_table

functions = typer.Typer(no_args_is_help=True, help="Functions that the SQL of views may call.")


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("init")(init)
    app.add_typer(functions, name="function")


def init(
    context: typer.Context,
    state_budget: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES", help="Kept with the workspace and without effect, as in 2GB."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make an empty workspace."""
    from slacktide.engine.workspace import Workspace

    settings: dict[str, Any] = {} if state_budget is None else {"state_budget": state_budget}
    workspace = Workspace.create(root_of(context), storage_options=storage_options(), **settings)
    if as_json:
        emit({"workspace": workspace.root})
    else:
        say(f"workspace {workspace.root} is ready")


@functions.command("add")
def add_function(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The name that SQL uses.")],
    target: Annotated[str, typer.Argument(help="Module and name, as in shop.functions:score.")],
    *,
    returns: Annotated[str, typer.Option(metavar="TYPE", help="Its Spark type, as in double.")],
    kind: Annotated[str, typer.Option(help="python or pandas.")] = "python",
    deterministic: Annotated[bool, typer.Option(help="The same arguments give one value.")] = True,
    as_json: AsJson = False,
) -> None:
    """Declare a function."""
    declaration: dict[str, Any] = {"returns": returns, "kind": kind, "deterministic": deterministic}
    opened(context).add_function(name, target, **declaration)
    if as_json:
        emit({"name": name, "target": target, **declaration})
    else:
        say(f"function {name} is {target}, returning {returns}")


@functions.command("list")
def list_functions(context: typer.Context, as_json: AsJson = False) -> None:
    """List the functions."""
    functions_now = opened(context).status().to_dict()["functions"]
    if as_json:
        emit({"functions": functions_now})
        return
    if not functions_now:
        say("no functions yet: slacktide function add --help")
        return
    rows = [
        (name, entry["target"], entry["returns"]) for name, entry in sorted(functions_now.items())
    ]
    show_table(("function", "target", "returns"), rows)


@functions.command("drop")
def drop_function(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The function.")],
    as_json: AsJson = False,
) -> None:
    """Forget a function that no view calls."""
    opened(context).drop_function(name)
    if as_json:
        emit({"dropped": name})
    else:
        say(f"function {name} is dropped")

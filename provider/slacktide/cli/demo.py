"""``slacktide demo``: the whole product on data of its own, and nothing left behind."""

from __future__ import annotations

from typing import Annotated

import typer

from slacktide.cli.access import AsJson, Views, names
from slacktide.cli.demo_airflow import run_with_airflow
from slacktide.cli.demo_here import run_here
from slacktide.cli.screen import emit, quiet, say
from slacktide.cli.showcase import VIEWS, Showcase
from slacktide.cli.workplace import folder


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("demo")(demo)


def demo(
    scale: Annotated[float, typer.Option(help="Scale of TPC-H; 1 is about a gigabyte.")] = 0.01,
    views: Views = None,
    arrivals: Annotated[int, typer.Option(min=1, max=50, help="How often changes arrive.")] = 3,
    keep: Annotated[
        str | None, typer.Option(metavar="DIR", help="Work in this directory, and leave it there.")
    ] = None,
    airflow: Annotated[bool, typer.Option(help="Run everything through a real Airflow.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the whole product on TPC-H data, and check every answer against a batch run."""
    with folder(keep) as root:
        showcase = Showcase(root, scale, names(views) or VIEWS)
        tell = quiet if as_json else say
        if airflow:
            board = run_with_airflow(showcase, arrivals, tell, wait=not as_json)
        else:
            board = run_here(showcase, arrivals, tell)
        if as_json:
            emit({"scale": scale, "arrivals": arrivals, **board.to_dict()})
        elif not airflow:
            board.show()
        if keep is not None:
            tell(f"the workspace is kept: slacktide --workspace {showcase.workspace} status")
    if not board.equal:
        raise typer.Exit(1)

"""``slacktide demo``: the whole product on data of its own, and nothing left behind."""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from slacktide.cli.access import AsJson, Views, names, spark_session
from slacktide.cli.scoreboard import Scoreboard
from slacktide.cli.screen import emit, progress, say, sentences
from slacktide.cli.showcase import VIEWS, Showcase, tide
from slacktide.errors import InvalidSettingError

if TYPE_CHECKING:
    from slacktide.engine.workspace import Workspace

_TERMINATED = 143


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
    with _folder(keep) as root, _heeding_termination():
        showcase = Showcase(root, scale, names(views) or VIEWS)
        tell = _quiet if as_json else say
        if airflow:
            from slacktide.cli.demo_airflow import run_with_airflow

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


def run_here(showcase: Showcase, arrivals: int, tell: Any) -> Scoreboard:
    """Run the demo in this process."""
    from slacktide.engine.workspace import Workspace

    tell(f"TPC-H at scale {showcase.scale:g} lands in {showcase.landing}, as eight change feeds.")
    with progress("generating data"):
        showcase.generate()
    workspace = Workspace.create(str(showcase.workspace))
    for name, declaration in showcase.sources().items():
        workspace.add_source(name, **declaration)
    board = Scoreboard()
    with spark_session("demo", conf=scratch(showcase.root)) as spark:
        _add_views(workspace, spark, showcase, tell)
        tell("The first refresh answers every view in full, and saves what later ones need.")
        with progress("first refresh"):
            workspace.refresh(spark)
        for number in range(1, arrivals + 1):
            announce(showcase, number, tell)
            with progress("refreshing"):
                report = workspace.refresh(spark).to_dict()
            tell(f"  refreshed: {methods(report)}")
            with progress("batch runs, to compare"):
                verification = workspace.verify(spark).to_dict()
            tell(f"  compared with batch: {compared(verification)}")
            board.add(report, verification)
    return board


def _add_views(workspace: Workspace, spark: Any, showcase: Showcase, tell: Any) -> None:
    tell(f"Spark reads {len(showcase.views)} views:")
    for name, text in showcase.queries().items():
        with progress(f"reading {name}"):
            view = workspace.add_view(spark, name, text)
        why = sentences(view.reasons)
        tell(f"  {name:4} {'is recomputed: ' + why if why else 'is incremental'}")


def announce(showcase: Showcase, number: int, tell: Any) -> None:
    """Let an arrival land, and say what it is."""
    coming = tide(number)
    with progress("changes land"):
        batch = showcase.land(number)
    rows = sum(batch.rows.values())
    tell(f"Arrival {number}, {coming.nature}: {coming.words} ({rows:,} rows).")


def methods(report: Mapping[str, Any]) -> str:
    """Say which views a run refreshed by which method."""
    found: dict[str, list[str]] = {}
    for name, view in report["views"].items():
        found.setdefault(view["method"], []).append(name)
    return "; ".join(f"{method} {', '.join(views)}" for method, views in found.items()) or "nothing"


def compared(verification: Mapping[str, Any]) -> str:
    """Say in a few words how the answers compare."""
    different = [name for name, view in verification["views"].items() if not view["equal"]]
    if different:
        return f"DIFFERENT: {', '.join(different)}"
    return f"all {len(verification['views'])} answers are equal"


def scratch(root: Path) -> dict[str, str]:
    """Keep what Spark writes for itself inside the folder of the demo."""
    return {
        "spark.local.dir": str(root / "spark"),
        "spark.sql.warehouse.dir": str(root / "warehouse"),
    }


@contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    """Give an empty folder: a temporary one, or the one to keep.

    Raises:
        InvalidSettingError: the one to keep is not empty.
    """
    if keep is None:
        with tempfile.TemporaryDirectory(
            prefix="slacktide-demo-", ignore_cleanup_errors=True
        ) as name:
            yield Path(name).resolve()
        return
    root = Path(keep).expanduser().resolve()
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise InvalidSettingError(f"{root} is not an empty directory", hint="name a new one")
    root.mkdir(parents=True, exist_ok=True)
    yield root


@contextmanager
def _heeding_termination() -> Iterator[None]:
    """Clean up after SIGTERM, too; signals reach the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminated(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(_TERMINATED)


def _quiet(_text: str) -> None:
    """Say nothing: the one document is all that a program reads."""

"""``slacktide demo`` in this process: Workspace and Spark alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slacktide.cli.access import spark_session
from slacktide.cli.narration import Tell, announce, compared, landing, methods
from slacktide.cli.scoreboard import Scoreboard
from slacktide.cli.screen import progress, sentences
from slacktide.cli.showcase import Showcase

if TYPE_CHECKING:
    from slacktide.engine.workspace import Workspace


def run_here(showcase: Showcase, arrivals: int, tell: Tell) -> Scoreboard:
    """Run the demo in this process."""
    from slacktide.engine.workspace import Workspace

    landing(showcase, tell)
    workspace = Workspace.create(str(showcase.workspace))
    for name, declaration in showcase.sources().items():
        workspace.add_source(name, **declaration)
    board = Scoreboard()
    with spark_session("demo", conf=showcase.spark_conf()) as spark:
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
            board.add([report], verification)
    return board


def _add_views(workspace: Workspace, spark: Any, showcase: Showcase, tell: Tell) -> None:
    tell(f"Spark reads {len(showcase.views)} views:")
    for name, text in showcase.queries().items():
        with progress(f"reading {name}"):
            view = workspace.add_view(spark, name, text)
        why = sentences(view.reasons)
        tell(f"  {name:4} {'is recomputed: ' + why if why else 'is incremental'}")

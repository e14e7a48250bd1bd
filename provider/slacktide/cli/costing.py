"""The commands about what runs cost: ``calibrate`` measures, ``what-if`` asks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final

import typer

from slacktide.cli.access import AsJson, names, numbers, opened, spark_session
from slacktide.cli.screen import emit, progress, quiet, say, show_table

_UNITS: Final[Mapping[str, tuple[float, str]]] = MappingProxyType(
    {
        "rows_read": (1e6, "a million rows read"),
        "rows_interpreted": (1e6, "a million of them interpreted"),
        "rows_grouped": (1e6, "a million rows grouped"),
        "rows_shuffled": (1e6, "a million rows shuffled"),
        "bytes_shuffled": (2**20, "a MiB shuffled"),
        "bytes_written": (2**20, "a MiB written"),
        "files": (1.0, "a file opened"),
        "stages": (1.0, "a stage"),
        "jobs": (1.0, "a job"),
        "plans": (1.0, "a text planned"),
        "sessions": (1.0, "a session started"),
    }
)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("calibrate")(calibrate)
    app.command("what-if")(what_if)


def calibrate(context: typer.Context, as_json: AsJson = False) -> None:
    """Measure what work costs on this Spark, so that plans start from there; less than a minute."""
    workspace = opened(context)
    told = quiet if as_json else say
    with spark_session("calibrate") as spark, progress("measuring"):
        found = workspace.calibrate(spark, lambda name: told(f"measuring: {name}")).to_dict()
    if as_json:
        emit(found)
        return
    prices = found["coefficients"]
    rows = [(what, f"{prices[kind] * many:.3g}") for kind, (many, what) in _UNITS.items()]
    show_table(("work", "CPU s"), rows, right={"CPU s"})


def what_if(
    context: typer.Context,
    *,
    pace: Annotated[
        float, typer.Option(help="Runs come that many times as often: 2 is twice, 0.5 half.")
    ] = 1.0,
    policy: Annotated[
        str | None, typer.Option(help="All views have this policy: auto, incremental or full.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="VIEWS", help="These views are not there; with commas or again."),
    ] = None,
    states_lost: Annotated[bool, typer.Option("--states-lost", help="No state is there.")] = False,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Answers are due at the last of so many refreshes, each at its price, as in 0.25,0.3,1.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what runs would be expected to cost in other circumstances; nothing is written."""
    comparison = opened(context).what_if(
        pace=pace,
        policy=policy,
        without=names(without) or (),
        states_lost=states_lost,
        weights=numbers(weights),
    )
    found = comparison.to_dict()
    if as_json:
        emit(found)
        return
    rows = [
        (name, *_outlook(now), *_outlook(found["then"].get(name)))
        for name, now in found["now"].items()
    ]
    show_table(("view", "now", "CPU s", "then", "CPU s"), rows)
    now, then = found["cpu_seconds_now"], found["cpu_seconds_then"]
    if now is not None and then is not None:
        say(
            f"between two runs as they come now: {now:,.2f} s of CPU; then {then:,.2f} s, "
            f"with {found['session_seconds']:.2f} s for each start of Spark"
        )
    else:
        say("of a view without a figure nobody can tell yet: two runs have to say what comes")


def _outlook(found: Mapping[str, Any] | None) -> tuple[str, float | None]:
    return ("-", None) if found is None else (found["method"], found["cpu_seconds"])

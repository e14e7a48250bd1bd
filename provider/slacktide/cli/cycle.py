"""The commands of the cycle: ``discover``, ``plan`` and ``refresh``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slacktide import errors
from slacktide.cli.access import AsJson, Due, Views, names, opened, spark_session
from slacktide.cli.screen import bytes_text, emit, progress, say, sentences, show_table, told
from slacktide.errors import InvalidSettingError, InvariantError, SlacktideError, UserError

if TYPE_CHECKING:
    from slacktide.engine.plan import Plan


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("discover")(discover)
    app.command("plan")(plan)
    app.command("refresh")(refresh)


def discover(context: typer.Context, as_json: AsJson = False) -> None:
    """Look for what landed, and accept it as new versions of the sources."""
    with progress("looking for arrivals"):
        workspace = opened(context)
        versions = dict(workspace.discover())
        sources = workspace.status().sources
    if as_json:
        extra = {name: entry["extra"] for name, entry in sources.items() if entry["extra"]}
        emit({"versions": versions, "extra": extra})
    elif versions:
        show_table(("source", "version"), sorted(versions.items()))
        show_extra(sources)
    else:
        say("no sources yet: slacktide source add --help")


def show_extra(sources: Mapping[str, Mapping[str, Any]]) -> None:
    """Print which columns of files are ignored, and what would take them in."""
    for name, entry in sorted(sources.items()):
        if entry["extra"]:
            listed = ", ".join(f"{column['name']} {column['type']}" for column in entry["extra"])
            say(f"source {name}: files have {listed}, which is not declared and is ignored;")
            say(f"  slacktide source alter {name} --schema {quote(entry['wide'])} takes it in")


def plan(
    context: typer.Context,
    views: Views = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the plan there, for refresh --plan.")
    ] = None,
    due: Due = False,
    as_json: AsJson = False,
) -> None:
    """Show what a refresh would do, and why; arrivals are discovered first."""
    if out is not None and not Path(out).absolute().parent.is_dir():
        raise InvalidSettingError(
            f"the plan cannot be written to {out}: there is no such directory", hint="make it first"
        )
    workspace = opened(context)
    with progress("planning"):
        made = workspace.plan(names(views), due=due)
    document = made.to_dict()
    if out is not None:
        _write(out, document)
    if as_json:
        emit(document)
    else:
        show_plan(made, workspace.unpublished())
        if out is not None:
            say(f"written to {out}")


def show_plan(made: Plan, unpublished: Mapping[str, str]) -> None:
    """Print what a plan does with each view, and the paths of sinks that lack an answer, by view."""
    say(f"plan {made.plan_id}")
    rows: list[tuple[object, ...]] = [
        (
            view.view,
            view.method,
            view.predicted.get("cpu_seconds"),
            _steps(view.start, view.end),
            sentences(view.reasons),
        )
        for view in made.views
    ]
    rows += [(new.name, "new", None, "", "created by the run") for new in made.register]
    if rows:
        heads = ("view", "method", "expected CPU s", "versions", "why")
        show_table(heads, rows, firm={"method"})
    for line in (*made.alterations, *made.upkeep, *made.notices):
        say(line)
    for view, path in sorted(unpublished.items()):
        say(f"view {view} will be published to {path}")
    if made.is_empty and not unpublished:
        say("nothing to do" if rows else "no views yet: slacktide view add --help")


def _steps(start: Mapping[str, int], end: Mapping[str, int]) -> str:
    moved = [name for name in sorted(end) if end[name] != start.get(name, 0)]
    return ", ".join(f"{name} {start.get(name, 0)}→{end[name]}" for name in moved)


def _write(out: str, document: Mapping[str, Any]) -> None:
    try:
        Path(out).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidSettingError(
            f"the plan cannot be written to {out}: {error.strerror}", hint="name another file"
        ) from error


def refresh(
    context: typer.Context,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|ID",
            help="Run this plan, from a file or by its id; what others overtook is planned again.",
        ),
    ] = None,
    views: Views = None,
    due: Due = False,
    as_json: AsJson = False,
) -> None:
    """Bring the answers up to date."""
    if plan is not None and (views or due):
        raise InvalidSettingError(
            f"--plan and {'--views' if views else '--due'} are both given",
            hint="a plan names its views, and which are due",
        )
    workspace = opened(context)
    chosen = None if plan is None else read_plan(plan)
    if isinstance(chosen, str) and workspace.report(chosen) is None:
        chosen = workspace.stored_plan(chosen)  # before Spark is started for nothing
    if views or due:
        chosen = workspace.plan(names(views), due=due)
    with spark_session("refresh") as spark, progress("refreshing"):
        report = workspace.refresh(spark, chosen)
    document = report.to_dict()
    if as_json:
        emit(document)
    else:
        show_report(document)
    code = exit_code(document)
    if code:
        raise typer.Exit(code)


def read_plan(given: str) -> Plan | str:
    """Read a plan from a file; what is no file is the id of a stored one."""
    path = Path(given)
    if not path.is_file():
        if path.suffix or len(path.parts) > 1:
            raise InvalidSettingError(
                f"there is no plan in {given}", hint="slacktide plan --out FILE writes one"
            )
        return given
    from slacktide.engine.plan import Plan

    try:
        return Plan.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, SlacktideError):
            raise
        raise InvalidSettingError(
            f"{given} is not a plan", hint="slacktide plan --out FILE writes one"
        ) from error


def show_report(report: Mapping[str, Any]) -> None:
    """Print what a run did."""
    for source, rows in sorted(report["quarantined"].items()):
        say(f"source {source}: {rows} rows do not fit its schema and are in quarantine")
    show_sinks(report["sinks"])
    if report["run"] is None:
        say("nothing to do: every answer is up to date")
        return
    say(f"run {report['run']} of plan {report['plan_id']}")
    rows = []
    for name, view in sorted(report["views"].items()):
        actual = view.get("actual") or {}
        failure = view.get("error")
        why = told(failure) if failure else sentences(view.get("reasons") or ())
        rows.append(
            (
                name,
                view["method"],
                actual.get("rows_read"),
                actual.get("rows_out"),
                actual.get("cpu_seconds"),
                why,
            )
        )
    show_table(("view", "method", "rows read", "rows out", "CPU s", "why"), rows, firm={"method"})
    for source, mirror in sorted(report["mirrors"].items()):
        say(f"mirror of {source}: {_mirrored(mirror)}")
    for chain, done in sorted(report.get("compactions", {}).items()):
        failure = done.get("error")
        came = f"failed: {told(failure)}" if failure else _merged(done)
        say(f"compaction of {chain}: {came}")
    for notice in report.get("notices", ()):
        say(notice)


def _mirrored(mirror: Mapping[str, Any]) -> str:
    piece = "its current rows are written" if mirror["piece"] == "base" else "what came is added"
    actual = mirror["actual"]
    return (
        f"{piece}, {mirror['rows']:,} rows, {bytes_text(mirror['bytes'])};"
        f" {actual['rows_read']:,} rows read, {actual['cpu_seconds']} CPU s"
    )


def _merged(done: Mapping[str, Any]) -> str:
    (rows, rows_left), (size, size_left) = done["rows"], done["bytes"]
    return (
        f"{done['pieces']} pieces are one, {rows:,} rows {rows_left:,},"
        f" {bytes_text(size)} {bytes_text(size_left)}"
    )


def show_sinks(sinks: Mapping[str, Mapping[str, Any]]) -> None:
    """Print what was published after a run, and what could not be."""
    for name, sink in sorted(sinks.items()):
        failure = sink["error"]
        say(told(failure) if failure else f"view {name} is published to {sink['path']}")


def exit_code(report: Mapping[str, Any]) -> int:
    """Give the exit code of a report: that of the gravest error among its views and sinks."""
    members = [*report["views"].values(), *report["sinks"].values()]
    return gravest(member["error"] for member in members)


def gravest(failures: Iterable[Mapping[str, Any] | None]) -> int:
    """Give the exit code of the gravest of some errors, as documents hold them; 0 where there is none."""
    codes = {_exit_of(failure["code"]) for failure in failures if failure}
    for code in (InvariantError.exit_code, UserError.exit_code):
        if code in codes:
            return code
    return max(codes, default=0)


def _exit_of(code: str) -> int:
    known = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    return next(
        (
            kind.exit_code
            for kind in known
            if issubclass(kind, SlacktideError) and kind.code == code
        ),
        InvariantError.exit_code,
    )

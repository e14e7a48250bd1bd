"""The commands that look: ``explain``, ``status``, ``history``, ``verify``, and ``gc``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slacktide.cli.access import AsJson, Views, names, opened, spark_session
from slacktide.cli.cycle import gravest, read_plan
from slacktide.cli.screen import bytes_text, emit, progress, say, show_table, to_the_second, told
from slacktide.cli.source import show_sources
from slacktide.cli.view import show_views
from slacktide.common.names import is_name
from slacktide.common.quantities import parse_duration
from slacktide.errors import DataError, InvalidSettingError, InvariantError

if TYPE_CHECKING:
    from slacktide.engine.workspace import Workspace

_MIRROR_HEADS = ("rows for mirrors", "CPU s for mirrors")
_RUN_HEADS = ("run", "ended", "views", "rows read", "CPU s", *_MIRROR_HEADS, "failed")


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("explain")(explain)
    app.command("status")(status)
    app.command("history")(history)
    app.command("verify")(verify)
    app.command("gc")(gc)


def explain(
    context: typer.Context,
    target: Annotated[str | None, typer.Argument(help="A view, or a query not added yet.")] = None,
    plan: Annotated[
        str | None,
        typer.Option(metavar="FILE|ID", help="A plan instead, from a file or by its id."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how a view, a query or a plan is worked on, and why."""
    if (target is None) == (plan is None):
        raise InvalidSettingError(
            "explain takes one thing", hint="give a view, a query in quotes, or --plan FILE|ID"
        )
    workspace = opened(context)
    if target is None:
        chosen = read_plan(str(plan))
        given = workspace.stored_plan(chosen) if isinstance(chosen, str) else chosen
        explanation = workspace.explain(given)
    elif is_name(target):
        explanation = workspace.explain(target)
    else:
        with spark_session("explain") as spark, progress("reading the query"):
            explanation = workspace.explain(target, spark=spark)
    if as_json:
        emit(explanation.to_dict())
    else:
        say(explanation.text)


def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Show sources, views, how fresh they are and what they keep."""
    found = opened(context).status().to_dict()
    if as_json:
        emit(found)
        return
    say(f"workspace {found['root']}, {found['runs']} runs")
    if found["sources"]:
        show_sources(found["sources"])
    else:
        say("no sources yet: slacktide source add --help")
    for source in found["sources"].values():
        for key in source["foreign_keys"]:
            if key["state"] == "broken":
                say(f"foreign key {key['name']} {key['broken']}: {key['hint']}")
    if found["views"]:
        show_views(found["views"])
    else:
        say("no views yet: slacktide view add --help")
    kept = (("states", "state_bytes"), ("mirrors", "mirror_bytes"), ("answers", "answer_bytes"))
    say("kept: " + ", ".join(f"{bytes_text(found[key])} of {what}" for what, key in kept))
    if found["engine"] is not None:
        say(f"answers are made by {found['engine']}")
    _say_costs(found)
    removable = [
        f"{name} up to {entry['removable']}"
        for name, entry in found["sources"].items()
        if entry["removable"]
    ]
    if removable:
        say(f"landed files no longer needed: {', '.join(removable)}")


def _say_costs(found: Mapping[str, Any]) -> None:
    """Say how well costs were foretold, and on what they were measured."""
    costs = found["costs"]
    if costs["median_error"] is not None:
        say(
            f"cost model: of {costs['runs']} past computations, half are priced within"
            f" {costs['median_error']:.0%} of what they took, by the work that was counted"
        )
    if costs["expected_error"] is not None:
        say(f"before they ran, half were expected within {costs['expected_error']:.0%} of it")
    measured = found["calibration"]
    if measured is not None:
        cores, at = measured["cores"], to_the_second(measured["measured"])
        whole = "" if measured["is_whole"] else ", by an earlier version: slacktide calibrate"
        say(f"calibrated on Spark {measured['spark']} with {cores} cores at {at}{whole}")


def history(
    context: typer.Context,
    view: Annotated[str | None, typer.Argument(help="Only runs that worked on this view.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="The newest runs.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List past runs, the newest first."""
    from slacktide.engine.telling.hindsight import hindsight

    newest = opened(context).history(view)[-limit:]
    reports = [report.to_dict() for report in reversed(newest)]
    looked = hindsight(newest, view)
    if as_json:
        emit({"runs": reports, "hindsight": asdict(looked)})
        return
    if not reports:
        say("no runs yet: slacktide refresh")
    elif view is None:
        show_table(_RUN_HEADS, [_run(report) for report in reports])
    else:
        heads = ("run", "ended", "method", "rows read", "rows out", "CPU s", "expected CPU s")
        show_table(heads, [_view_run(report, report["views"][view]) for report in reports])
    if looked.asked:
        say(
            f"for {looked.right} of {looked.asked} choices no other way was expected to cost clearly less"
        )


def _run(report: Mapping[str, Any]) -> tuple[object, ...]:
    views = report["views"]
    methods = Counter(view["method"] for view in views.values())
    return (
        report["run"],
        to_the_second(report["ended"]),
        ", ".join(f"{count} {method}" for method, count in sorted(methods.items())),
        _total(views, "rows_read"),
        _total(views, "cpu_seconds"),
        *(_total(report["mirrors"], figure) for figure in ("rows_read", "cpu_seconds")),
        ", ".join(sorted(name for name, view in views.items() if view["error"])),
    )


def _view_run(report: Mapping[str, Any], view: Mapping[str, Any]) -> tuple[object, ...]:
    actual = view["actual"]
    figures = (actual.get(name) for name in ("rows_read", "rows_out", "cpu_seconds"))
    expected = view["predicted"].get("cpu_seconds")
    how = "gave up" if view["method"] == "unchanged" else "turned back"
    method = f"{view['method']}, {how}" if view["switched"] else view["method"]
    return (report["run"], to_the_second(report["ended"]), method, *figures, expected)


def _total(parts: Mapping[str, Mapping[str, Any]], figure: str) -> float | None:
    """Add a figure of views or mirrors up; what is unknown of one is unknown of all."""
    worked = [part["actual"].get(figure) for part in parts.values() if part["actual"]]
    return None if None in worked else sum(worked)


def verify(
    context: typer.Context,
    views: Views = None,
    references: Annotated[
        bool,
        typer.Option(
            "--references",
            help="Check declared keys and foreign keys instead; refreshes then go by those that hold.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare answers with batch runs over the same data, row by row."""
    workspace = opened(context)
    if references:
        verify_foreign_keys(workspace, views, as_json)
        return
    with spark_session("verify") as spark, progress("running the queries in full"):
        verification = workspace.verify(spark, names(views))
    document = verification.to_dict()
    if as_json:
        emit(document)
    elif not document["views"]:
        say("no view has an answer yet: slacktide refresh")
    else:
        show_verification(document["views"])
    code = _code_of(document["views"].values())
    if code:
        raise typer.Exit(code)


def _code_of(views: Iterable[Mapping[str, Any]]) -> int:
    """The exit code of a comparison: an answer that differs is the gravest, a batch run that failed is what it failed of."""
    if any(not view["equal"] and view["error"] is None for view in views):
        return InvariantError.exit_code
    return gravest(view["error"] for view in views)


def verify_foreign_keys(workspace: Workspace, views: list[str] | None, as_json: bool) -> None:
    """Check what sources declare, and print a line for each key and foreign key."""
    if views:
        raise InvalidSettingError(
            "--references is about sources, not about views", hint="leave the views out"
        )
    with spark_session("verify") as spark, progress("checking keys and foreign keys"):
        verification = workspace.verify_foreign_keys(spark)
    if as_json:
        emit(verification.to_dict())
    elif not verification.checks:
        say("no source declares a key or a foreign key")
    for check in () if as_json else verification.checks:
        say(check.line)
    if not as_json and not verification.holds:
        taken = ", ".join(f"{name} {at}" for name, at in sorted(verification.versions.items()))
        say(f"as of {taken}, which refreshes have taken in; later arrivals are not looked at")
    if not as_json and verification.doubted:
        say(f"made anew by the next refresh: {', '.join(verification.doubted)}")
    if not verification.holds:
        raise typer.Exit(DataError.exit_code)


def show_verification(found: Mapping[str, Mapping[str, Any]]) -> None:
    """Print how answers compare, with some of the rows that differ."""
    rows = [
        (
            name,
            view["equal"],
            None if view["error"] else view["missing"],
            None if view["error"] else view["extra"],
            view["batch"].get("rows_read"),
            view["batch"].get("cpu_seconds"),
        )
        for name, view in sorted(found.items())
    ]
    show_table(("view", "equal", "missing", "extra", "rows read", "CPU s"), rows)
    for name, view in sorted(found.items()):
        if view["schema"]:
            say(f"{name}: {view['schema']}")
        if view["is_cut"]:
            say(f"{name}: more rows differ than were looked at")
        if view["incomparable"]:
            say(f"{name}: not compared, because {view['incomparable']}")
        if view["error"]:
            say(f"{name}: not compared, as {told(view['error'])}")
        for row in view["sample"]:
            say(f"{name}: {_difference(row)}")


def _difference(row: Mapping[str, str]) -> str:
    values = ", ".join(f"{key}={value}" for key, value in row.items() if key != "__m")
    times = int(row["__m"])
    return f"{'extra' if times > 0 else 'missing'} {abs(times)} of {values}"


def gc(
    context: typer.Context,
    keep_runs: Annotated[
        int | None,
        typer.Option(min=1, help="Keep that many of the newest runs readable; all if not given."),
    ] = None,
    grace: Annotated[
        str,
        typer.Option(
            help="Younger files stay: longer than the longest run, and than readers read."
        ),
    ] = "6h",
    as_json: AsJson = False,
) -> None:
    """Remove what no reader and no run needs any more."""
    keeping = parse_duration(grace, setting="grace")
    with progress("looking for what nothing names"):
        removed = opened(context).gc(keep_runs=keep_runs, grace=keeping).to_dict()
    if as_json:
        emit(removed)
    else:
        old = removed["editions"]
        beside = f", with {old} old editions of sinks" if old else ""
        say(f"{removed['files']} files removed, {bytes_text(removed['bytes'])}{beside}")

"""The commands of ``slacktide source``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from slacktide.cli.access import AsJson, names, opened, pairs, spark_session
from slacktide.cli.screen import emit, progress, say, show_table, to_the_second

sources = typer.Typer(no_args_is_help=True, help="Relations that change from outside.")
Name = Annotated[str, typer.Argument(help="The source.")]
_WHOLE = re.compile(r"[0-9]+")


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(sources, name="source")


@sources.command("add")
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The name that SQL uses.")],
    *,
    kind: Annotated[str, typer.Option(help="files, or change-feed.")],
    path: Annotated[str, typer.Option(help="The directory where files land.")],
    file_format: Annotated[
        str | None, typer.Option("--format", help="parquet, csv, json, orc or avro.")
    ] = None,
    schema: Annotated[
        str | None, typer.Option(metavar="DDL", help="Columns, as in 'id BIGINT, name STRING'.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A reader option; repeatable.")
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option(metavar="COLUMNS", help="Columns that identify a row.")
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=SOURCE.COLUMN", help="A foreign key; repeatable."),
    ] = None,
    append_only: Annotated[bool, typer.Option(help="Make a delete an error.")] = False,
    settle: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Take a file once unchanged that long.")
    ] = None,
    max_backlog: Annotated[
        str | None, typer.Option(metavar="N|BYTES", help="The most that one run takes.")
    ] = None,
    quarantine: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Keep rows of csv and json there that do not fit."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add a source; its first files are read to learn, or to check, its columns."""
    arguments: dict[str, Any] = {
        "path": path,
        "format": file_format,
        "schema": schema,
        "options": pairs(option, "--option"),
        "key": names(key),
        "references": pairs(reference, "--reference"),
        "append_only": append_only,
        "settle": settle,
        "max_backlog": _number_or_text(max_backlog),
        "quarantine": quarantine,
    }
    source = opened(context).add_source(name, kind=kind, **_said(arguments))
    columns = [dict(column) for column in source.schema]
    if as_json:
        emit({"name": name, "kind": kind, "version": source.version, "schema": columns})
        return
    say(f"source {name} is added, with {len(columns)} columns")
    show_table(
        ("column", "type", "nullable"),
        [(column["name"], column["type"], column.get("nullable", True)) for column in columns],
    )


def _said(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given; 0 and an empty text were, and are refused where they are wrong."""
    return {name: v for name, v in arguments.items() if v is not None and v is not False}


def _number_or_text(text: str | None) -> int | str | None:
    return int(text) if text and _WHOLE.fullmatch(text) else text


@sources.command("list")
def list_all(context: typer.Context, as_json: AsJson = False) -> None:
    """List the sources, with the newest version of each and what waits."""
    found = opened(context).status().to_dict()["sources"]
    if as_json:
        emit({"sources": found})
    elif not found:
        say("no sources yet: slacktide source add --help")
    else:
        show_sources(found)


@sources.command("arrivals")
def arrivals(
    context: typer.Context,
    name: Name,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the files that were accepted, the newest first, and which are no longer needed."""
    found = opened(context).arrivals(name, limit=limit)
    if as_json:
        emit({"source": name, "arrivals": found})
    elif not found:
        say(f"source {name} has no arrivals yet")
    else:
        show_table(("version", "file", "rows", "bytes", "accepted", "marks"), _lines(found))


def _lines(found: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (
            one["version"],
            file,
            one["rows"],
            one["bytes"],
            to_the_second(one["accepted"]),
            _marks_of(one),
        )
        for one in found
        for file in one["files"]
    ]


def _marks_of(arrival: Mapping[str, Any]) -> str:
    marks = ["skipped"] if arrival["skipped"] else []
    return "; ".join(marks if arrival["needed"] else [*marks, "no longer needed"])


def show_sources(found: dict[str, dict[str, Any]]) -> None:
    """Print the sources of a status."""
    rows = [
        (
            name,
            entry["kind"],
            entry["version"],
            entry["landed"],
            entry["rows"],
            _marks(entry),
        )
        for name, entry in sorted(found.items())
    ]
    show_table(("source", "kind", "version", "landed", "rows", "marks"), rows)
    for name, entry in sorted(found.items()):
        if entry["error"]:
            say(f"source {name} takes nothing in: {entry['error']['message']}")
            say(f"  {entry['error']['hint']}")


def _marks(entry: dict[str, Any]) -> str:
    marks = ["held"] if entry["held"] else []
    if entry["skipped"]:
        marks.append(f"skipped {', '.join(map(str, entry['skipped']))}")
    if entry["extra"]:
        marks.append("ignores " + ", ".join(f"{c['name']} {c['type']}" for c in entry["extra"]))
    if entry["quarantined"]:
        marks.append(f"{entry['quarantined']} rows in quarantine at {entry['quarantine']}")
    if entry["complete"]:
        marks.append(f"complete to {entry['complete'][-1]}")
    return "; ".join(marks)


@sources.command("alter")
def alter(
    context: typer.Context,
    name: Name,
    *,
    schema: Annotated[
        str, typer.Option(metavar="DDL", help="All columns: those that it has, then the new ones.")
    ],
    as_json: AsJson = False,
) -> None:
    """Give a source more columns; older files have NULL there.

    Views mean what they meant, but for those that name all columns, as SELECT * does.
    """
    workspace = opened(context)
    if any(name in view["sources"] for view in workspace.status().views.values()):
        with spark_session("alter") as spark, progress("reading the views again"):
            replaced = workspace.alter_source(spark, name, schema=schema)
    else:
        replaced = workspace.alter_source(None, name, schema=schema)
    if as_json:
        emit({"source": name, "schema": schema, "replaced": list(replaced)})
        return
    say(f"source {name} has the columns {schema}")
    if replaced:
        say(f"views that mean something else now, and are computed anew: {', '.join(replaced)}")


@sources.command("drop")
def drop(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Forget a source that no view reads; its files stay."""
    opened(context).drop_source(name)
    _done({"dropped": name}, f"source {name} is dropped; its files are untouched", as_json)


@sources.command("skip")
def skip(
    context: typer.Context,
    name: Name,
    arrival: Annotated[str, typer.Argument(help="A version, or the name of a file.")],
    as_json: AsJson = False,
) -> None:
    """Leave an arrival out for good."""
    what = _number_or_text(arrival) or arrival
    opened(context).skip(name, what)
    _done({"source": name, "skipped": what}, f"source {name} goes on without {arrival}", as_json)


@sources.command("hold")
def hold(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Take nothing new from a source while others go on."""
    opened(context).hold_source(name)
    _done({"source": name, "held": True}, f"source {name} is held", as_json)


@sources.command("release")
def release(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Take new arrivals of a held source again."""
    opened(context).hold_source(name, held=False)
    _done({"source": name, "held": False}, f"source {name} is released", as_json)


@sources.command("complete")
def complete(
    context: typer.Context,
    name: Name,
    until: Annotated[str, typer.Argument(help="A point in time, as in 2026-01-31.")],
    as_json: AsJson = False,
) -> None:
    """Say that all data up to a point in time has come."""
    opened(context).mark_complete(name, until)
    text = f"source {name} is complete up to {until}"
    _done({"source": name, "complete": until}, text, as_json)


@sources.command("reset")
def reset(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Forget the history of a source; the views over it are built anew."""
    opened(context).reset_source(name)
    text = f"source {name} begins anew; its views are rebuilt by the next refresh"
    _done({"reset": name}, text, as_json)


def _done(document: dict[str, Any], text: str, as_json: bool) -> None:
    if as_json:
        emit(document)
    else:
        say(text)

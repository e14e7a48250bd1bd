"""The commands of ``slacktide view``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slacktide.cli.access import AsJson, opened, spark_session
from slacktide.cli.screen import emit, progress, say, sentence, sentences, show_table, told
from slacktide.common.reasons import Reason
from slacktide.errors import InvalidSettingError, QueryError

if TYPE_CHECKING:
    from slacktide.engine.telling.explanation import Explanation

views = typer.Typer(no_args_is_help=True, help="Queries whose answers are kept up to date.")
Name = Annotated[str, typer.Argument(help="The view.")]
Sql = Annotated[str | None, typer.Option("--sql", metavar="TEXT", help="The query itself.")]
File = Annotated[
    str | None, typer.Option("--file", "-f", metavar="FILE", help="A file with it; - is stdin.")
]
Policy = Annotated[
    str | None,
    typer.Option(
        help="auto (the cheaper way), incremental (refused where the query cannot be), or full."
    ),
]
Setting = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Another setting, as in goal='{\"rounds\": 24}'; repeatable.",
    ),
]
Sink = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="Publish the answer there, as a directory of Parquet files; in an object store "
        "PATH/_latest.json names the folder.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the verdict and write nothing.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(views, name="view")


@views.command("add")
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The name of the view.")],
    *,
    sql: Sql = None,
    file: File = None,
    policy: Policy = None,
    sink: Sink = None,
    setting: Setting = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Add a view, after showing what of it is incremental, and what is not and why.

    Without --sql and --file the query is read from standard input.
    """
    _put(context, name, (sql, file), _settings(policy, sink, setting), (False, dry_run, as_json))


@views.command("replace")
def replace(
    context: typer.Context,
    name: Name,
    *,
    sql: Sql = None,
    file: File = None,
    policy: Policy = None,
    sink: Sink = None,
    setting: Setting = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Give a view another query, or other settings; views that read it are read again.

    Settings that are not given are gone, --sink too: give the query and all settings again.
    Its last answer stays until the next refresh. A query that means the same keeps it.
    """
    _put(context, name, (sql, file), _settings(policy, sink, setting), (True, dry_run, as_json))


def _put(
    context: typer.Context,
    name: str,
    given: tuple[str | None, str | None],
    settings: dict[str, Any],
    modes: tuple[bool, bool, bool],
) -> None:
    from slacktide.engine.definitions.drafts import check_settings, notice_of
    from slacktide.engine.definitions.places import sink_path
    from slacktide.engine.telling.explanation import explain_read

    replacing, dry_run, as_json = modes
    text = query_text(*given)
    check_settings(name, settings)  # before Spark is started for nothing
    workspace = opened(context)
    old = workspace.sinks().get(name) if replacing else None
    with spark_session("view") as spark:
        with progress("reading the query"):
            draft = workspace.draft_view(spark, name, text, **settings)
        verdict = explain_read(name, draft.view)
        if not as_json:
            show_verdict(name, verdict)
            if notice := notice_of(name, draft.settings):
                say(notice)
        if not dry_run:
            put = workspace.replace_view if replacing else workspace.add_view
            with progress("writing the view"):
                put(spark, name, text, **settings)
    done = "replaced" if replacing else "added"
    if as_json:
        document = {"name": name, "is_incremental": verdict.is_incremental}
        emit({**document, "reasons": verdict.reasons, "written": not dry_run})
    elif dry_run:
        say("nothing is written, as --dry-run asks")
    else:
        say(f"view {name} is {done}; slacktide refresh computes its answer")
        if old not in {None, sink_path(draft.settings)}:
            say(f"view {name} is no longer published to {old}; what is there stays")


def show_verdict(name: str, verdict: Explanation) -> None:
    """Print whether a view is incremental, and why what is not is not."""
    if verdict.is_incremental:
        say(f"view {name} is incremental: a refresh reads what changed, and what it remembers")
        return
    asks_clock = any(Reason.parse(reason).code == "CLOCK" for reason in verdict.reasons)
    when = "by every run" if asks_clock else "whenever its sources change"
    say(f"view {name} is recomputed in full {when}, because")
    for reason in verdict.reasons:
        say(f"  {sentence(reason)}")


def query_text(sql: str | None, file: str | None) -> str:
    """Give the query from the one place that the user named; standard input where none.

    Raises:
        InvalidSettingError: two places, no place, or a file that cannot be read.
        QueryError: the text is empty.
    """
    if sql is not None and file is not None:
        raise InvalidSettingError("--sql and --file are both given", hint="give one of them")
    if sql is not None:
        text = sql
    elif file is not None and file != "-":
        text = _file_text(file)
    elif file is None and sys.stdin.isatty():
        raise InvalidSettingError(
            "no query is given", hint="give --sql TEXT or --file FILE, or pipe it in"
        )
    else:
        text = sys.stdin.read()
    if not text.strip():
        raise QueryError("the query is empty", hint="give --sql TEXT or --file FILE, or pipe it in")
    return text


def _file_text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InvalidSettingError(
            f"the file {file} cannot be read: {reason}", hint="name a text file with the query"
        ) from error


def _settings(policy: str | None, sink: str | None, given: list[str] | None) -> dict[str, Any]:
    settings: dict[str, Any] = {} if policy is None else {"policy": policy}
    if sink is not None:
        settings["sink"] = {"parquet": sink}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise InvalidSettingError(
                f"--set {text!r} is not of the form NAME=VALUE", hint="such as --set policy=full"
            )
        settings[name.strip()] = _json_or_text(value)
    return settings


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


@views.command("list")
def list_all(context: typer.Context, as_json: AsJson = False) -> None:
    """List the views, how each is kept, and the versions of its answer."""
    found = opened(context).status().to_dict()["views"]
    if as_json:
        emit({"views": found})
    elif not found:
        say("no views yet: slacktide view add --help")
    else:
        show_views(found)


def show_views(found: dict[str, dict[str, Any]]) -> None:
    """Print the views of a status."""
    rows = [
        (
            name,
            _state(entry),
            "in full" if entry["obstacles"] else "incremental",
            entry["run"],
            entry["behind"],
            sentences(entry["obstacles"]),
        )
        for name, entry in sorted(found.items())
    ]
    show_table(("view", "is", "kept", "run", "behind", "why"), rows, firm={"is", "kept"})
    for name, entry in sorted(found.items()):
        if entry["period"] is not None:
            done, of = entry["period"]["refreshes"], entry["period"]["of"]
            which = "next" if entry["period"]["answers_next"] else "last"
            say(
                f"view {name}: {done} of {of} refreshes since its last answer; the {which} one answers"
            )
        if entry["sink"] is not None:
            say(f"view {name} is published to {entry['sink']['path']}: {_sink(entry['sink'])}")


def _sink(sink: dict[str, Any]) -> str:
    if sink["error"] is not None:
        return told(sink["error"])
    seen = "nothing yet" if sink["run"] is None else f"run {sink['run']}"
    return f"{seen}, behind until the next refresh" if sink["behind"] else seen


def _state(entry: dict[str, Any]) -> str:
    state = "paused" if entry["paused"] else "active"
    if entry["replaced"]:
        return f"{state}, replaced: the answer is of the former text"
    return f"{state}, to be made anew" if entry["anew"] else state


@views.command("drop")
def drop(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Forget a view and its answer."""
    opened(context).drop_view(name)
    _done({"dropped": name}, f"view {name} is dropped", as_json)


@views.command("pause")
def pause(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Keep the last answer of a view and run nothing for it."""
    opened(context).pause_view(name)
    _done({"view": name, "paused": True}, f"view {name} is paused", as_json)


@views.command("resume")
def resume(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Bring a paused view up to date again, from the next refresh on."""
    opened(context).pause_view(name, paused=False)
    _done({"view": name, "paused": False}, f"view {name} is active again", as_json)


def _done(document: dict[str, Any], text: str, as_json: bool) -> None:
    if as_json:
        emit(document)
    else:
        say(text)

"""The commands that read answers: ``read`` and ``changes``."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import time
from decimal import Decimal
from enum import StrEnum
from itertools import chain, islice
from typing import Annotated, Any

import typer

from slacktide.cli.access import AsJson, opened, spark_session
from slacktide.cli.screen import progress, say, show_table
from slacktide.errors import InvalidSettingError

_SHOWN = 50
_MOST = 2**31 - 2  # Spark counts them in an INT, and one more is asked for
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


class Form(StrEnum):
    """How rows are printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", "-n", min=0, max=_MOST, help=f"Rows at most; {_SHOWN} in a table, else all."
    ),
]
Format = Annotated[Form, typer.Option("--format", help="How to print the rows.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("read")(read)
    app.command("changes")(changes)


def read(
    context: typer.Context,
    view: Annotated[str, typer.Argument(help="The view.")],
    limit: Limit = None,
    run: Annotated[int | None, typer.Option(help="The answer as this run left it.")] = None,
    form: Format = Form.TABLE,
    as_json: AsJson = False,
) -> None:
    """Print the answer of a view."""
    workspace = opened(context)
    workspace.explain(view)  # a view that is not there is found out before Spark starts
    with spark_session("read") as spark:
        with progress("reading"):
            frame = workspace.read(spark, view, run=run)
        _print(frame, {"view": view, "run": run}, Form.JSON if as_json else form, limit)


def changes(
    context: typer.Context,
    view: Annotated[str, typer.Argument(help="The view.")],
    since: Annotated[int, typer.Option(help="Changes after this run; 0 is the beginning.")],
    until: Annotated[int | None, typer.Option(help="Up to this run; the newest if absent.")] = None,
    limit: Limit = None,
    form: Format = Form.TABLE,
    as_json: AsJson = False,
) -> None:
    """Print how the answer of a view changed from run to run."""
    if until is not None and until < since:
        raise InvalidSettingError(
            f"--until {until} is before --since {since}", hint="give a later run, or none"
        )
    workspace = opened(context)
    workspace.explain(view)  # a view that is not there is found out before Spark starts
    with spark_session("changes") as spark:
        with progress("reading"):
            frame = workspace.changes(spark, view, since=since, until=until)
        document = {"view": view, "since": since, "until": until}
        _print(frame, document, Form.JSON if as_json else form, limit)


def _print(frame: Any, document: Mapping[str, Any], form: Form, limit: int | None) -> None:
    """Print rows; a file that is found damaged only when its pages are read is told as such."""
    from slacktide.spark.failures.translation import translated
    from slacktide.spark.texts.readable import readable

    with translated(f"view {document['view']}"), readable(frame) as shown:
        _print_as(frame, shown, document, form, limit)


def _print_as(
    frame: Any, shown: Any, document: Mapping[str, Any], form: Form, limit: int | None
) -> None:
    most = _SHOWN if form is Form.TABLE and limit is None else limit
    rows = _rows(shown, None if most is None else most + (form is Form.TABLE))
    columns = [
        {"name": field.name, "type": field.dataType.simpleString(), "nullable": field.nullable}
        for field in frame.schema.fields
    ]
    match form:
        case Form.TABLE:
            _print_table(columns, rows, _SHOWN if most is None else most)
        case Form.CSV:
            _print_csv([column["name"] for column in columns], rows)
        case Form.JSON:
            _print_json({**document, "columns": columns}, rows)


def _rows(frame: Any, most: int | None) -> Iterator[Sequence[Any]]:
    """Give rows as they come from Spark, a partition at a time; the first before anything prints."""
    if most is not None:
        return iter(frame.limit(most).collect())
    rows = iter(frame.toLocalIterator())
    return chain(list(islice(rows, 1)), rows)


def _print_table(columns: Sequence[Mapping[str, Any]], rows: Iterator[Any], most: int) -> None:
    shown = [
        ["NULL" if value is None else _text(value) for value in row] for row in islice(rows, most)
    ]
    numbers = {column["name"] for column in columns if column["type"].startswith(_NUMBERS)}
    show_table([column["name"] for column in columns], shown, right=numbers)
    if next(rows, None) is not None:
        say(f"the first {most} rows; --limit N shows more, --format csv all")
    else:
        say(f"{len(shown)} row{'' if len(shown) == 1 else 's'}")


def _print_csv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    write = sys.stdout.write
    write(",".join(_quoted(name) for name in names) + "\r\n")
    for row in rows:
        write(",".join("" if value is None else _quoted(_text(value)) for value in row) + "\r\n")


def _quoted(text: str) -> str:
    """Quote a text where it must be; an empty one too, since nothing at all is NULL."""
    if text and not any(sign in text for sign in ',"\r\n'):
        return text
    escaped = text.replace('"', '""')
    return f'"{escaped}"'


def _print_json(document: Mapping[str, Any], rows: Iterable[Sequence[Any]]) -> None:
    """Print one document, row by row, so that a long answer need not fit into memory."""
    write = sys.stdout.write
    head = json.dumps(document, ensure_ascii=False, default=str)
    write(f'{head[:-1]}, "rows": [')
    for place, row in enumerate(rows):
        line = json.dumps([_plain(value) for value in row], ensure_ascii=False, allow_nan=False)
        write(f"{',' if place else ''}\n  {line}")
    write("\n]}\n")


def _plain(value: Any) -> Any:
    """Give a value in the types of JSON; decimals and special numbers stay exact as texts."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case dict():
            return [[_plain(key), _plain(item)] for key, item in value.items()]
        case list():
            return [_plain(item) for item in value]
        case tuple():
            fields = getattr(value, "__fields__", None)
            items = [_plain(item) for item in value]
            return dict(zip(fields, items, strict=True)) if fields else items
        case _ if _is_variant(value):
            return json.loads(value.toJson())
        case _:
            return _text(value)


def _is_variant(value: object) -> bool:
    """Whether a value is of type VARIANT, of which PySpark has the class."""
    return hasattr(value, "toJson")


def _text(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return value
        case time():
            return value.isoformat()
        case bytes() | bytearray():
            return value.hex()
        case Decimal():
            return f"{value:f}"
        case _ if value is None or isinstance(value, dict | list | tuple) or _is_variant(value):
            return json.dumps(_plain(value), ensure_ascii=False)
        case _:
            return str(value)

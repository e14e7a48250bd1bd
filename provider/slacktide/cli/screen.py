"""What the command line prints: documents, tables, errors and progress."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NoReturn, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from slacktide.common.reasons import Reason
from slacktide.errors import SlacktideError

_UNBOUNDED = 10_000  # a pipe has no width: what is cut or wrapped there cannot be searched


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the edge of the program, which ends quietly."""
        raise BrokenPipeError


def console(stream: TextIO | None = None) -> Console:
    """Make a console on standard output, or on another stream, that wraps in terminals only."""
    file = sys.stdout if stream is None else stream
    width = None if file.isatty() else _UNBOUNDED
    return _Console(file=file, width=width, highlight=False, markup=False, emoji=False)


def say(text: str, *, style: str = "") -> None:
    """Print plain text; in a terminal it wraps between words."""
    console().print(Text(text, style=style))


def quiet(_text: str) -> None:
    """Say nothing: a document is all that a program reads."""


def emit(document: object) -> None:
    """Print one JSON document."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n")


def show_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Collection[str] | None = None,
    firm: Collection[str] = (),
) -> None:
    """Print a table whose long texts wrap inside their cells.

    Args:
        columns: the heads.
        rows: the values of each row.
        right: the columns that stand right and never wrap; those of numbers alone if not given.
        firm: other columns that never wrap, besides the first.
    """
    values = [list(row) for row in rows]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, name in enumerate(columns):
        numeric = all(_is_number(row[place]) for row in values) if right is None else name in right
        table.add_column(
            Text(name),
            justify="right" if numeric else "left",
            no_wrap=numeric or place == 0 or name in firm,
            overflow="fold",
        )
    for row in values:
        table.add_row(*(Text(_spelled(value)) for value in row))
    console().print(table)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _spelled(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.2f}"
        case _:
            return str(value)


def sentence(reason: object) -> str:
    """Give a reason in words, from itself or from the text that a document holds."""
    return (reason if isinstance(reason, Reason) else Reason.parse(str(reason))).sentence


def sentences(reasons: Iterable[object]) -> str:
    """Give reasons in words, one after the other."""
    return "; ".join(sentence(reason) for reason in reasons)


def error_line(error: SlacktideError) -> str:
    """Give an error as the one line that goes to standard error."""
    return f"error: {error}"


def told(error: Mapping[str, str]) -> str:
    """Give an error in words, from the document that a report or a status holds."""
    hint = f" ({error['hint']})" if error.get("hint") else ""
    return f"{error['message']}{hint}"


def print_error(error: SlacktideError, *, as_json: bool) -> None:
    """Print an error: a document for programs, a line for people."""
    if as_json:
        emit({"error": error.to_dict()})
        return
    sys.stdout.flush()
    console(sys.stderr).print(Text(error_line(error), style="red"), soft_wrap=True)


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Show that something long is going on, where a person looks; silent otherwise."""
    if not sys.stderr.isatty():
        yield
        return
    # A copy of its own: standard error itself may be led elsewhere while Java starts.
    with (
        os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8") as copy,
        console(copy).status(Text(what)),
    ):
        yield


def bytes_text(count: object) -> str:
    """Give a number of bytes as people read it; a dash where it is not known."""
    if not isinstance(count, int | float):
        return "-"
    size = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def to_the_second(instant: str) -> str:
    """An instant as tables show it."""
    return instant[:19].replace("T", " ")

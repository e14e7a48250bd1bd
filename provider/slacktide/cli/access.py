"""What every command needs: the workspace that the user named, and a Spark session where one is due."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slacktide.cli.screen import progress
from slacktide.errors import InvalidSettingError

if TYPE_CHECKING:
    from slacktide.engine.workspace import Workspace

STORAGE_OPTIONS = "SLACKTIDE_STORAGE_OPTIONS"
DEBUG = "SLACKTIDE_DEBUG"

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Views = Annotated[
    list[str] | None,
    typer.Option("--views", "-v", metavar="NAMES", help="These views only; with commas or again."),
]

Due = Annotated[
    bool,
    typer.Option("--due", help="Answer now, those views too that answer at a later refresh."),
]


def root_of(context: typer.Context) -> str:
    """Give the root that the user named.

    Raises:
        InvalidSettingError: none was.
    """
    root = context.find_root().obj
    if not isinstance(root, str) or not root.strip():
        raise InvalidSettingError(
            "no workspace is named",
            hint="give slacktide --workspace ROOT, or set SLACKTIDE_WORKSPACE",
        )
    return root


def storage_options() -> dict[str, Any] | None:
    """Read the options of the object store from the environment; a command line would show them.

    Raises:
        InvalidSettingError: they are no JSON object.
    """
    text = os.environ.get(STORAGE_OPTIONS)
    if not text:
        return None
    try:
        options = json.loads(text)
    except ValueError:
        options = None
    if not isinstance(options, dict):
        raise InvalidSettingError(
            f"{STORAGE_OPTIONS} is not a JSON object",
            hint='such as {"region": "eu-west-1"}',
        )
    return options


def opened(context: typer.Context) -> Workspace:
    """Open the workspace that the user named."""
    from slacktide.engine.workspace import Workspace

    return Workspace.open(root_of(context), storage_options=storage_options())


@contextmanager
def spark_session(app: str, *, conf: Mapping[str, str] | None = None) -> Iterator[Any]:
    """Give a session on this machine, and stop it afterwards where it was started for this."""
    from slacktide.spark.sessions.lease import leased_session

    with leased_session(
        f"slacktide {app}",
        conf=conf,
        starting=lambda: progress("starting Spark"),
        loud=bool(os.environ.get(DEBUG)),
    ) as session:
        yield session


def numbers(given: str | None) -> list[float]:
    """Split numbers with commas between them; none where no text was given.

    Raises:
        InvalidSettingError: something stands there that is no number.
    """
    try:
        return [] if given is None else [float(one) for one in given.split(",")]
    except ValueError as error:
        raise InvalidSettingError(
            f"{given!r} has something that is no number",
            hint="give numbers with commas between them",
        ) from error


def names(given: list[str] | None) -> list[str] | None:
    """Split names that were given with commas, or one by one; None where none were.

    Raises:
        InvalidSettingError: a text was given that names nothing.
    """
    for text in given or ():
        if not text.strip(" ,"):
            raise InvalidSettingError(
                f"{text!r} names nothing", hint="give names with commas between them"
            )
    split = [name.strip() for text in given or () for name in text.split(",")]
    return [name for name in split if name] or None


def pairs(given: list[str] | None, option: str) -> dict[str, str] | None:
    """Read options of the form NAME=VALUE; None where none were given.

    Raises:
        InvalidSettingError: there is no equals sign, or one name has two values.
    """
    found: dict[str, str] = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise InvalidSettingError(
                f"{option} {text!r} is not of the form NAME=VALUE", hint=f"such as {option} a=b"
            )
        if found.setdefault(name.strip(), value) != value:
            raise InvalidSettingError(
                f"{option} gives {name.strip()} two values", hint="give each name once"
            )
    return found or None

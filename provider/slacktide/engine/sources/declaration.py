"""What a user declares of a source: every argument checked, the columns found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import Any, Final

from slacktide.common.change_feed import CHANGE_TYPE, COMMIT_VERSION
from slacktide.common.names import check_name, is_name
from slacktide.common.quantities import parse_bytes, parse_duration
from slacktide.engine.sources.ddl import Column, check_names, parse_ddl
from slacktide.engine.sources.directory import open_directory
from slacktide.engine.sources.footer import FOOTED
from slacktide.engine.sources.inspection import (
    Expected,
    check_columns,
    file_columns,
    relation_columns,
)
from slacktide.engine.sources.options import check_options, wrong_value
from slacktide.errors import InvalidSettingError, SourceError
from slacktide.store.address import parse_address

KINDS: Final = ("files", "change-feed")
FORMATS: Final = ("parquet", "csv", "json", "orc", "avro")
_SERVICE: Final = {CHANGE_TYPE: "STRING", COMMIT_VERSION: "BIGINT"}


@dataclass(frozen=True, slots=True)
class Declaration:
    """A source as it may be written to the log.

    Attributes:
        arguments: with the path in the spelling of the workspace, and the format.
        schema: the columns of the relation.
    """

    arguments: dict[str, Any]
    schema: tuple[Column, ...]


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Say of which source a wrong setting is, as one Variable declares many."""
    try:
        yield
    except InvalidSettingError as error:
        raise InvalidSettingError(f"source {source}: {error.message}", hint=error.hint) from error


def check_source(
    name: str,
    kind: str,
    arguments: Mapping[str, Any],
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> Declaration:
    """Check what a user declares of a source, and look at its directory.

    Raises:
        InvalidNameError: the name is not allowed.
        InvalidSettingError: the kind, an argument or the schema is not known.
        SourceError: the directory cannot be read, or its first file is not as declared.
    """
    check_name("source", name)
    checked = check_arguments(kind, arguments)
    schema = infer_schema(kind, checked, storage_options=storage_options)
    names = [column["name"] for column in schema]
    for argument in ("key", "references"):
        for column in checked.get(argument, ()):
            _check_column(argument, column, names)
    for column in schema:
        if column["name"] in checked.get("key", ()) and "<" in column["type"]:
            raise InvalidSettingError(
                f"key names the column {column['name']} of type {column['type']}",
                hint="a key is made of columns with plain types",
            )
    return Declaration(checked, schema)


def infer_schema(
    kind: str, arguments: Mapping[str, Any], *, storage_options: Mapping[str, Any] | None = None
) -> tuple[Column, ...]:
    """Find the columns of a relation: as declared, else from the footer of the first file.

    Raises:
        InvalidSettingError: an argument is wrong, or the format needs a schema and has none.
        SourceError: the directory cannot be read or is empty, or its first file does not fit.
    """
    checked = check_arguments(kind, arguments)
    file_format, text = checked["format"], checked.get("schema")
    declared = None if text is None else declared_columns(kind, file_format, text)
    directory = open_directory(checked["path"], storage_options)
    if file_format not in FOOTED:
        return declared or ()
    first = min(directory.files(), key=lambda file: (file.modified, file.key), default=None)
    if first is None:
        if declared is None:
            raise SourceError(
                f"{checked['path']} has no data file yet, so its columns are not known",
                hint='give its schema, as in "id BIGINT, name STRING", or add the source when a file is there',
            )
        return declared
    path = directory.path(first.key)
    found = file_columns(directory, first.key, Expected("", kind, file_format, ()))
    if declared is not None:
        check_columns(path, found, Expected("", kind, file_format, declared))
        return declared
    columns = relation_columns(path, found, Expected("", kind, file_format, ()))
    check_names([column["name"] for column in columns])
    return columns


def check_arguments(kind: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Check the kind and the arguments of a source, and fill in what has a default.

    Raises:
        InvalidSettingError: one of them is not known or has a value that it cannot have.
    """
    if kind not in KINDS:
        raise InvalidSettingError(
            f"there is no source kind {kind!r}", hint=f"use one of: {', '.join(KINDS)}"
        )
    unknown = sorted(arguments.keys() - _CHECKS.keys())
    if unknown:
        raise InvalidSettingError(
            f"a source of kind {kind} has no argument {unknown[0]!r}",
            hint=f"use one of: {', '.join(_CHECKS)}",
        )
    given = {"format": "parquet", **{k: v for k, v in arguments.items() if v is not None}}
    if "path" not in given:
        raise InvalidSettingError(
            f"a source of kind {kind} needs a path", hint="give the path where its files land"
        )
    checked = {name: check(given[name]) for name, check in _CHECKS.items() if name in given}
    text_format = checked["format"]
    if text_format not in FOOTED and "schema" not in checked:
        raise InvalidSettingError(
            f"{text_format} files need a schema",
            hint='give the columns, as in "id BIGINT, name STRING"',
        )
    if "quarantine" in checked and text_format not in {"csv", "json"}:
        raise InvalidSettingError(
            f"quarantine is for csv and json, not for {text_format}", hint="leave it out"
        )
    options = {key.lower(): str(value).lower() for key, value in checked.get("options", {}).items()}
    is_document = text_format == "json" and options.get("multiline") == "true"
    if "quarantine" in checked and is_document:
        raise InvalidSettingError(
            "quarantine is for json of one row in a line: in a document of many, Spark does not tell "
            "which row does not fit",
            hint="leave out multiLine, or the quarantine",
        )
    return checked


def declared_columns(kind: str, file_format: str, text: str) -> tuple[Column, ...]:
    """Read a schema as the columns of the relation, without those that only a feed has.

    Raises:
        InvalidSettingError: the text is no schema, or says what such files cannot show.
    """
    columns = parse_ddl(_text("schema")(text))
    if file_format not in FOOTED:
        strict = next((column["name"] for column in columns if not column["nullable"]), None)
        if strict is not None:
            raise InvalidSettingError(
                f"the schema says NOT NULL of {strict}, which {file_format} files cannot show",
                hint="leave NOT NULL out",
            )
    if kind != "change-feed":
        return columns
    _check_service(file_format, columns)
    relation = tuple(column for column in columns if column["name"] not in _SERVICE)
    if not relation:
        raise InvalidSettingError(
            "the schema has no column of the relation", hint="name the columns of its rows"
        )
    return relation


def _check_service(file_format: str, columns: tuple[Column, ...]) -> None:
    """Check the columns that only a feed has; they need not be declared."""
    names = [column["name"] for column in columns]
    for column in columns:
        wanted = _SERVICE.get(column["name"], column["type"])
        if column["type"] != wanted:
            raise InvalidSettingError(
                f"the schema gives {column['name']} the type {column['type']}",
                hint=f"it is {wanted}, and may be left out of the schema",
            )
    # CSV is read by position: what Spark is told must be what stands in the file.
    if file_format == "csv" and COMMIT_VERSION in names:
        raise InvalidSettingError(
            f"csv change feeds have no column {COMMIT_VERSION}",
            hint=f"write the columns of the relation, then {CHANGE_TYPE}, and nothing else",
        )
    if file_format == "csv" and CHANGE_TYPE in names[:-1]:
        raise InvalidSettingError(
            f"{CHANGE_TYPE} is not the last column of the csv change feed",
            hint=f"write the columns of the relation first, then {CHANGE_TYPE}",
        )


def _check_column(argument: str, column: str, names: list[str]) -> None:
    if column not in names:
        raise InvalidSettingError(
            f"{argument} names the column {column}, which the source does not have",
            hint=f"its columns are: {', '.join(names)}",
        )


def _text(argument: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise wrong_value(argument, value, "a text")
        return value

    return check


def _place(argument: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        return parse_address(
            _text(argument)(str(value) if isinstance(value, PathLike) else value)
        ).spelling

    return check


def _format(value: Any) -> str:
    if value not in FORMATS:
        raise wrong_value("format", value, f"one of {', '.join(FORMATS)}")
    return str(value)


def _mapping(argument: str, value: Any, wanted: str) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise wrong_value(argument, value, wanted)
    return dict(value)


def _options(value: Any) -> dict[str, Any]:
    options = _mapping("options", value, "a mapping from names to plain values")
    check_options(options)
    return options


def _key(value: Any) -> list[str]:
    wanted = "a list of column names"
    if isinstance(value, str) or not isinstance(value, list | tuple) or not value:
        raise wrong_value("key", value, wanted)
    if not all(isinstance(one, str) for one in value) or len(set(value)) != len(value):
        raise wrong_value("key", value, f"{wanted}, each once")
    return list(value)


def _references(value: Any) -> dict[str, str]:
    wanted = 'a mapping from columns to "source.column"'
    references = _mapping("references", value, wanted)
    for target in references.values():
        if not isinstance(target, str) or not _is_column(target):
            raise wrong_value("references", value, wanted)
    return references


def _is_column(text: str) -> bool:
    source, dot, column = text.partition(".")
    return is_name(source) and bool(dot and column)


def _append_only(value: Any) -> bool:
    if not isinstance(value, bool):
        raise wrong_value("append_only", value, "true or false")
    return value


def _settle(value: Any) -> str:
    parse_duration(value, setting="settle")
    return str(value)


def _expect(value: Any) -> dict[str, Any]:
    wanted = 'a mapping such as {"every": "10min", "rows": 50000}'
    expect = _mapping("expect", value, wanted)
    if not expect.keys() <= {"every", "rows"}:
        raise wrong_value("expect", value, wanted)
    if "every" in expect:
        parse_duration(expect["every"], setting="expect every")
    rows = expect.get("rows", 0)
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 0:
        raise wrong_value("expect rows", rows, "a number of rows")
    return expect


def _max_backlog(value: Any) -> int | str:
    wanted = 'a number of arrivals, or bytes as in "2GB"'
    if isinstance(value, str):
        if parse_bytes(value, setting="max_backlog") < 1:
            raise wrong_value("max_backlog", value, wanted)
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise wrong_value("max_backlog", value, wanted)
    return value


_CHECKS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "path": _place("path"),
    "format": _format,
    "schema": _text("schema"),
    "options": _options,
    "key": _key,
    "references": _references,
    "append_only": _append_only,
    "settle": _settle,
    "expect": _expect,
    "max_backlog": _max_backlog,
    "quarantine": _place("quarantine"),
}

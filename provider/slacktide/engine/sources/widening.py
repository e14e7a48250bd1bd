"""A source gains columns: which it may, and what is known of them already."""

from __future__ import annotations

from typing import Any, Final

from slacktide.engine.sources.ddl import Column, stored_form, to_ddl
from slacktide.engine.sources.declaration import Declaration, declared_columns
from slacktide.errors import InvalidSettingError
from slacktide.store.record import Source

# Files of other formats name their columns, so that one that a file lacks is NULL.
_BY_POSITION: Final = "csv"


def widened(source: Source, schema: str) -> Declaration:
    """Give a source with more columns than it has.

    Args:
        source: as the log has it.
        schema: all its columns as Spark DDL: those that it has, then new ones.

    Raises:
        InvalidSettingError: the schema is not that, or files show a new column with another type.
    """
    file_format = source.arguments["format"]
    columns = declared_columns(source.kind, file_format, schema)
    _check_begins(source, columns)
    if len(columns) > len(source.schema) and file_format == _BY_POSITION:
        raise InvalidSettingError(
            f"source {source.name} is read from csv by position, and cannot gain columns",
            hint="add a source of its own for the wider files, and unite the two in the view",
        )
    if len(columns) > len(source.schema) and "quarantine" in source.arguments:
        raise InvalidSettingError(
            f"source {source.name} has a quarantine, for which its rows were told apart by the columns "
            "that it has",
            hint="add a source of its own for the wider files, and unite the two in the view",
        )
    added = columns[len(source.schema) :]
    for column in added:
        _check_added(source, column)
    wide = (*source.schema, *({**column, "added": True} for column in added))
    arguments = {**source.arguments, "schema": schema}
    return Declaration(arguments, tuple(dict(column) for column in wide))


def has_other_columns(source: Source, schema: str) -> bool:
    """Whether a schema has not just the columns of a source."""
    columns = declared_columns(source.kind, source.arguments["format"], schema)
    return len(columns) != len(source.schema) or _difference(source, columns) is not None


def is_wider(source: Source, schema: str) -> bool:
    """Whether a schema has the columns of a source and more of them."""
    columns = declared_columns(source.kind, source.arguments["format"], schema)
    return len(columns) > len(source.schema) and _difference(source, columns) is None


def wide_ddl(source: Source) -> str:
    """Write the columns of a source, and those that its files have besides, as DDL."""
    first: dict[str, Column] = {}
    for column in source.extra:
        plain = {"name": column["name"], "type": column["type"], "nullable": True}
        first.setdefault(column["name"], plain)
    return to_ddl((*(dict(column) for column in source.schema), *first.values()))


def _difference(source: Source, columns: tuple[Column, ...]) -> Column | None:
    """The first column of a source that does not stand in its place."""
    for place, known in enumerate(source.schema):
        same = place < len(columns) and all(
            columns[place][key] == known[key] for key in ("name", "type", "nullable")
        )
        if not same:
            return dict(known)
    return None


def _check_begins(source: Source, columns: tuple[Column, ...]) -> None:
    lost = _difference(source, columns)
    if lost is not None:
        raise InvalidSettingError(
            f"the schema does not keep the column {lost['name']} {lost['type']} of source "
            f"{source.name} in its place",
            hint=f"begin with its columns, and add others at the end: "
            f"{to_ddl(tuple(dict(column) for column in source.schema))}, …",
        )


def _check_added(source: Source, column: Column) -> None:
    name = column["name"]
    if not column["nullable"]:
        raise InvalidSettingError(
            f"the schema says NOT NULL of {name}, which older files of source {source.name} lack",
            hint="leave NOT NULL out of a column that is added",
        )
    for seen in source.extra:
        if seen["name"].lower() != name.lower():
            continue
        if (seen["name"], seen["type"]) != (name, stored_form(column["type"])):
            raise InvalidSettingError(
                f"source {source.name} has the column {seen['name']} of type {seen['type']} in the "
                f"files of version {seen['version']}, and the schema adds {name} {column['type']}",
                hint="add it with the type that the files have; where they have several, let a "
                "column of another name be delivered",
            )


def seen_before(source: Source, schema: tuple[Any, ...]) -> int | None:
    """The first version whose files show a column that a wider schema adds; None for none.

    Of files that are not looked into when they are accepted, nothing is known: version 1.
    """
    names = {column["name"] for column in schema[len(source.schema) :]}
    if source.arguments["format"] in ("json", "avro"):
        return 1
    return min((c["version"] for c in source.extra if c["name"] in names), default=None)

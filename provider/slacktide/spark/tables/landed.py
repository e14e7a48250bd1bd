"""What stands in the files that landed at a source, as Spark reads it.

A line of text is checked whole, whatever a query reads of it: a line that does not fit the schema ends the
run, or is left out where the source has a quarantine. All that reads a source reads it here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from slacktide.algebra.literals import text_sql
from slacktide.algebra.sql import quoted
from slacktide.algebra.types import is_floating, type_sql
from slacktide.common.change_feed import CHANGE_TYPE, DELETES, INSERTS
from slacktide.spark.files.reading import STRICT
from slacktide.spark.sessions.shelf import Shelf
from slacktide.spark.texts import marks
from slacktide.store.address import parse_address
from slacktide.store.record import Source

FILE = "__slacktide_file"
ROW = "__slacktide_row"
_TEXTUAL = ("csv", "json")
# Of times that say no zone. It belongs to the source: sessions of other zones read the same rows.
_ZONE = "UTC"
_LEAST_INT = -(2**31)
_INSERTS, _DELETES = (", ".join(map(text_sql, words)) for words in (INSERTS, DELETES))
_PATTERN = re.compile(r"([{}\[\]*?\\])")


def changes_sql(shelf: Shelf, record: Source, after: int, until: int) -> str | None:
    """The columns of a source and ``__m``: what came after a version, until another; None for no file."""
    table = _landed(shelf, record, after, until)
    if table is None:
        return None
    columns = [(quoted(c["name"]), c["type"]) for c in record.schema]
    weight = _weight(record) if record.is_feed else "1L"
    values = ", ".join(f"{_unskipped(*column)} AS {column[0]}" for column in columns)
    return f"SELECT {values}, {weight} AS __m FROM {table}{_where(_fits(record))}"


def misfits_sql(shelf: Shelf, record: Source, after: int, until: int) -> str | None:
    """The file and the text of each row that does not fit; None for no file."""
    table = _landed(shelf, record, after, until)
    if table is None:
        return None
    misfit = [f"{ROW} IS NOT NULL", _whole(record)]
    return f"SELECT {FILE}, {ROW} FROM {table}{_where(misfit)}"


def _landed(shelf: Shelf, record: Source, after: int, until: int) -> str | None:
    paths = [
        literal_path(file.path)
        for version in range(after + 1, until + 1)
        if version not in record.skipped
        for file in record.arrivals[version - 1].files
    ]
    if not paths:
        return None
    fields = [*_fields(record), *([(ROW, "STRING")] if _has_quarantine(record) else [])]
    schema = ", ".join(f"{column} {type_sql(data_type)}" for column, data_type in fields)
    shelf.labels[paths[0]] = f"changes of {record.name}"
    kind = record.arguments.get("format", "parquet")
    reader = shelf.session.read.schema(schema).options(**_options(record, kind))
    frame = reader.format(kind).load(paths)
    if record.is_feed or _has_quarantine(record):
        # Asked for in this way, it is Spark's own where the files have a column of that name.
        frame = frame.select("*", frame.metadataColumn("_metadata")["file_path"].alias(FILE))
    return shelf.register(frame)


def literal_path(address: str) -> str:
    """The address as Spark takes it, read as it stands: Spark would take some signs for patterns."""
    return _PATTERN.sub(r"\\\1", parse_address(address).spark)


def _options(record: Source, kind: str) -> dict[str, str]:
    options = {key: str(value) for key, value in record.arguments.get("options", {}).items()}
    options |= STRICT
    if kind == "avro":
        options["ignoreExtension"] = "true"  # Spark would give no row of a file with another ending
    given = {key.casefold() for key in options}
    if kind in _TEXTUAL and "timezone" not in given:
        options["timeZone"] = _ZONE
    if kind == "csv" and "enforceschema" not in given:
        # By a header it is seen that columns stand in another order.
        options["enforceSchema"] = "false"
    if _has_quarantine(record):
        options |= {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": ROW}
    elif kind in _TEXTUAL:
        options["mode"] = "FAILFAST"
    return options


def _has_quarantine(record: Source) -> bool:
    return "quarantine" in record.arguments


def _fields(record: Source) -> list[tuple[str, str]]:
    """The columns that stand in the files of a source."""
    columns = [(quoted(c["name"]), c["type"]) for c in record.schema]
    return [*columns, (CHANGE_TYPE, "STRING")] if record.is_feed else columns


def _fits(record: Source) -> list[str]:
    """What must hold of a row to be one of the source."""
    if record.arguments.get("format", "parquet") not in _TEXTUAL:
        return []
    return [*([f"{ROW} IS NULL"] if _has_quarantine(record) else []), _whole(record)]


def _whole(record: Source) -> str:
    """Holds of every row, and has Spark look at all its columns: it checks what it needs alone.

    Of a hash Spark does not know that it is no less than the least INT; of simpler terms it does.
    """
    nulls = ", ".join(f"{column} IS NULL" for column, _ in _fields(record))
    return f"hash({nulls}) >= {_LEAST_INT}"


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _unskipped(column: str, data_type: str) -> str:
    """A column without the statistics of its file, where these may leave out NaN.

    To Spark NaN is greater than any number, and to most writers of Parquet it is no maximum.
    """
    return f"nanvl({column}, {column})" if is_floating(data_type) else column


def _weight(record: Source) -> str:
    unknown = (
        f"concat('{marks.CHANGE_TYPE} source {record.name}, file ', {FILE},"
        f" ': unknown {CHANGE_TYPE} ', coalesce({CHANGE_TYPE}, 'NULL'))"
    )
    gone = "-1L"
    if record.arguments.get("append_only"):
        text = f"concat('{marks.APPEND_ONLY} source {record.name}, file ', {FILE}, ': ', {CHANGE_TYPE})"
        gone = f"CAST(raise_error({text}) AS BIGINT)"
    return (
        f"CASE WHEN {CHANGE_TYPE} IN ({_INSERTS}) THEN 1L"
        f" WHEN {CHANGE_TYPE} IN ({_DELETES}) THEN {gone}"
        f" ELSE CAST(raise_error({unknown}) AS BIGINT) END"
    )

"""What one file holds, checked against what its source declares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from shlex import quote
from typing import Any, Final, TypeVar

from slacktide.algebra.types import is_collated
from slacktide.common.change_feed import (
    CHANGE_TYPE,
    COMMIT_VERSION,
    DELETES,
    INSERTS,
    POSTIMAGE,
    PREIMAGE,
)
from slacktide.engine.sources.ddl import Column, stored_form
from slacktide.engine.sources.directory import Directory
from slacktide.engine.sources.footer import FileColumn, Footer
from slacktide.engine.sources.spans import spans_of
from slacktide.errors import SlacktideError, SourceError, StorageError
from slacktide.store.record import ColumnStatistics, KeySpans

_IMAGES: Final = (PREIMAGE, POSTIMAGE)
_SIGN: Final = "__slacktide_sign"
_ROW: Final = "__slacktide_row"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Expected:
    """What the files of a source must hold.

    Attributes:
        source: its name; empty before it has one.
        columns: of the relation, without those that only a feed has.
        spanned: of these, those of which it is noted where their values lie.
        is_feed: whether each row says what change it is.
    """

    source: str
    kind: str
    format: str
    columns: tuple[Mapping[str, Any], ...]
    key: tuple[str, ...] = ()
    is_append_only: bool = False
    spanned: tuple[str, ...] = ()

    @property
    def is_feed(self) -> bool:
        """Whether each row says what change it is."""
        return self.kind == "change-feed"

    def wrong(self, path: str, fact: str) -> SourceError:
        """Make the error for a file that is not as declared."""
        owner = f"source {self.source}: " if self.source else ""
        skip = f"slacktide source skip {self.source} {quote(path)}"
        way = (
            f"deliver the file anew, or leave it out for good: {skip}"
            if self.source
            else "correct or remove the file, or give schema="
        )
        return SourceError(f"{owner}{path} {fact}", hint=way)


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds.

    Attributes:
        deletes: rows that take a row away.
        extra: columns that nobody declared.
        statistics: of those that were, by name.
        spans: where the values of keys lie, by name.
    """

    rows: int
    deletes: int
    extra: tuple[FileColumn, ...]
    statistics: Mapping[str, ColumnStatistics]
    spans: Mapping[str, KeySpans]


def inspect(directory: Directory, key: str, data: bytes | None, expected: Expected) -> Content:
    """Check a Parquet or ORC file: its columns and, in a feed, the changes that it names.

    Args:
        directory: where the file is.
        key: its name there.
        data: its bytes, where they were read already.
        expected: what it must hold.

    Raises:
        SourceError: it is corrupt or not as declared; the message names the place.
    """
    path = directory.path(key)

    def check(footer: Footer) -> Content:
        extra = check_columns(path, footer.columns, expected)
        _check_nulls(path, footer, expected)
        deletes = _deletes(path, footer, expected) if expected.is_feed else 0
        statistics = footer.statistics([column["name"] for column in expected.columns])
        is_at_hand = data is not None
        spans = spans_of(footer, expected.spanned, statistics, is_at_hand=is_at_hand)
        return Content(footer.rows, deletes, extra, statistics, spans)

    return _with_footer(directory, key, data, expected, check)


def file_columns(directory: Directory, key: str, expected: Expected) -> tuple[FileColumn, ...]:
    """Read the columns of a Parquet or ORC file.

    Raises:
        SourceError: it is corrupt.
    """
    return _with_footer(directory, key, None, expected, lambda footer: footer.columns)


def _with_footer(
    directory: Directory,
    key: str,
    data: bytes | None,
    expected: Expected,
    use: Callable[[Footer], _T],
) -> _T:
    from pyarrow import ArrowException

    path = directory.path(key)
    source: Any = directory.open(key) if data is None else BytesIO(data)
    if source is None:
        raise StorageError(
            f"{path} went away while it was read", hint="the same call may succeed when repeated"
        )
    try:
        return use(Footer(expected.format, source))
    except SlacktideError:
        raise
    except (ArrowException, OSError, ValueError) as error:
        fact = next(iter(str(error).splitlines()), type(error).__name__)
        raise expected.wrong(
            path, f"is corrupt, or not a file of the format {expected.format}: {fact}"
        ) from error
    finally:
        source.close()


def check_columns(
    path: str, found: Sequence[FileColumn], expected: Expected
) -> tuple[FileColumn, ...]:
    """Check that a file has the columns that are expected; give the others.

    Files that were written before a column was added to the source need not have it.

    Raises:
        SourceError: a column is missing or has another type.
    """
    by_name = {column.name: column for column in found}
    wanted: list[Mapping[str, Any]] = [*expected.columns]
    if expected.is_feed:
        wanted.append({"name": CHANGE_TYPE, "type": "STRING"})
    for column in wanted:
        name, data_type = column["name"], stored_form(column["type"])
        there = by_name.get(name)
        alike = [one.name for one in found if one.name.lower() == name.lower()]
        if not alike and column.get("added"):
            continue
        if there is None:
            but = f", only {alike[0]}, which differs in case" if alike else ""
            raise expected.wrong(path, f"has no column {name} ({data_type}){but}")
        if len(alike) > 1:
            raise expected.wrong(path, f"has the columns {' and '.join(alike)}, the same to Spark")
        if there.type != data_type:
            raise expected.wrong(
                path, f"has the column {name} of type {there.type}, expected {data_type}"
            )
    names = {column["name"] for column in wanted}
    if expected.is_feed:
        names.add(COMMIT_VERSION)
    return tuple(column for column in found if column.name not in names)


def relation_columns(
    path: str, found: Sequence[FileColumn], expected: Expected
) -> tuple[Column, ...]:
    """Give the columns of the relation that a file shows.

    Raises:
        SourceError: Spark cannot read one, or a feed does not say what its changes are.
    """
    check_columns(path, found, expected)
    service = {CHANGE_TYPE, COMMIT_VERSION} if expected.is_feed else set()
    columns = [column for column in found if column.name not in service]
    for column in columns:
        if not column.is_readable:
            raise expected.wrong(
                path, f"has the column {column.name} of type {column.type}, unknown to Spark"
            )
    if not columns:
        raise expected.wrong(path, "has no columns")
    return tuple({"name": one.name, "type": one.type, "nullable": True} for one in columns)


def _check_nulls(path: str, footer: Footer, expected: Expected) -> None:
    for column in expected.columns:
        name = column["name"]
        if column["nullable"] or footer.null_count(name) == 0:
            continue
        for start, batch in _numbered(footer.batches([name])):
            # By its name: a struct may have a field of the name that a dotted column has.
            values = batch.column(name)
            if values.null_count:
                row = start + values.is_null().index(True).as_py()
                raise expected.wrong(path, f"has NULL in the column {name} (NOT NULL), row {row}")


def _numbered(batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    """Give each batch with the number of its first row, counted from 1."""
    start = 1
    for batch in batches:
        yield start, batch
        start += batch.num_rows


def _deletes(path: str, footer: Footer, expected: Expected) -> int:
    """Count the rows that take one away, and check that every change is a known one."""
    import pyarrow as pa
    from pyarrow import compute

    known, gone = pa.array([*INSERTS, *DELETES]), pa.array(DELETES)
    deletes = images = 0
    for start, batch in _numbered(footer.batches([CHANGE_TYPE])):
        changes = batch.column(0).cast(pa.string())
        wrong = compute.index(compute.is_in(changes, value_set=known), value=False).as_py()
        if wrong >= 0:
            value = changes[wrong].as_py()
            shown = "NULL" if value is None else repr(value)
            raise expected.wrong(path, f"has {CHANGE_TYPE} {shown} in row {start + wrong}")
        taken = compute.is_in(changes, value_set=gone)
        if expected.is_append_only and compute.any(taken).as_py():
            row = start + compute.index(taken, value=True).as_py()
            raise expected.wrong(
                path, f"takes a row away in row {row}, and the source is append_only"
            )
        deletes += compute.sum(taken).as_py() or 0
        images += compute.sum(compute.is_in(changes, value_set=pa.array(_IMAGES))).as_py() or 0
    types = {column["name"]: column["type"] for column in expected.columns}
    # Which keys are the same to a collation Spark alone can tell.
    if images and expected.key and not any(is_collated(types[name]) for name in expected.key):
        _check_halves(path, footer, expected)
    return deletes


def _check_halves(path: str, footer: Footer, expected: Expected) -> None:
    """Check that each key has as many rows before its updates as after them.

    What is kept are sums by key, of those alone that are not even yet. They are added up again once as
    many have come, so that each is added up a few times, however many batches there are.
    """
    import pyarrow as pa
    from pyarrow import compute

    key = list(expected.key)
    parts: list[pa.Table] = []
    for start, batch in _numbered(footer.batches([*key, CHANGE_TYPE])):
        table = pa.table({name: _alike(batch.column(name)) for name in [*key, CHANGE_TYPE]})
        changes = table.column(CHANGE_TYPE).cast(pa.string())
        signs = compute.subtract(
            compute.equal(changes, _IMAGES[1]).cast(pa.int64()),
            compute.equal(changes, _IMAGES[0]).cast(pa.int64()),
        )
        rows = pa.array(range(start, start + batch.num_rows), pa.int64())
        table = table.append_column(_SIGN, signs).append_column(_ROW, rows)
        parts.append(_odd([table.filter(compute.not_equal(signs, 0))], key))
        if sum(part.num_rows for part in parts[1:]) >= parts[0].num_rows:
            parts = [_odd(parts, key)]
    odd = _odd(parts, key).sort_by(_ROW)
    if odd.num_rows:
        sign, row = (odd.column(name)[0].as_py() for name in (_SIGN, _ROW))
        has, lacks = _IMAGES if sign < 0 else _IMAGES[::-1]
        shown = ", ".join(f"{name} {_spelled(odd.column(name))}" for name in key)
        raise expected.wrong(
            path,
            f"has an {has} without its {lacks} for {shown}, row {row} (an update that gives a row another key is "
            "written as a delete and an insert)",
        )


def _spelled(column: Any) -> str:
    """The first value of a column; Python has none for a date or time after the year 9999."""
    import pyarrow as pa

    try:
        return repr(column[0].as_py())
    except (ArithmeticError, ValueError):
        return str(column.slice(0, 1).cast(pa.string())[0].as_py())


def _alike(values: Any) -> Any:
    """Values of a column, of which both zeros are one, as they are to Spark."""
    import pyarrow as pa
    from pyarrow import compute

    is_floating = pa.types.is_floating(values.type)
    return compute.add(values, pa.scalar(0.0, values.type)) if is_floating else values


def _odd(parts: Sequence[Any], key: list[str]) -> Any:
    """The keys whose signs do not add up to nothing, each with its sum and its first row."""
    import pyarrow as pa
    from pyarrow import compute

    sums = pa.concat_tables(parts).group_by(key).aggregate([(_SIGN, "sum"), (_ROW, "min")])
    sums = sums.rename_columns({f"{_SIGN}_sum": _SIGN, f"{_ROW}_min": _ROW})
    return sums.filter(compute.not_equal(sums.column(_SIGN), 0))

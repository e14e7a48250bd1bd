"""What came since the last look, and its acceptance: pinned, checked and counted.

A file becomes one arrival. Neither call writes anything; the caller puts the arrivals into the log.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from slacktide.common.clock import isoformat
from slacktide.common.quantities import parse_duration
from slacktide.engine.sources.column_statistics import noted
from slacktide.engine.sources.directory import Directory, Listed, open_directory
from slacktide.engine.sources.footer import FOOTED, FileColumn
from slacktide.engine.sources.inspection import Content, Expected, inspect
from slacktide.engine.sources.pins import (
    GONE,
    READ_WHOLE,
    changed,
    content_digest,
    difference,
    each,
    is_as_pinned,
    is_digested,
    other_size,
)
from slacktide.engine.sources.spans import key_columns
from slacktide.errors import ArrivalChangedError, InvariantError, SourceError, StorageError
from slacktide.store.arrivals import Arrival, PinnedFile
from slacktide.store.record import MOST_SPANS, ArrivalSpans, ColumnStatistics, KeySpans, Source

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _One:
    """An arrival, the columns of its file that nobody declared, and what is told of the others."""

    arrival: Arrival
    extra: tuple[FileColumn, ...] = ()
    statistics: Mapping[str, ColumnStatistics] = field(default_factory=dict)
    spans: Mapping[str, KeySpans] = field(default_factory=dict)


class Rewritten(NamedTuple):
    """A file as it was accepted, and as it is listed now."""

    pinned: PinnedFile
    now: Listed


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at the directory of a source finds; of accepted files that are as they were, nothing.

    Attributes:
        fresh: files that came and are not accepted yet, oldest first, then by name.
        rewritten: accepted files that bear another mark or size now. Whether their content is another
            one is for `look_again` to say.
    """

    fresh: list[PinnedFile]
    rewritten: list[Rewritten]


@dataclass(frozen=True, slots=True)
class Accepted:
    """What was accepted.

    Attributes:
        arrivals: one for each file.
        extra: columns of these files that nobody declared, and that no file had so far, each with
            its type and the first version that has it.
        statistics: what is known of columns now, of those alone of which these files tell.
        spans: where keys lie, of those arrivals alone of which that is known.
    """

    arrivals: list[Arrival]
    extra: tuple[Mapping[str, Any], ...] = ()
    statistics: Mapping[str, ColumnStatistics] = field(default_factory=dict)
    spans: tuple[ArrivalSpans, ...] = ()


def peek(
    source: Source, *, storage_options: Mapping[str, Any] | None = None, now: datetime
) -> Look:
    """List the files that came, and those that were written anew since they were accepted.

    A name that was accepted once is never fresh again. Files that are gone are not missed here: those
    that nobody needs any more may be removed. Nor are those that the user left out. What has not been
    unchanged for as long as ``settle`` says is not looked at.

    Args:
        source: as the log has it.
        storage_options: of the store that its files are in.
        now: the present instant, against which ``settle`` is measured.

    Raises:
        SourceError: the directory cannot be read.
    """
    return look(open_directory(source.arguments["path"], storage_options), source, now=now)


def look(directory: Directory, source: Source, *, now: datetime) -> Look:
    """List what lies in an open directory; see `peek`."""
    settle = source.arguments.get("settle")
    latest = None if settle is None else now - parse_duration(settle, setting="settle")
    fresh: list[Listed] = []
    rewritten: list[Rewritten] = []
    for file in directory.files():
        if latest is not None and file.modified > latest:
            continue
        known = source.arrivals.find(directory.path(file.key))
        if known is None:
            fresh.append(file)
            continue
        version, pinned = known
        if version not in source.skipped and not is_as_pinned(file, pinned):
            rewritten.append(Rewritten(pinned, file))
    fresh.sort(key=lambda file: (file.modified, file.key))
    return Look([_pin(directory, file) for file in fresh], rewritten)


def look_again(
    source: Source,
    rewritten: Sequence[Rewritten],
    *,
    storage_options: Mapping[str, Any] | None = None,
    deeply: bool,
) -> tuple[list[PinnedFile], ArrivalChangedError | None]:
    """Look whether accepted files that bear another mark or size still are what they were.

    One that is gone by now is not missed.

    Args:
        source: whose files they are.
        rewritten: the files.
        storage_options: of the store that they are in.
        deeply: whether those of the same size are read, too.

    Returns:
        Those that are what they were, pinned by their new marks; and the error of the first that is not, None
        where all are.
    """
    if not rewritten:
        return [], None
    directory = open_directory(source.arguments["path"], storage_options)

    def other(one: Rewritten) -> tuple[str | None, bool]:
        """How it differs, and whether what was compared bears the mark that was listed."""
        if one.now.size != one.pinned.size:
            return other_size(one.pinned, one.now), False
        fact = _differs(directory, one) if deeply else None
        return fact, deeply and fact is None and directory.head(one.now.key) == one.now

    told = list(zip(rewritten, each(other, rewritten, is_local=directory.is_local), strict=True))
    wrong = next(((one, fact) for one, (fact, _) in told if fact not in {None, GONE}), None)
    again = [
        replace(one.pinned, modified=one.now.mark, etag=one.now.etag)
        for one, (_, is_same) in told
        if is_same
    ]
    return again, None if wrong is None else changed(wrong[0].pinned, str(wrong[1]), source.name)


def accept(
    source: Source,
    files: Sequence[PinnedFile],
    *,
    storage_options: Mapping[str, Any] | None = None,
    now: datetime,
) -> Accepted:
    """Check files and make an arrival of each; all of them, or none.

    Files are read as they are now, and pinned so. One that went away since the look is left out.

    Raises:
        SourceError: a file is corrupt or not as declared; the first in the given order.
    """
    directory = open_directory(source.arguments["path"], storage_options)
    return take(directory, source, files, now=now)


def take(
    directory: Directory, source: Source, files: Sequence[PinnedFile], *, now: datetime
) -> Accepted:
    """Accept files of an open directory; see `accept`."""
    expected = expectation(source)
    accepted = isoformat(now)

    newest = {file.path for file in files[-MOST_SPANS:]}
    others = replace(expected, spanned=())

    def accept_one(file: PinnedFile) -> _One | None:
        looked = expected if file.path in newest else others
        return _accept(directory, file, looked, accepted)

    taken = each(accept_one, files, is_local=directory.is_local)
    found = [one for one in taken if one is not None]
    statistics = noted(source.statistics, [one.statistics for one in found])
    spans = [ArrivalSpans(v, one.spans) for v, one in enumerate(found, source.version + 1)]
    return Accepted(
        [one.arrival for one in found],
        _extra(source, found),
        statistics,
        tuple(one for one in spans if one.columns),
    )


def _extra(source: Source, found: Sequence[_One]) -> tuple[Mapping[str, Any], ...]:
    known = {(column["name"], column["type"]) for column in source.extra}
    extra = []
    for version, one in enumerate(found, source.version + 1):
        fresh = [column for column in one.extra if (column.name, column.type) not in known]
        known |= {(column.name, column.type) for column in fresh}
        extra += [{"name": c.name, "type": c.type, "version": version} for c in fresh]
        if fresh:
            _logger.warning(
                "source %s: %s has columns that are not declared, and are ignored: %s",
                source.name,
                one.arrival.files[0].path,
                ", ".join(column.name for column in fresh),
            )
    return tuple(extra)


def expectation(source: Source) -> Expected:
    """Say what the files of a source must hold."""
    arguments = source.arguments
    return Expected(
        source=source.name,
        kind=source.kind,
        format=arguments.get("format", "parquet"),
        columns=source.schema,
        key=source.key,
        is_append_only=bool(arguments.get("append_only", False)),
        spanned=key_columns(arguments, source.schema),
    )


def resolve_file(source: Source, text: str) -> str:
    """Give the path of a file of a source that a user names by its path or its name below there."""
    parent = source.arguments["path"].rstrip("/") + "/"
    return text if text.startswith(parent) else parent + text.lstrip("/")


def _accept(
    directory: Directory, file: PinnedFile, expected: Expected, accepted: str
) -> _One | None:
    key = directory.key(file.path)
    if key is None:
        raise InvariantError(f"{file.path} is not below {directory.address.spelling}")
    found = _read(directory, key, file.size)
    if found is None:
        return None
    listed, data, digest = found
    content: Content | None = None
    if expected.format in FOOTED:
        content = _inspect(directory, listed, data, expected)
    rows = None if content is None else content.rows
    deletes = 0 if not expected.is_feed else None if content is None else content.deletes
    pin = _pin(directory, listed, rows=rows, digest=digest)
    arrival = Arrival((pin,), rows, listed.size, accepted, deletes)
    if content is None:
        return _One(arrival)
    return _One(arrival, content.extra, content.statistics, content.spans)


def _inspect(
    directory: Directory, listed: Listed, data: bytes | None, expected: Expected
) -> Content:
    if data is not None:
        return inspect(directory, listed.key, data, expected)
    try:
        content = inspect(directory, listed.key, None, expected)
    except SourceError:
        # What looks corrupt may be parts of two files.
        _check_as_listed(directory, listed)
        raise
    _check_as_listed(directory, listed)
    return content


def _read(
    directory: Directory, key: str, size: int
) -> tuple[Listed, bytes | None, str | None] | None:
    """Read a file as far as it is needed: its description, its bytes if few, and their digest."""
    if size <= READ_WHOLE:
        whole = directory.read(key)
        if whole is None:
            return None
        return whole[0], whole[1], content_digest([whole[1]])
    listed = directory.head(key)
    if listed is None:
        return None
    if not is_digested(directory, listed.size):
        return listed, None, None
    digest = content_digest(directory.chunks(key))
    _check_as_listed(directory, listed)
    return listed, None, digest


def _differs(directory: Directory, one: Rewritten) -> str | None:
    return difference(directory, one.now.key, one.pinned, directory.head(one.now.key))


def _check_as_listed(directory: Directory, listed: Listed) -> None:
    if directory.head(listed.key) != listed:
        raise StorageError(
            f"{directory.path(listed.key)} was written while it was read",
            hint="repeat the call; a source with settle, of 30s say, waits until files have been unchanged that long",
        )


def _pin(
    directory: Directory, file: Listed, *, rows: int | None = None, digest: str | None = None
) -> PinnedFile:
    return PinnedFile(directory.path(file.key), file.size, file.mark, file.etag, rows, digest)

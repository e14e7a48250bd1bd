"""Accepted arrivals in columns, so that a million pinned files are cheap to keep and to read.

`Arrivals` reads like a tuple of `Arrival`, but keeps a few chunks of columns and builds a record
only when one is asked for. Appending merges chunks as a binary counter does, so that n appends copy
O(n log n) values, and leaves the older sequence as it was. A chunk that came from a checkpoint is
read and parsed when a file in it is asked for, and goes into the next checkpoint as the bytes it
came from. Sums over a chunk are known without reading it.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import eq
from typing import Any, Final, NamedTuple, overload

from slacktide.errors import WorkspaceError

_FULL: Final = 65_536
_PER_ARRIVAL: Final = ("files", "rows", "bytes", "accepted", "deletes")
_PER_FILE: Final = ("path", "size", "modified", "etag", "file_rows", "digest")


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file as it was when it was accepted.

    Attributes:
        path: absolute, in the spelling of the workspace.
        modified: the modification mark of the store, as a text that is only compared.
        etag: the mark that the store gives to the content or to the write.
        digest: of the content; None where reading it all would cost too much.
    """

    path: str
    size: int
    modified: str
    etag: str | None = None
    rows: int | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Arrival:
    """Files that came together: one version of a source.

    Attributes:
        deletes: how many of the rows take a row away; None where it is not known.
    """

    files: tuple[PinnedFile, ...]
    rows: int | None
    bytes: int
    accepted: str
    deletes: int | None = None


class Totals(NamedTuple):
    """Sums over arrivals; None where one of them does not know the number."""

    rows: int | None = 0
    deletes: int | None = 0
    bytes: int = 0

    def plus(self, other: Totals) -> Totals:
        """Give the sums over both."""
        return Totals(
            None if self.rows is None or other.rows is None else self.rows + other.rows,
            None if self.deletes is None or other.deletes is None else self.deletes + other.deletes,
            self.bytes + other.bytes,
        )


class Chunk:
    """Some consecutive arrivals as columns; the columns may still be text, or not read yet."""

    __slots__ = ("_columns", "_ends", "_places", "_text", "_totals", "arrivals", "files", "kept")

    def __init__(
        self,
        arrivals: int,
        files: int,
        totals: Totals | None,
        text: bytes | Callable[[], bytes],
        where: str = "",
    ) -> None:
        self.kept: str | None = None
        """The digest of the text, once checkpoints keep it in an object of its own."""
        self.arrivals = arrivals
        self.files = files
        self._totals = totals
        self._text: bytes | Callable[[], bytes] | None = text
        self._columns: dict[str, list[Any]] | str = where
        self._ends: list[int] = []
        self._places: Mapping[str, int] | None = None

    @classmethod
    def of(cls, columns: dict[str, list[Any]], where: str) -> Chunk:
        """Take parsed columns."""
        _check(columns, where)
        chunk = cls(len(columns["files"]), len(columns["path"]), None, b"")
        chunk._text = None
        chunk._fill(columns)
        return chunk

    @property
    def text(self) -> bytes:
        """The columns as one line of JSON."""
        if callable(self._text):
            return self._text()
        if self._text is not None:
            return self._text
        return json.dumps(self.columns, separators=(",", ":"), allow_nan=False).encode()

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The columns by name."""
        if isinstance(self._columns, str):
            columns = _parse(self.text, self._columns)
            if (len(columns["files"]), len(columns["path"])) != (self.arrivals, self.files):
                raise WorkspaceError(f"{self._columns} has other arrivals than it says", hint=_LOST)
            self._fill(columns)
            return columns
        return self._columns

    def _fill(self, columns: dict[str, list[Any]]) -> None:
        # Filled twice by two threads, it holds the same values: no lock is needed.
        self._ends = list(accumulate(columns["files"], initial=0))
        self._columns = columns

    @property
    def is_near(self) -> bool:
        """Whether the columns are at hand, without reading an object."""
        return not (isinstance(self._columns, str) and callable(self._text))

    @property
    def totals(self) -> Totals:
        """The sums over all arrivals of the chunk; known of a chunk that was not read, too."""
        if self._totals is None:
            self._totals = self.sums(0, self.arrivals)
        return self._totals

    def sums(self, start: int, end: int) -> Totals:
        """Sum over some of the arrivals."""
        rows, deletes, size = (
            self.columns[name][start:end] for name in ("rows", "deletes", "bytes")
        )
        return Totals(
            None if None in rows else sum(rows),
            None if None in deletes else sum(deletes),
            sum(size),
        )

    @property
    def places(self) -> Mapping[str, int]:
        """By path of a file, where it stands in the columns of files."""
        if self._places is None:
            self._places = {path: place for place, path in enumerate(self.columns["path"])}
        return self._places

    def at(self, place: int) -> tuple[int, PinnedFile]:
        """Give the index of the arrival that brought a file, and the file."""
        columns = self.columns
        file = PinnedFile(*(columns[name][place] for name in _PER_FILE))
        return bisect_right(self._ends, place) - 1, file

    def build(self, index: int) -> Arrival:
        """Build one arrival."""
        columns = self.columns
        start, end = self._ends[index], self._ends[index + 1]
        files = zip(*(columns[name][start:end] for name in _PER_FILE), strict=True)
        rows, size, accepted, deletes = (columns[name][index] for name in _PER_ARRIVAL[1:])
        return Arrival(tuple(PinnedFile(*file) for file in files), rows, size, accepted, deletes)

    def repinned(self, files: Sequence[PinnedFile]) -> Chunk:
        """Give the same arrivals with other marks of some files; of those that it has not, nothing."""
        there = [(self.places[file.path], file) for file in files if file.path in self.places]
        if not there:
            return self
        marks = {name: list(self.columns[name]) for name in ("modified", "etag")}
        for place, file in there:
            marks["modified"][place], marks["etag"][place] = file.modified, file.etag
        return Chunk.of({**self.columns, **marks}, "")

    def merged(self, other: Chunk) -> Chunk:
        """Give this chunk followed by another."""
        mine, others = self.columns, other.columns
        return Chunk.of({name: mine[name] + others[name] for name in mine}, "")


class Arrivals(Sequence[Arrival]):
    """Immutable sequence of arrivals; the arrival of version v stands at index v - 1."""

    __slots__ = ("_starts", "chunks")

    def __init__(self, chunks: Iterable[Chunk] = ()) -> None:
        self.chunks: tuple[Chunk, ...] = tuple(chunks)
        self._starts = [0, *accumulate(chunk.arrivals for chunk in self.chunks)]

    @classmethod
    def of(cls, arrivals: Iterable[Arrival]) -> Arrivals:
        """Put records into columns."""
        if isinstance(arrivals, Arrivals):
            return arrivals
        known = tuple(arrivals)
        return cls((Chunk.of(_columns_of(known), ""),) if known else ())

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> Arrival: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Arrival, ...]: ...
    def __getitem__(self, index: int | slice) -> Arrival | tuple[Arrival, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"there is no arrival {index} among {len(self)}")
        chunk = bisect_right(self._starts, at) - 1
        return self.chunks[chunk].build(at - self._starts[chunk])

    def __iter__(self) -> Iterator[Arrival]:
        for chunk in self.chunks:
            yield from (chunk.build(index) for index in range(chunk.arrivals))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} arrivals of {self.file_count} files>"

    @property
    def file_count(self) -> int:
        """How many files all arrivals hold."""
        return sum(chunk.files for chunk in self.chunks)

    def appended(self, more: Iterable[Arrival]) -> Arrivals:
        """Give these arrivals followed by more."""
        chunks = list(self.chunks)
        for chunk in Arrivals.of(more).chunks:
            chunks.append(chunk)
            # What nobody has read yet is not read for this; the next checkpoint merges it.
            while len(chunks) > 1 and chunks[-2].is_near and _fit(chunks[-2], chunks[-1]):
                last = chunks.pop()
                chunks[-1] = chunks[-1].merged(last)
        return Arrivals(chunks)

    def repinned(self, files: Sequence[PinnedFile]) -> Arrivals:
        """Give the same arrivals, of which some files are known by other marks."""
        return Arrivals(chunk.repinned(files) for chunk in self.chunks)

    def merged(self) -> Arrivals:
        """Give the same arrivals in as few chunks as the counter has, chunks not read included."""
        chunks: list[Chunk] = []
        for chunk in self.chunks:
            chunks.append(chunk)
            while len(chunks) > 1 and _fit(chunks[-2], chunks[-1]):
                last = chunks.pop()
                chunks[-1] = chunks[-1].merged(last)
        return Arrivals(chunks)

    def totals(self, start: int, end: int) -> Totals:
        """Sum over the arrivals after version `start`, up to and with version `end`."""
        found = Totals()
        for chunk, first in zip(self.chunks, self._starts, strict=False):
            low, high = max(start - first, 0), min(end - first, chunk.arrivals)
            if low < high:
                is_whole = high - low == chunk.arrivals
                found = found.plus(chunk.totals if is_whole else chunk.sums(low, high))
        return found

    def find(self, path: str) -> tuple[int, PinnedFile] | None:
        """Give the version that brought a file, and the file as it was; None where none did."""
        for chunk, first in zip(self.chunks, self._starts, strict=False):
            place = chunk.places.get(path)
            if place is not None:
                index, file = chunk.at(place)
                return first + index + 1, file
        return None

    def pins(self) -> Iterator[tuple[int, PinnedFile]]:
        """Give every file with the version that brought it, oldest first."""
        for version, arrival in enumerate(self, 1):
            yield from ((version, file) for file in arrival.files)

    def to_json(self) -> dict[str, list[Any]]:
        """Give all arrivals as one set of columns."""
        if not self.chunks:
            return _columns_of(())
        first, *others = self.chunks
        for chunk in others:
            first = first.merged(chunk)
        return first.columns


def from_json(value: object, where: str) -> Arrivals:
    """Read columns back.

    Raises:
        WorkspaceError: they are no columns of arrivals.
    """
    if not isinstance(value, dict):
        raise WorkspaceError(f"{where} holds arrivals that are not columns", hint=_LOST)
    chunk = Chunk.of(value, where)
    return Arrivals((chunk,) if chunk.arrivals else ())


_LOST: Final = "restore the object from a backup; it is never rewritten once it is there"


def _fit(left: Chunk, right: Chunk) -> bool:
    return left.arrivals <= right.arrivals and left.files + right.files <= _FULL


def _columns_of(arrivals: tuple[Arrival, ...]) -> dict[str, list[Any]]:
    files = [file for arrival in arrivals for file in arrival.files]
    return {
        "files": [len(arrival.files) for arrival in arrivals],
        "rows": [arrival.rows for arrival in arrivals],
        "bytes": [arrival.bytes for arrival in arrivals],
        "accepted": [arrival.accepted for arrival in arrivals],
        "deletes": [arrival.deletes for arrival in arrivals],
        "path": [file.path for file in files],
        "size": [file.size for file in files],
        "modified": [file.modified for file in files],
        "etag": [file.etag for file in files],
        "file_rows": [file.rows for file in files],
        "digest": [file.digest for file in files],
    }


def _parse(text: bytes, where: str) -> dict[str, list[Any]]:
    try:
        columns = json.loads(text)
    except ValueError as error:
        raise WorkspaceError(f"{where} is not JSON: {error}", hint=_LOST) from error
    if not isinstance(columns, dict):
        raise WorkspaceError(f"{where} holds arrivals that are not columns", hint=_LOST)
    _check(columns, where)
    return columns


def _check(columns: dict[str, list[Any]], where: str) -> None:
    for name in (*_PER_ARRIVAL, *_PER_FILE):
        if not isinstance(columns.get(name), list):
            raise WorkspaceError(f"{where} holds arrivals without the column {name}", hint=_LOST)
    counts = columns["files"]
    if not all(type(count) is int and count >= 0 for count in counts):
        raise WorkspaceError(f"{where} holds an arrival with an odd count of files", hint=_LOST)
    for names, length in ((_PER_ARRIVAL, len(counts)), (_PER_FILE, sum(counts))):
        for name in names:
            if len(columns[name]) != length:
                raise WorkspaceError(
                    f"{where} has {len(columns[name])} values of {name} for {length}", hint=_LOST
                )

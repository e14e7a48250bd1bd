"""Seals: what lies behind the pages of a Parquet file of ours is known again by a digest of it.

Each page has a checksum, which Spark looks at when it reads the page. The footer has none, nor have the indexes
before it, and by these scans skip what they need not read: where they are altered, rows are passed over. So
the log keeps a digest of the end of each file, made when it was written, which whoever reads the
file compares first. A small file is all end. No page of a greater one is read for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from slacktide.errors import ExecutionError
from slacktide.store.record import Seal, StoredFile

if TYPE_CHECKING:
    from slacktide.store.store import Store

_T = TypeVar("_T")

# As many bytes are sealed at least: to read and to digest them costs 0.15 ms of CPU, and to open a file 2.5 ms.
LEAST: Final = 64 * 1024
_AT_ONCE: Final = 64
"""Files whose ends the driver holds at a time."""
_TAIL: Final = 8  # the length of the footer, and the mark of the format


def sealed(file: StoredFile, data: bytes) -> StoredFile:
    """Seal a file of which the content, or enough of its end, is at hand.

    Raises:
        ExecutionError: it is no Parquet file.
    """
    behind = _behind_pages(file, data) if file.size > LEAST else file.size
    size = max(behind, min(file.size, LEAST))
    return replace(file, seal=Seal(size, _digest(data[-size:])))


def sealed_files(store: Store, files: Sequence[StoredFile]) -> tuple[StoredFile, ...]:
    """Seal files that Spark has just written.

    Raises:
        ExecutionError: one of them is not there, or no Parquet file.
    """
    return tuple(
        _sealed(store, file, end)
        for some in _portions(files)
        for file, end in zip(some, store.read_ends([(f, LEAST) for f in some]), strict=True)
    )


def _sealed(store: Store, file: StoredFile, end: bytes | None) -> StoredFile:
    for reach in (_footer, _behind_pages):
        if end is not None and len(end) < (wanted := reach(file, end)):
            (end,) = store.read_ends([(file, wanted)])
    if end is None:
        raise _unreadable(file, "it is not there")
    return sealed(file, end)


def footers(store: Store, files: Sequence[StoredFile]) -> Iterator[Any]:
    """The footers of files that are sealed, as pyarrow's `FileMetaData`.

    Raises:
        ExecutionError: one of them is not there, or no Parquet file.
    """
    for some in _portions([(file, file.seal.bytes) for file in files if file.seal is not None]):
        for (file, _), end in zip(some, store.read_ends(some), strict=True):
            if end is None:
                raise _unreadable(file, "it is not there")
            yield _metadata(file, end)


def altered(store: Store, files: Sequence[StoredFile]) -> StoredFile | None:
    """The first of some files of which the end is not what was written."""
    known = [(file, file.seal) for file in files if file.seal is not None]
    for some in _portions(known):
        ends = store.read_ends([(file, seal.bytes) for file, seal in some])
        for (file, seal), end in zip(some, ends, strict=True):
            if end is None or _digest(end) != seal.digest:
                return file
    return None


def _portions(all_: Sequence[_T]) -> Iterator[Sequence[_T]]:
    return (all_[first : first + _AT_ONCE] for first in range(0, len(all_), _AT_ONCE))


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def _footer(file: StoredFile, end: bytes) -> int:
    """How many bytes of a file are its footer and what follows it."""
    return min(int.from_bytes(end[-_TAIL:-4], "little") + _TAIL, file.size)


def _behind_pages(file: StoredFile, end: bytes) -> int:
    """How many bytes of a file lie behind its last page."""
    footer = _metadata(file, end)
    groups = [footer.row_group(i) for i in range(footer.num_row_groups)]
    columns = [group.column(i) for group in groups for i in range(group.num_columns)]
    pages = (_first_page(column) + column.total_compressed_size for column in columns)
    return int(file.size - max(pages, default=0))


def _metadata(file: StoredFile, end: bytes) -> Any:
    """The footer of a file of which the end holds it."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.read_metadata(pa.BufferReader(end))
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, str(error)) from error


def _first_page(column: Any) -> int:
    """Where the pages of a column begin."""
    dictionary = column.dictionary_page_offset
    first = (
        column.data_page_offset if dictionary is None else min(dictionary, column.data_page_offset)
    )
    return int(first)


def _unreadable(file: StoredFile, why: str) -> ExecutionError:
    return ExecutionError(
        f"{file.path} was written, and cannot be read: {why}", hint="run the refresh again"
    )

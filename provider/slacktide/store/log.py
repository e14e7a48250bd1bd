"""The log: numbered entries, each written once by put-if-absent.

A number is taken only after the one before it, so that the entries have no gaps and the first
missing number is the end. Nothing is listed, but where the first entry is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from slacktide.common.clock import parse_instant
from slacktide.errors import StorageError, WorkspaceError, WorkspaceMissingError
from slacktide.store.entry import Entry, decode_entry, entry_key
from slacktide.store.objects import Objects

_WIDEST = 64
_OURS = re.compile(r"log/(\d{20}\.json$|checkpoint/)")


@dataclass(frozen=True, slots=True)
class Written:
    """An entry, and when the object store says that it was written."""

    number: int
    at: datetime


class Log:
    """Reads and appends entries."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def read(self, number: int) -> Entry | None:
        """Read one entry, or None where the log ends before it."""
        data = self._objects.get(entry_key(number))
        return None if data is None else decode_entry(data, self._where(number))

    def since(self, number: int) -> Iterator[tuple[int, Entry]]:
        """Read entries from a number to the end; wider and wider, as the end is seldom far."""
        width = 1
        while True:
            numbers = range(number, number + width)
            for at, data in zip(
                numbers, self._objects.get_many([entry_key(n) for n in numbers]), strict=True
            ):
                if data is None:
                    return
                yield at, decode_entry(data, self._where(at))
            number += width
            width = min(width * 2, _WIDEST)

    @cached_property
    def creator(self) -> str:
        """The writer of the first entry.

        Raises:
            WorkspaceMissingError: there is none.
            WorkspaceError: it was lost.
        """
        first = self.read(0)
        if first is None:
            self.check_start()
            raise WorkspaceMissingError(
                f"there is no workspace at {self._objects.address.spelling}",
                hint="make one with: slacktide init",
            )
        return first.writer

    def exists(self, number: int) -> bool:
        """Tell whether the log reaches a number."""
        return self._objects.head(entry_key(number)) is not None

    def end(self) -> int:
        """Find the last number, -1 in an empty log, with few requests: double, then halve."""
        if not self.exists(0):
            return -1
        low, step = 0, 1
        while self.exists(low + step):
            low, step = low + step, step * 2
        high = low + step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.exists(middle) else (low, middle)
        return low

    def check_start(self) -> None:
        """Check that nothing lies where the log would be, unless its first entry does, too.

        Raises:
            WorkspaceError: the first entry was lost, or a writer outlived the workspace; a new log would
                go on with what is there.
        """
        listed = self._objects.list("log")
        found = next((meta for meta in listed if _OURS.match(meta.path)), None)
        if found is not None and not self.exists(0):
            raise WorkspaceError(
                f"{self._where(0)}, the first entry of the log, is missing, and {found.path} is there",
                hint="restore it from a copy, or remove log/ with all in it to begin anew",
            )

    def check_end(self, number: int) -> None:
        """Check that no single entry is lost behind a last number: what is written next would be read with later ones.

        One request looks at the number after the next. Of a longer gap only the checkpoints tell.

        Raises:
            WorkspaceError: an entry was lost.
        """
        lost = number + 1
        if self.exists(lost + 1) and not self.exists(lost):  # unless it was written meanwhile
            raise WorkspaceError(
                f"{self._where(lost)} is missing, and later entries of the log are there",
                hint="restore the file from a copy; until then nothing is read or written",
            )

    def settled(self, limit: datetime, end: int) -> Written | None:
        """Find the newest entry up to `end` that was written at an instant or before it, by halves.

        Times are those of the object store, which gives later entries no earlier times.
        """
        found, low, high = None, 0, end
        while low <= high:
            middle = (low + high) // 2
            meta = self._objects.head(entry_key(middle))
            at = None if meta is None else parse_instant(meta.modified)
            if at is not None and at <= limit:
                found, low = Written(middle, at), middle + 1
            else:
                high = middle - 1
        return found

    def append(self, number: int, data: bytes, token: str) -> bool:
        """Take a number; tell whether it is ours, by this call or by one whose answer was lost.

        Raises:
            StorageError: it is not known whether the entry will be there.
        """
        try:
            if self._objects.put_if_absent(entry_key(number), data):
                return True
        except StorageError:
            found = self.read(number)
            if found is None:
                raise
            return found.writer == token
        found = self.read(number)
        return found is not None and found.writer == token

    def check_conditional_writes(self, first: bytes) -> None:
        """Try to write the first entry again: some stores that speak S3 ignore the condition.

        Raises:
            WorkspaceError: this store does; the log would lose entries without a word.
        """
        if self._objects.put_if_absent(entry_key(0), first):
            self._objects.delete([entry_key(0)])
            raise WorkspaceError(
                f"the object store at {self._objects.address.spelling} ignores the condition of a "
                "write, and overwrites what is there",
                hint="choose one that knows conditional writes (If-None-Match: *)",
            )

    def _where(self, number: int) -> str:
        return self._objects.address.child(entry_key(number)).spelling

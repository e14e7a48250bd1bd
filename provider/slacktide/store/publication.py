"""Published answers: directories of Parquet for readers that know nothing of the log.

An answer is published as an **edition**: a directory that is written once, under a name that nobody else
has, and never changed. What readers open is a **pointer** to one edition, which is switched in one step:

* on a disk the address itself is a symbolic link into ``.NAME.slacktide/`` beside it, replaced by a rename;
* in an object store, which has no links, it is the object ``_latest.json``, replaced on the condition that it
  is still as it was read. It names the folder, below ``_slacktide/``, and its files.

An edition's name begins with the number of the log entry that made the answer. The pointer only moves to
greater numbers, so that a run that is late changes nothing, and publishing twice is publishing once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Protocol

from slacktide.common.clock import parse_instant
from slacktide.errors import SinkError
from slacktide.store.address import Address
from slacktide.store.objects import ObjectMeta, ObjectStore

FORMAT: Final = 1
MARKER: Final = "_slacktide.json"
_NAME: Final = re.compile(r"(\d{20})-([0-9a-f]{16})-([0-9a-f]{16})")


@dataclass(frozen=True, slots=True)
class Edition:
    """An answer as it is published.

    Attributes:
        number: of the log entry that made the answer.
        owner: the workspace, by the beginning of the token that created it.
        token: of the attempt that wrote the edition.
    """

    number: int
    owner: str
    token: str

    @classmethod
    def of(cls, number: int, owner: str, token: str) -> Edition:
        """Name an edition, by tokens of any length."""
        return cls(number, _beginning(owner), _beginning(token))

    @classmethod
    def parse(cls, folder: str) -> Edition | None:
        """Read the name of a folder; None where it is not that of an edition."""
        match = _NAME.fullmatch(folder)
        return None if match is None else cls(int(match[1]), match[2], match[3])

    def is_of(self, owner: str) -> bool:
        """Whether a workspace, by its token, published it."""
        return self.owner == _beginning(owner)

    @property
    def folder(self) -> str:
        """The name of its directory."""
        return f"{self.number:020}-{self.owner}-{self.token}"


def _beginning(token: str) -> str:
    """What of a token stands in the name of an edition."""
    return token[:16]


class Pointer(Protocol):
    """What readers open: names one edition, and is switched in one step."""

    def read(self) -> tuple[Edition | None, Any]: ...
    def foreign(self, owner: str) -> str | None: ...
    def check_overwrites(self, token: str) -> None: ...
    def switch(self, edition: Edition, document: Mapping[str, Any], seen: Any) -> bool: ...


class Publication:
    """What is published at one address.

    Args:
        address: what the user named.
        pointer: leads readers to the newest edition.
        place: where the editions lie.
        connect: reaches the objects of all editions, once one is written.
    """

    def __init__(
        self, address: Address, pointer: Pointer, place: Address, connect: Callable[[], ObjectStore]
    ) -> None:
        self._address = address
        self._pointer = pointer
        self._place = place
        self._connect = connect

    @cached_property
    def _editions(self) -> ObjectStore:
        return self._connect()

    def newest(self, owner: str) -> Edition | None:
        """Give the edition that readers see, or None before the first.

        Raises:
            SinkError: what is there is not of this workspace.
        """
        edition, _ = self._pointer.read()
        return self._own(edition, owner)

    def check(self, owner: str) -> None:
        """Check that a workspace may publish here, and write nothing.

        Raises:
            SinkError: what is there is not of this workspace.
        """
        if self.newest(owner) is None and (found := self._pointer.foreign(owner)):
            raise SinkError(
                f"{self._address.spelling} holds {found}, which Slacktide did not publish",
                hint="give the sink a path where nothing is",
            )

    def check_overwrites(self, token: str) -> None:
        """Check that the pointer can be switched on a condition; what is written for it is removed.

        Args:
            token: that nobody else has.

        Raises:
            SinkError: the object store ignores the condition.
        """
        self._pointer.check_overwrites(token)

    def place(self, edition: Edition) -> Address:
        """Give the address where an edition is to be written."""
        return self._place.child(edition.folder)

    def publish(self, edition: Edition, about: Mapping[str, Any]) -> bool:
        """Lead readers to an edition that is written; False where they see one as new already.

        Args:
            edition: what was written.
            about: what is told of it in the pointer.

        Raises:
            SinkError: what is there is not of this workspace.
            StorageError: the pointer could not be written; a retry may help.
        """
        names = self._tidied(edition)
        while True:
            now, seen = self._pointer.read()
            if now == edition:
                return True  # only the answer to our switch was lost
            own = self._own(now, edition.owner)
            if own is not None and own.number >= edition.number:
                return False
            previous = None if now is None else now.folder
            document = {"format": FORMAT, **about, "files": names, "previous": previous}
            data = json.dumps(document, ensure_ascii=False, indent=1).encode()
            self._editions.put(f"{edition.folder}/{MARKER}", data)
            if self._pointer.switch(edition, document, seen):
                return True

    def collect(self, owner: str, limit: datetime) -> tuple[int, int]:
        """Remove editions that readers were led away from before an instant; count them and their bytes.

        An edition greater than the one that readers see is left: a run may be about to publish it.
        """
        newest = self.newest(owner)
        if newest is None:
            return 0, 0
        found: dict[Edition, list[ObjectMeta]] = {}
        for meta in self._editions.list(""):
            edition = Edition.parse(meta.path.partition("/")[0])
            if edition is not None and edition.owner == newest.owner:
                found.setdefault(edition, []).append(meta)
        kept = {newest, *self._still_read(newest, limit)}
        dead = {
            edition: metas
            for edition, metas in found.items()
            if edition not in kept
            and edition.number <= newest.number
            and all(parse_instant(meta.modified) < limit for meta in metas)
        }
        for edition, metas in dead.items():
            self._editions.delete([meta.path for meta in metas])
            self._editions.remove_folder(edition.folder)
        return len(dead), sum(meta.size for metas in dead.values() for meta in metas)

    def _still_read(self, newest: Edition, limit: datetime) -> Iterator[Edition]:
        """The editions that readers may have opened since an instant, from the marker of each next one."""
        edition: Edition | None = newest
        while edition is not None:
            key = f"{edition.folder}/{MARKER}"
            data, meta = self._editions.get(key), self._editions.head(key)
            # A marker is written just before the switch that it tells of.
            if data is None or meta is None or parse_instant(meta.modified) < limit:
                return
            edition = Edition.parse(json.loads(data)["previous"] or "")
            if edition is not None:
                yield edition

    def _tidied(self, edition: Edition) -> list[str]:
        """The data files of an edition; what Hadoop leaves beside them goes."""
        listed = sorted(meta.path for meta in self._editions.list(edition.folder))
        names = [path.rpartition("/")[2] for path in listed]
        self._editions.delete(
            [path for path, name in zip(listed, names, strict=True) if name.startswith(".")]
        )
        return [name for name in names if not name.startswith((".", "_"))]

    def _own(self, edition: Edition | None, owner: str) -> Edition | None:
        if edition is not None and not edition.is_of(owner):
            raise SinkError(
                f"{self._address.spelling} is published by another workspace",
                hint="give the sink another path, or remove what is there",
            )
        return edition

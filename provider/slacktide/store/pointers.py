"""Pointers to editions, on disks and in object stores; see `slacktide.store.publication`."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from slacktide.errors import SinkError, SlacktideError, StorageError
from slacktide.store.address import Address
from slacktide.store.links import circle_on
from slacktide.store.objects import ObjectStore, connect
from slacktide.store.publication import Edition, Publication

LATEST: Final = "_latest.json"
EDITIONS: Final = "_slacktide"
_LINK, _LOCK = "_link", "_lock"
_PROBE: Final = f"{EDITIONS}/_probe-"


def open_publication(address: Address, options: Mapping[str, Any] | None = None) -> Publication:
    """Look at an address where answers are, or are to be, published; nothing is written."""
    if not address.is_local:
        pointer = PointerObject(connect(address, options))
        place = address.child(EDITIONS)
        return Publication(address, pointer, place, partial(connect, place, options))
    link = PointerLink(Path(address.path))
    place = Address(address.scheme, address.authority, str(link.folder))
    return Publication(address, link, place, partial(connect, place, create=True))


class PointerLink:
    """A symbolic link that is the published directory itself."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.folder = path.parent / f".{path.name}.slacktide"

    def read(self) -> tuple[Edition | None, Edition | None]:
        """The edition that the link leads to, twice: it is what the link is compared by."""
        with _local(self._path):
            try:
                target = str(self._path.readlink())
            except FileNotFoundError:
                return None, None
            except OSError as error:
                if error.errno != errno.EINVAL:
                    raise
                self._check_empty()
                return None, None
        parent, _, name = target.rpartition("/")
        edition = Edition.parse(name)
        if parent != self.folder.name or edition is None:
            raise SinkError(
                f"{self._path} is a link that Slacktide did not make",
                hint="give the sink a path where nothing is",
            )
        return edition, edition

    def _check_empty(self) -> None:
        if not self._path.is_dir():
            fact = "is a file"
        elif any(self._path.iterdir()):
            fact = "holds files that Slacktide did not publish"
        else:
            return
        raise SinkError(f"{self._path} {fact}", hint="give the sink a path where nothing is")

    def foreign(self, owner: str) -> str | None:
        """Name something that is there and not of a workspace, or why nothing can be there."""
        with _local(self._path):
            parent = self._path.parent
            while not parent.exists() and parent != parent.parent:
                parent = parent.parent
            if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
                raise SinkError(
                    f"{self._path} cannot be made: {parent} is no directory that may be written",
                    hint="give the sink another path, or grant access to it",
                )
            if not self.folder.is_dir():
                return None
            there = [entry.name for entry in self.folder.iterdir()]
        for name in sorted(there):
            edition = Edition.parse(name)
            if name not in {_LINK, _LOCK} and (edition is None or not edition.is_of(owner)):
                return f"{self.folder.name}/{name}"
        return None

    def check_overwrites(self, token: str) -> None:
        """Nothing is to be checked: a rename under a lock overwrites what was seen, on every disk."""

    def switch(self, edition: Edition, document: Mapping[str, Any], seen: Edition | None) -> bool:
        """Replace the link in one step, unless it is not as it was seen."""
        del document  # it lies in the edition, beside the data
        with _local(self._path), self._alone():
            now, _ = self.read()
            if now != seen:
                return False
            link = self.folder / _LINK
            link.unlink(missing_ok=True)
            link.symlink_to(f"{self.folder.name}/{edition.folder}")
            if now is None:
                with suppress(FileNotFoundError, NotADirectoryError):
                    self._path.rmdir()  # it is empty, or this fails
            link.replace(self._path)
        return True

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with (self.folder / _LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class PointerObject:
    """The object `_latest.json`, replaced only while it is as it was read."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    def read(self) -> tuple[Edition | None, Any]:
        """The edition that the object names, and what it is to be compared with."""
        found = self._objects.get_tagged(LATEST)
        if found is None:
            return None, None
        data, tag = found
        try:
            folder = str(json.loads(data)["folder"])
        except (ValueError, KeyError, TypeError):
            folder = ""
        parent, _, name = folder.rpartition("/")
        edition = Edition.parse(name)
        if parent != EDITIONS or edition is None:
            where = self._objects.address.child(LATEST).spelling
            raise SinkError(
                f"{where} is an object that Slacktide did not write",
                hint="give the sink a path where nothing is",
            )
        return edition, tag

    def foreign(self, owner: str) -> str | None:
        """Name an object that is there and not of a workspace."""
        for meta in self._objects.list(""):
            parent, _, rest = meta.path.partition("/")
            edition = Edition.parse(rest.partition("/")[0])
            if meta.path.startswith(_PROBE):
                continue  # a check was killed
            if parent != EDITIONS or edition is None or not edition.is_of(owner):
                return meta.path
        return None

    def check_overwrites(self, token: str) -> None:
        """Try to overwrite an object that was written since it was read, and remove it.

        Raises:
            SinkError: the store overwrites it; readers would be led back to older answers.
        """
        key = f"{_PROBE}{token}"
        self._objects.put(key, b"read")
        try:
            found = self._objects.get_tagged(key)
            self._objects.put(key, b"written since")
            ignored = found is None or self._objects.put_if_same(key, b"over it", found[1])
        finally:
            self._objects.delete([key])
        if ignored:
            raise SinkError(
                f"the object store at {self._objects.address.spelling} ignores the condition of an "
                "overwrite, by which a sink moves to newer answers only",
                hint="choose one that knows conditional overwrites (If-Match), or leave the sink out",
            )

    def switch(self, edition: Edition, document: Mapping[str, Any], seen: Any) -> bool:
        """Write the object, unless it is not as it was seen."""
        body = {"folder": f"{EDITIONS}/{edition.folder}", **document}
        data = json.dumps(body, ensure_ascii=False, indent=1).encode()
        return self._objects.put_if_same(LATEST, data, seen)


@contextmanager
def _local(path: Path) -> Iterator[None]:
    """Raise what the file system raises as an error of ours."""
    try:
        yield
    except SlacktideError:
        raise
    except PermissionError as error:
        raise SinkError(
            f"{path} may not be read or written by this user",
            hint="grant access to it, or run as a user that has it",
        ) from error
    except NotADirectoryError as error:
        raise SinkError(
            f"{path} lies below a file", hint="give the sink a path below a directory"
        ) from error
    except OSError as error:
        circle = circle_on(path.parent)
        if circle is not None:
            raise SinkError(
                f"{path} cannot be made: {circle} is a symbolic link that leads back to itself",
                hint="remove the link, or give the sink another path",
            ) from error
        raise StorageError(
            f"the file system failed at {path}: {error.strerror}",
            hint="the same call may succeed when repeated",
        ) from error

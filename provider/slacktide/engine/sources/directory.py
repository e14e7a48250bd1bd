"""The directory where the files of a source land, read through obstore.

Everything that goes wrong here becomes a `SourceError` where the user must act, and a
`StorageError` where the same call may succeed later.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import obstore
from obstore import exceptions as failure
from obstore.store import LocalStore

from slacktide.common.clock import isoformat
from slacktide.errors import (
    InvalidSettingError,
    SetupError,
    SlacktideError,
    SourceError,
    StorageError,
)
from slacktide.store.address import Address, parse_address
from slacktide.store.failures import GIVE_CREDENTIALS, advice_on, fact_of, is_denied, setup_error_of
from slacktide.store.links import circle_below, circle_on
from slacktide.store.objects import is_folder
from slacktide.store.reach import reach

if TYPE_CHECKING:
    from typing_extensions import Buffer

_T = TypeVar("_T")
_FOREIGN: Final = (failure.BaseError, ValueError, OSError)
_CHUNK: Final = 8 * 1024 * 1024


class Listed(NamedTuple):
    """What a store tells of a file; `key` is relative to the directory."""

    key: str
    size: int
    modified: datetime
    etag: str | None

    @property
    def mark(self) -> str:
        """The modification time as it is pinned."""
        return isoformat(self.modified)


class Directory:
    """All files under one address, through one client of obstore.

    Args:
        client: for a local directory a client rooted there, else one of the whole bucket.
        address: of the directory.
    """

    def __init__(self, client: obstore.store.ObjectStore, address: Address) -> None:
        self._client = client
        self.address = address
        self._prefix = "" if address.is_local or not address.path else f"{address.path}/"
        self._parent = address.spelling.rstrip("/") + "/"

    @property
    def is_local(self) -> bool:
        """Whether the directory is one of this machine."""
        return self.address.is_local

    def path(self, key: str) -> str:
        """Give the address of a file in the spelling of the workspace."""
        return self._parent + key

    def key(self, path: str) -> str | None:
        """Give the key of a path in this directory, or None where it is not in it."""
        return path.removeprefix(self._parent) if path.startswith(self._parent) else None

    def files(self) -> Iterator[Listed]:
        """List all data files: no part of their name below here begins with ``_`` or ``.``.

        On disks, those called ``NAME#1``, of whatever number, are none either: obstore writes to such names
        first, and lists none of them.
        """
        try:
            for batch in obstore.list(self._client, self._prefix.rstrip("/") or None):
                for meta in batch:
                    listed = self._listed(meta)
                    head = partial(self.head, listed.key)
                    if is_data(listed.key) and not is_folder(listed.size, self.address, head):
                        yield listed
        except _FOREIGN as error:
            if self.is_local:
                _refuse_below(Path(self.address.path), error)
            raise _translate(error, self.address.spelling) from error

    def head(self, key: str) -> Listed | None:
        """Describe a file, or None where there is none."""
        return self._found(key, lambda: self._listed(obstore.head(self._client, self._full(key))))

    def read(self, key: str) -> tuple[Listed, bytes] | None:
        """Read a whole file and what the store tells of just that content."""

        def read() -> tuple[Listed, bytes]:
            got = obstore.get(self._client, self._full(key))
            return self._listed(got.meta), bytes(got.bytes())

        return self._found(key, read)

    def chunks(self, key: str) -> Iterator[bytes]:
        """Read a file piece by piece."""
        try:
            got = obstore.get(self._client, self._full(key))
            for chunk in got.stream(min_chunk_size=_CHUNK):
                yield bytes(chunk)
        except _FOREIGN as error:
            raise _translate(error, self.path(key)) from error

    def open(self, key: str) -> RangedFile | None:
        """Open a file for random access, or give None where there is none."""
        listed = self.head(key)
        return None if listed is None else RangedFile(self, key, listed.size)

    def read_range(self, key: str, start: int, length: int) -> bytes:
        """Read a part of a file."""
        try:
            client, path = self._client, self._full(key)
            return bytes(obstore.get_range(client, path, start=start, length=length))
        except _FOREIGN as error:
            raise _translate(error, self.path(key)) from error

    def _found(self, key: str, call: Callable[[], _T]) -> _T | None:
        try:
            return call()
        except FileNotFoundError:
            return None
        except _FOREIGN as error:
            raise _translate(error, self.path(key)) from error

    def _full(self, key: str) -> str:
        return self._prefix + key

    def _listed(self, meta: Mapping[str, Any]) -> Listed:
        key = str(meta["path"]).removeprefix(self._prefix)
        return Listed(key, int(meta["size"]), meta["last_modified"], meta["e_tag"])


class RangedFile(io.RawIOBase):
    """A file of a directory, of which only the parts that are asked for are read."""

    def __init__(self, directory: Directory, key: str, size: int) -> None:
        super().__init__()
        self._directory = directory
        self._key = key
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        length = min(len(view), self._size - self._at)
        if length <= 0:
            return 0
        data = self._directory.read_range(self._key, self._at, length)
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


def is_data(key: str) -> bool:
    """Tell whether a file holds data: neither it nor a folder of it is hidden, or on its way (`hdfs put`).

    Spark passes over all of these, named as they may be.
    """
    parts = key.split("/")
    return not any(part.startswith(("_", ".")) or part.endswith("._COPYING_") for part in parts)


def open_directory(path: str, storage_options: Mapping[str, Any] | None) -> Directory:
    """Reach the directory of a source.

    Raises:
        SourceError: it is missing, a file, or may not be read.
        InvalidSettingError: the address or a storage option is not known.
    """
    address = parse_address(path)
    if address.is_local:
        return Directory(_local(Path(address.path)), address)
    return Directory(bucket(address, storage_options), address)


def bucket(
    address: Address, storage_options: Mapping[str, Any] | None
) -> obstore.store.ObjectStore:
    """Make a client of the bucket of an address, or of the whole local file system."""
    if address.is_local:
        return LocalStore()
    try:
        return reach(address, storage_options)
    except SlacktideError:
        raise
    except _FOREIGN as error:
        raise _translate(error, address.spelling) from error


def _local(path: Path) -> LocalStore:
    circle = circle_on(path)
    if circle is not None:
        raise _circular(str(path), circle)
    try:
        there, is_directory = path.exists(), path.is_dir()
    except PermissionError as error:
        raise _denied(str(path)) from error
    if not there:
        raise SourceError(
            f"there is no directory {path}", hint="make it, or give the path where files land"
        )
    if not is_directory:
        raise SourceError(
            f"{path} is a file, not a directory",
            hint="give the directory where files land; every file in it is an arrival",
        )
    if not os.access(path, os.R_OK | os.X_OK, effective_ids=True):
        raise _denied(str(path))
    try:
        return LocalStore(path)
    except _FOREIGN as error:
        raise _translate(error, str(path)) from error


def _refuse_below(folder: Path, error: Exception) -> None:
    """Raise for what no repeated look would find mended; obstore says of all that the store failed."""
    circle = circle_below(folder)
    if circle is not None:
        raise _circular(str(folder), circle) from error

    def refuse(found: OSError) -> None:
        if isinstance(found, PermissionError):
            raise _denied(str(found.filename)) from error

    for _ in os.walk(folder, onerror=refuse, followlinks=True):
        pass


def _circular(where: str, link: Path) -> SourceError:
    return SourceError(
        f"{where} cannot be read: {link} is a symbolic link that leads back to itself or above itself",
        hint="remove the link, or give the path where files land",
    )


def _denied(where: str) -> SourceError:
    return SourceError(
        f"{where} may not be read by this user",
        hint="grant access to it, or run as a user that has it",
    )


def _translate(error: Exception, where: str) -> SlacktideError:
    fact = fact_of(error)
    is_refused = Path(where).is_absolute() and is_denied(Path(where), os.R_OK)
    if isinstance(error, failure.PermissionDeniedError | PermissionError) or is_refused:
        return _denied(where)
    if isinstance(error, FileNotFoundError):
        return SourceError(f"there is no {where}", hint="give the path where files land")
    if isinstance(error, failure.UnauthenticatedError):
        return SetupError(
            f"{where} cannot be read without credentials: {fact}", hint=GIVE_CREDENTIALS
        )
    if isinstance(error, failure.UnknownConfigurationKeyError):
        return InvalidSettingError(fact, hint="see the options of obstore for this scheme")
    if isinstance(error, failure.NotSupportedError | failure.InvalidPathError | ValueError):
        return SourceError(
            f"{where} cannot be read: {fact}", hint="rename or remove the file that it speaks of"
        )
    if (found := setup_error_of(error, where)) is not None:
        return found
    return StorageError(f"the store failed at {where}: {fact}", hint=advice_on(fact))

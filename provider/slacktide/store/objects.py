"""Objects under one root: obstore for the store, and the edge for its errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

import obstore
from obstore import exceptions as failure
from obstore.store import LocalStore

from slacktide.errors import SlacktideError, WorkspaceError, WorkspaceMissingError
from slacktide.store.address import Address, check_relative
from slacktide.store.failures import is_denied, translated_failure
from slacktide.store.layout import DEPTH
from slacktide.store.links import circle_on
from slacktide.store.reach import reach

if TYPE_CHECKING:
    from obstore import UpdateVersion

Tag = Mapping[str, str]
ByteRange = tuple[str, int, int]  # the key of an object, the first byte, and that behind the last
_REMOTE_READERS: Final = 16
_K = TypeVar("_K")
_T = TypeVar("_T")
_FOREIGN: Final = (failure.BaseError, ValueError, OSError)


@dataclass(frozen=True, slots=True)
class ObjectMeta:
    """What a listing tells of an object; `path` is relative to the root."""

    path: str
    size: int
    modified: str
    etag: str | None


def is_folder(size: int, address: Address, head: Callable[[], object]) -> bool:
    """Tell the mark of a folder, an empty object named ``folder/``, from an empty object.

    Hadoop and consoles make such marks; obstore lists them without their slash, and cannot remove them.

    Args:
        size: of what is listed.
        address: where; on disks there are no such marks.
        head: looks for an object of that name.
    """
    return not (size or address.is_local) and head() is None


class Objects(Protocol):
    """What the store needs of an object store; keys are relative to a root."""

    @property
    def address(self) -> Address: ...
    def put_if_absent(self, key: str, data: bytes) -> bool: ...
    def put(self, key: str, data: bytes) -> None: ...
    def get(self, key: str) -> bytes | None: ...
    def get_many(self, keys: Sequence[str]) -> Sequence[bytes | None]: ...
    def get_ranges(self, ranges: Sequence[ByteRange]) -> Sequence[bytes | None]: ...
    def head(self, key: str) -> ObjectMeta | None: ...
    def delete(self, keys: Sequence[str]) -> None: ...
    def list(self, prefix: str) -> Iterator[ObjectMeta]: ...


class ObjectStore:
    """Objects under one root, through obstore.

    Every method raises `StorageError` where a retry may help, and a `UserError` where it cannot.
    """

    def __init__(self, client: obstore.store.ObjectStore, address: Address) -> None:
        self._client = client
        self._address = address
        self._prefix = "" if address.is_local or not address.path else f"{address.path}/"
        self._readers = 1 if address.is_local else _REMOTE_READERS

    @property
    def address(self) -> Address:
        return self._address

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object unless there is one; tell whether this call wrote it."""
        try:
            obstore.put(self._client, self._key(key), data, mode="create", use_multipart=False)
        except failure.AlreadyExistsError:
            return False
        except _FOREIGN as error:
            raise self._ours(error, key) from error
        return True

    def put(self, key: str, data: bytes) -> None:
        """Write an object, in place of one that is there."""
        self._call(partial(obstore.put, self._client, self._key(key), data), key)

    def get(self, key: str) -> bytes | None:
        """Read an object, or None where there is none."""
        data = self._call(partial(obstore.get, self._client, self._key(key)), key)
        return None if data is None else bytes(self._call(data.bytes, key))

    def get_many(self, keys: Sequence[str]) -> Sequence[bytes | None]:
        """Read several objects; at once where each of them costs a round trip."""
        return self._each(self.get, keys)

    def get_ranges(self, ranges: Sequence[ByteRange]) -> Sequence[bytes | None]:
        """Read parts of several objects; None for an object that is not there."""
        return self._each(self._get_range, ranges)

    def _get_range(self, wanted: ByteRange) -> bytes | None:
        key, first, end = wanted
        read = partial(obstore.get_range, self._client, self._key(key), start=first, end=end)
        data = self._call(read, key)
        return None if data is None else bytes(data)

    def get_tagged(self, key: str) -> tuple[bytes, Tag] | None:
        """Read an object and what tells whether it was written since, or None where there is none."""
        data = self._call(partial(obstore.get, self._client, self._key(key)), key)
        if data is None:
            return None
        tag = {name: data.meta[name] for name in ("e_tag", "version") if data.meta[name]}
        return bytes(self._call(data.bytes, key)), tag

    def put_if_same(self, key: str, data: bytes, tag: Tag | None) -> bool:
        """Write an object if it was not written since it was read; None: if there is none."""
        if tag is None:
            return self.put_if_absent(key, data)
        mode = cast("UpdateVersion", tag)
        try:
            obstore.put(self._client, self._key(key), data, mode=mode, use_multipart=False)
        except failure.PreconditionError:
            return False
        except _FOREIGN as error:
            raise self._ours(error, key) from error
        return True

    def head(self, key: str) -> ObjectMeta | None:
        """Describe an object, or None where there is none."""
        meta = self._call(partial(obstore.head, self._client, self._key(key)), key)
        return None if meta is None else self._meta(meta)

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects; one that is gone already is no error."""
        self._each(self._delete, keys)
        if self._address.is_local:
            for key in keys:
                self._tidy(key)

    def list(self, prefix: str) -> Iterator[ObjectMeta]:
        """List all objects in a directory and below it; an empty prefix is the root."""
        where = self._key(prefix) if prefix else self._prefix.rstrip("/")
        try:
            for batch in obstore.list(self._client, where or None):
                for meta in batch:
                    found = self._meta(meta)
                    if not is_folder(found.size, self._address, partial(self.head, found.path)):
                        yield found
        except FileNotFoundError:
            return
        except _FOREIGN as error:
            raise self._ours(error, prefix) from error

    def remove_folder(self, prefix: str) -> None:
        """Remove a directory of which all objects are removed; object stores have none."""
        if self._address.is_local:
            top = Path(self._address.path, check_relative(prefix))
            for folder in sorted([top, *top.rglob("*/")], reverse=True):
                with suppress(OSError):  # there is more in it, or another process was faster
                    folder.rmdir()

    def _tidy(self, key: str) -> None:
        """Remove the directories of an attempt that are empty now; object stores have none."""
        *parents, _ = key.split("/")
        while len(parents) >= DEPTH:
            try:
                Path(self._address.path, *parents).rmdir()
            except OSError:  # there is more in it, or another process was faster
                return
            parents.pop()

    def _delete(self, key: str) -> None:
        self._call(partial(obstore.delete, self._client, self._key(key)), key)

    def _each(self, call: Callable[[_K], _T], keys: Sequence[_K]) -> Sequence[_T]:
        if self._readers == 1 or len(keys) < 2:
            return [call(key) for key in keys]
        with ThreadPoolExecutor(min(self._readers, len(keys))) as pool:
            return list(pool.map(call, keys))

    def _key(self, key: str) -> str:
        return self._prefix + check_relative(key)

    def _meta(self, meta: Mapping[str, Any]) -> ObjectMeta:
        path = str(meta["path"]).removeprefix(self._prefix)
        modified = meta["last_modified"].isoformat()
        return ObjectMeta(path, int(meta["size"]), modified, meta["e_tag"])

    def _call(self, call: Callable[[], Any], key: str) -> Any:
        try:
            return call()
        except FileNotFoundError:
            return None
        except _FOREIGN as error:
            raise self._ours(error, key) from error

    def _ours(self, error: Exception, key: str) -> SlacktideError:
        where = self._address.child(key).spelling if key else self._address.spelling
        return translated_failure(
            error, where, denied=self._address.is_local and is_denied(Path(where))
        )


def connect(
    address: Address, options: Mapping[str, Any] | None = None, *, create: bool = False
) -> ObjectStore:
    """Reach the objects under an address.

    Options are as `slacktide.store.reach` says.

    Raises:
        WorkspaceMissingError: the local directory is missing and is not to be created.
        WorkspaceError: the local path is no directory or may not be used.
        InvalidSettingError: an option is not known.
    """
    if address.is_local:
        return ObjectStore(_open_local(address, create=create), address)
    try:
        client = reach(address, options)
    except SlacktideError:
        raise
    except _FOREIGN as error:
        raise translated_failure(error, address.spelling, denied=False) from error
    return ObjectStore(client, address)


def _open_local(address: Address, *, create: bool) -> LocalStore:
    path = Path(address.path)
    client = None
    circle = circle_on(path)
    if circle is not None:
        raise WorkspaceError(
            f"{address.spelling} cannot be used: {circle} is a symbolic link that leads back to itself",
            hint="remove the link, or give the path of a directory",
        )
    try:
        if create:
            path.mkdir(parents=True, exist_ok=True)
        there = path.exists()
        if path.is_dir():
            client = LocalStore(path)
    except (NotADirectoryError, FileExistsError):
        there = True
    except (failure.BaseError, OSError) as error:
        denied = isinstance(error, PermissionError)
        raise translated_failure(error, address.spelling, denied=denied) from error
    if not there:
        raise WorkspaceMissingError(
            f"there is no directory {address.spelling}", hint="make a workspace: slacktide init"
        )
    if client is None:
        raise WorkspaceError(
            f"{address.spelling} is not a directory", hint="give the path of a directory"
        )
    return client

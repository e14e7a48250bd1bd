"""Pins: a file as it was when it was accepted, and whether it still is that file.

A file is the same while its size and the mark of its store (the ETag; where there is none, the
modification time) are. Where the mark is another one, equal content decides: a file that was touched,
or delivered again as it was, is still the same arrival. For that a digest of the content is pinned. It
is taken of every local file, and of files up to 16 MiB in object stores; greater ones are not read
for it, as the ETag of a plain upload is a digest of the content already.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from shlex import quote
from typing import Any, Final, TypeVar

from slacktide.engine.sources.directory import Directory, Listed, bucket
from slacktide.errors import ArrivalChangedError, CommitConflictError
from slacktide.store.address import LOCAL, Address, parse_address
from slacktide.store.arrivals import PinnedFile

READ_WHOLE: Final = 16 * 1024 * 1024
_REMOTE_READERS: Final = 16
_Place = tuple[Directory, str]
_Item = TypeVar("_Item")
_Found = TypeVar("_Found")
GONE: Final = "is gone"
"""How a file differs that is not there any more."""

Sightings = dict[str, Listed | None]
"""What a store told of files when they were looked at, by their addresses."""


def content_digest(chunks: Iterable[bytes]) -> str:
    """Digest the bytes of a file."""
    hasher = hashlib.blake2b(digest_size=16)
    for chunk in chunks:
        hasher.update(chunk)
    return hasher.hexdigest()


def is_digested(directory: Directory, size: int) -> bool:
    """Tell whether the content of a file of this size is digested."""
    return directory.is_local or size <= READ_WHOLE


def check_pins(
    files: Iterable[PinnedFile],
    *,
    storage_options: Mapping[str, Any] | None = None,
    source: str = "",
) -> Sightings:
    """Check that files are still as they were when they were accepted; give what the store told of them.

    Args:
        files: as they were pinned.
        storage_options: of the store that they are in.
        source: whose files they are, to be named in the error.

    Raises:
        ArrivalChangedError: one of them changed or went away; the first in the given order.
    """
    pinned = list(files)
    places = _places((file.path for file in pinned), storage_options)
    seen: Sightings = {}

    def look(one: tuple[PinnedFile, _Place]) -> tuple[Listed | None, str | None]:
        file, (directory, key) = one
        now = directory.head(key)
        return now, difference(directory, key, file, now)

    found = each(look, list(zip(pinned, places, strict=True)), is_local=_are_local(places))
    for file, (now, fact) in zip(pinned, found, strict=True):
        if fact is not None:
            raise changed(file, fact, source)
        seen[file.path] = now
    return seen


def check_unmoved(seen: Sightings, *, storage_options: Mapping[str, Any] | None = None) -> None:
    """Check that files are as they were when they were looked at: whoever has read them since has read that.

    An object store gives what was written whole, so there an equal ETag will do. On a disk a file may have been
    read while it was short.

    Raises:
        CommitConflictError: one of them was written again, or went away.
    """
    places = _places(seen, storage_options)
    found = each(lambda place: place[0].head(place[1]), places, is_local=_are_local(places))
    for (path, before), now in zip(seen.items(), found, strict=True):
        if (
            before is None
            or now is None
            or not _is_same(now, before.size, before.mark, before.etag)
        ):
            raise CommitConflictError(
                f"nothing is committed, as {path} was written while the run read it",
                hint="run it again; if its content is another one now, that says so",
            )


def _places(paths: Iterable[str], storage_options: Mapping[str, Any] | None) -> list[_Place]:
    """The directory of each file, one for each store, and its key there."""
    roots: dict[tuple[str, str], Directory] = {}
    found: list[_Place] = []
    for path in paths:
        address = parse_address(path)
        place = (address.scheme, address.authority)
        if place not in roots:
            root = Address(*place, "/" if address.scheme == LOCAL else "")
            roots[place] = Directory(bucket(root, storage_options), root)
        found.append((roots[place], address.path.lstrip("/")))
    return found


def _are_local(places: Iterable[_Place]) -> bool:
    return all(directory.is_local for directory, _ in places)


def each(
    call: Callable[[_Item], _Found], items: Sequence[_Item], *, is_local: bool
) -> Iterator[_Found]:
    """Do something with each of some files, in their order; with many at once where each costs round trips."""
    if is_local or len(items) < 2:
        yield from map(call, items)
        return
    with ThreadPoolExecutor(min(_REMOTE_READERS, len(items))) as pool:
        yield from pool.map(call, items)


def difference(directory: Directory, key: str, file: PinnedFile, now: Listed | None) -> str | None:
    """Say how a file differs from its pin, in words; None where it is the same.

    Args:
        directory: in which it lies.
        key: of it there.
        file: as it was pinned.
        now: what the store tells of it; None where it is gone.
    """
    if now is None:
        return GONE
    if is_as_pinned(now, file):
        return None
    if now.size != file.size:
        return other_size(file, now)
    if file.digest is not None and content_digest(directory.chunks(key)) == file.digest:
        return None
    if now.mark == file.modified:
        return f"changed: its size and time are those of {file.modified}, and its content is not"
    return f"changed: it was written at {file.modified} and again at {now.mark}"


def other_size(file: PinnedFile, now: Listed) -> str:
    """Say how a file differs that is of another size, in words."""
    return f"changed: it had {file.size} bytes and has {now.size}"


def is_as_pinned(now: Listed, file: PinnedFile) -> bool:
    """Whether a file has the size and the mark that it had when it was accepted."""
    return _is_same(now, file.size, file.modified, file.etag)


def _is_same(now: Listed, size: int, mark: str, etag: str | None) -> bool:
    if now.size != size:
        return False
    if etag is None or now.etag is None:
        return now.mark == mark
    # Azure quotes marks where it describes an object, and not where it lists them.
    return now.etag.strip('"') == etag.strip('"')


def changed(file: PinnedFile, fact: str, source: str) -> ArrivalChangedError:
    """Make the error for a file that is not as it was accepted."""
    owner = f"source {source}: " if source else ""
    name = source or "NAME"
    return ArrivalChangedError(
        f"{owner}{file.path} {fact}, after it was accepted",
        hint=f"give what is new another name, and put the file back if it is still read; or: slacktide source skip {name} "
        f"{quote(file.path)}, or: slacktide source reset {name}; source hold {name} lets others go on meanwhile",
    )

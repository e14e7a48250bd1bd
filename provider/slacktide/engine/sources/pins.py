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
from slacktide.errors import ArrivalChangedError
from slacktide.store.address import LOCAL, Address, parse_address
from slacktide.store.arrivals import PinnedFile

READ_WHOLE: Final = 16 * 1024 * 1024
_REMOTE_READERS: Final = 16
_Item = TypeVar("_Item")
_Found = TypeVar("_Found")
GONE: Final = "is gone"
"""How a file differs that is not there any more."""


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
) -> None:
    """Check that files are still as they were when they were accepted.

    Args:
        files: as they were pinned.
        storage_options: of the store that they are in.
        source: whose files they are, to be named in the error.

    Raises:
        ArrivalChangedError: one of them changed or went away; the first in the given order.
    """
    roots: dict[tuple[str, str], Directory] = {}
    pinned: list[tuple[Directory, str, PinnedFile]] = []
    for file in files:
        address = parse_address(file.path)
        place = (address.scheme, address.authority)
        if place not in roots:
            root = Address(*place, "/" if address.scheme == LOCAL else "")
            roots[place] = Directory(bucket(root, storage_options), root)
        pinned.append((roots[place], address.path.lstrip("/"), file))
    is_local = all(directory.is_local for directory, _, _ in pinned)
    found = each(lambda pin: difference(*pin), pinned, is_local=is_local)
    for (_, _, file), fact in zip(pinned, found, strict=True):
        if fact is not None:
            raise changed(file, fact, source)


def each(
    call: Callable[[_Item], _Found], items: Sequence[_Item], *, is_local: bool
) -> Iterator[_Found]:
    """Do something with each of some files, in their order; with many at once where each costs round trips."""
    if is_local or len(items) < 2:
        yield from map(call, items)
        return
    with ThreadPoolExecutor(min(_REMOTE_READERS, len(items))) as pool:
        yield from pool.map(call, items)


def difference(directory: Directory, key: str, file: PinnedFile) -> str | None:
    """Say how a file differs from its pin, in words; None where it is the same."""
    now = directory.head(key)
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
    if now.size != file.size:
        return False
    if file.etag is None or now.etag is None:
        return now.mark == file.modified
    # Azure quotes marks where it describes an object, and not where it lists them.
    return now.etag.strip('"') == file.etag.strip('"')


def changed(file: PinnedFile, fact: str, source: str) -> ArrivalChangedError:
    """Make the error for a file that is not as it was accepted."""
    owner = f"source {source}: " if source else ""
    name = source or "NAME"
    return ArrivalChangedError(
        f"{owner}{file.path} {fact}, after it was accepted",
        hint=f"give what is new another name, and put the file back if it is still read; or: slacktide source skip {name} "
        f"{quote(file.path)}, or: slacktide source reset {name}; source hold {name} lets others go on meanwhile",
    )

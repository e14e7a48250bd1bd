"""Digests of content: the same in every process, version and machine.

The algorithm carries a version of its own, because digests name states on disk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

VERSION = 1
_SIZE = 16


def digest_of(*parts: object) -> bytes:
    """Digest a tree of tuples, texts, numbers, booleans, None and digests.

    Every part is written with its kind and length, so that no two different trees share a text.
    """
    hasher = hashlib.blake2b(digest_size=_SIZE, person=b"slacktide%d" % VERSION)
    for chunk in _encode(parts):
        hasher.update(chunk)
    return hasher.digest()


def _encode(root: object) -> Iterable[bytes]:
    stack: list[object] = [root]
    while stack:
        value = stack.pop()
        if isinstance(value, tuple | list):
            yield b"(%d" % len(value)
            stack.extend(reversed(value))
        else:
            kind, body = _atom(value)
            yield b"%s%d:" % (kind, len(body))
            yield body


def _atom(value: object) -> tuple[bytes, bytes]:
    match value:
        case None:
            return b"z", b""
        case bool():
            return b"b", b"1" if value else b"0"
        case int():
            return b"i", str(value).encode()
        case str():
            return b"s", value.encode()
        case bytes():
            return b"y", value
        case _:
            digest = getattr(value, "digest", None)
            if isinstance(digest, bytes):
                return b"d", digest
            raise TypeError(f"cannot digest a {type(value).__name__}")

"""Digests of content: the same in every process, version and machine.

The algorithm carries a version of its own, because digests name states on disk.
"""

from __future__ import annotations

import hashlib
from typing import Any

VERSION = 1
_SIZE = 16


def digest_of(*parts: object) -> bytes:
    """Digest a tree of tuples, texts, numbers, booleans, None and digests.

    Every part is written with its kind and length, so that no two different trees share a text.
    """
    person = b"slacktide%d" % VERSION
    return hashlib.blake2b(_encoded(parts), digest_size=_SIZE, person=person).digest()


def _encoded(root: object) -> bytes:
    """Written as a loop over exact types, as whatever is planned passes here; their subclasses are refused."""
    chunks: list[bytes] = []
    stack: list[Any] = [root]
    while stack:
        value = stack.pop()
        kind = type(value)
        if kind is tuple or kind is list:
            chunks.append(b"(%d" % len(value))
            stack.extend(value[::-1])
            continue
        if kind is str:
            letter, body = b"s", value.encode()
        elif kind is int:
            letter, body = b"i", b"%d" % value
        elif kind is bool:
            letter, body = b"b", b"1" if value else b"0"
        elif value is None:
            letter, body = b"z", b""
        elif kind is bytes:
            letter, body = b"y", value
        else:
            letter, body = b"d", _digest_in(value)
        chunks.append(b"%s%d:%s" % (letter, len(body), body))
    return b"".join(chunks)


def _digest_in(value: object) -> bytes:
    digest = getattr(value, "digest", None)
    if not isinstance(digest, bytes):
        raise TypeError(f"cannot digest a {type(value).__name__}")
    return digest

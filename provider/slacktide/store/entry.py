"""Entries of the log: their names and their form.

An entry is one JSON document; its last field is a digest of all before, so that what was edited by hand or
torn is never folded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from slacktide.errors import InvariantError, WorkspaceError
from slacktide.store.requirement import Requirement
from slacktide.store.serde import FORMAT, REQUIREMENTS, UPDATES, encode, newer
from slacktide.store.update import Update

_CORRUPT: Final = "restore the object from a backup; Slacktide never rewrites it"
_FIELDS: Final = frozenset({"format", "writer", "at", "updates", "requirements", "digest"})
_DIGEST: Final = b',"digest":"%s"}'


@dataclass(frozen=True, slots=True)
class Entry:
    """One commit.

    Attributes:
        writer: the token of the writer, by which it knows its own entry again.
        at: the instant, for people; nothing depends on it.
    """

    writer: str
    at: str
    updates: tuple[Update, ...]
    requirements: tuple[Requirement, ...] = ()


def entry_key(number: int) -> str:
    """Name the object of an entry."""
    return f"log/{number:020d}.json"


def encode_entry(entry: Entry) -> bytes:
    """Write an entry.

    Raises:
        InvariantError: it holds what JSON cannot.
    """
    return with_digest(
        dump_json(
            {
                "format": FORMAT,
                "writer": entry.writer,
                "at": entry.at,
                "updates": [UPDATES.encode(update) for update in entry.updates],
                "requirements": [REQUIREMENTS.encode(item) for item in entry.requirements],
            }
        )
    )


def with_digest(document: bytes) -> bytes:
    """Give a JSON object with the digest of its text as its last field."""
    return document[:-1] + _DIGEST % digest_of_bytes(document).encode()


def digest_of_bytes(data: bytes) -> str:
    """Digest what is kept in an object, as 32 hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def decode_entry(data: bytes, where: str) -> Entry:
    """Read an entry; `where` names the object in errors.

    Raises:
        WorkspaceError: it is corrupt.
        NewerFormatError: a newer version wrote it.
    """
    document = load_document(data, where)
    unknown = document.keys() - _FIELDS
    if unknown:
        raise newer(where, f"the field {min(unknown)!r}")
    told = document.get("digest")
    if told is None:
        raise WorkspaceError(f"{where} is corrupt: it has no digest", hint=_CORRUPT)
    tail = len(_DIGEST % str(told).encode())
    if with_digest(data[:-tail] + b"}") != data:
        raise WorkspaceError(
            f"{where} is corrupt: its digest is that of another text", hint=_CORRUPT
        )
    writer, at = document.get("writer"), document.get("at")
    updates, requirements = document.get("updates"), document.get("requirements")
    if not (isinstance(writer, str) and isinstance(at, str)):
        raise WorkspaceError(f"{where} is corrupt: it names no writer", hint=_CORRUPT)
    if not (isinstance(updates, list) and isinstance(requirements, list)):
        raise WorkspaceError(f"{where} is corrupt: it holds no list of updates", hint=_CORRUPT)
    return Entry(
        writer,
        at,
        tuple(UPDATES.decode(item, where) for item in updates),
        tuple(REQUIREMENTS.decode(item, where) for item in requirements),
    )


def dump_json(document: Mapping[str, Any]) -> bytes:
    """Write a JSON document on one line.

    Raises:
        InvariantError: it holds what JSON cannot.
    """
    try:
        text = json.dumps(document, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
        return text.encode()
    except (TypeError, ValueError) as error:
        raise InvariantError(f"a document cannot be written as JSON: {error}") from error


def can_be_kept(value: object) -> bool:
    """Whether a value that a user gave can stand in an entry."""
    try:
        dump_json({"value": encode(value)})
    except InvariantError:
        return False
    return True


def load_document(data: bytes, where: str) -> dict[str, Any]:
    """Read a JSON document and check its format.

    Raises:
        WorkspaceError: it is no JSON document with a format.
        NewerFormatError: the format is newer than ours.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WorkspaceError(f"{where} is corrupt: {error}", hint=_CORRUPT) from error
    number = document.get("format") if isinstance(document, dict) else None
    if type(number) is not int or number < 1:
        raise WorkspaceError(f"{where} is corrupt: it has no format", hint=_CORRUPT)
    if number > FORMAT:
        raise newer(where, f"format {number}")
    return dict(document)

"""Addresses: the one place where their spellings meet.

An address has one spelling in a workspace: ``s3://bucket/key``, ``gs://bucket/key``,
``abfss://container@account/key``, or an absolute local path. ``file://`` URLs are read as URLs are,
with percent signs decoded; every other spelling is literal, as Hadoop and the clouds take it, so
that spaces and percent signs in names need no care above this module.
"""

from __future__ import annotations

import re
import reprlib
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from slacktide.errors import InvalidSettingError, InvariantError

LOCAL: Final = "file"
_SPARK_SCHEMES: Final = {"s3": "s3a", "gs": "gs", "abfss": "abfss"}
_ALIASES: Final = {"s3": "s3", "s3a": "s3", "gs": "gs", "abfss": "abfss"}
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")
_SEGMENT: Final = re.compile(r"[^/\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class Address:
    """A place in a file system or an object store.

    Attributes:
        scheme: ``file``, ``s3``, ``gs`` or ``abfss``.
        authority: the bucket, or container and account; empty for local paths.
        path: an absolute path for ``file``, else the key without slashes at its ends.
    """

    scheme: str
    authority: str
    path: str

    @property
    def is_local(self) -> bool:
        """Whether the address is a path of this machine."""
        return self.scheme == LOCAL

    @property
    def spelling(self) -> str:
        """The spelling that is shown and stored."""
        if self.is_local:
            return self.path
        return f"{self.scheme}://{self.authority}" + (f"/{self.path}" if self.path else "")

    @property
    def spark(self) -> str:
        """The spelling that Spark and Hadoop take."""
        if self.is_local:
            return f"file:{self.path}"
        tail = f"/{self.path}" if self.path else ""
        return f"{_SPARK_SCHEMES[self.scheme]}://{self.authority}{tail}"

    def child(self, relative: str) -> Address:
        """Give the address of an object below this one."""
        key = check_relative(relative)
        parent = self.path.rstrip("/")
        local = self.is_local
        return Address(self.scheme, self.authority, f"{parent}/{key}" if parent or local else key)

    def relative(self, other: Address) -> str | None:
        """Give the key of an address below this one, or None where it is not below."""
        if (self.scheme, self.authority) != (other.scheme, other.authority):
            return None
        prefix = self.path.rstrip("/") + "/" if self.path or self.is_local else ""
        return other.path.removeprefix(prefix) if other.path.startswith(prefix) else None


def parse_address(given: str | PathLike[str]) -> Address:
    """Read an address as a user spells it, Spark's own schemes included.

    Raises:
        InvalidSettingError: it is no text or path, the scheme is not known, or the address holds credentials.
    """
    text = fspath(given) if isinstance(given, PathLike) else given
    if not isinstance(text, str):
        raise InvalidSettingError(
            f"the address is {reprlib.repr(given)}, which is neither a text nor a path",
            hint="give a path or a URL",
        )
    match = _SCHEME.match(text)
    if match is None:
        return _local(text)
    scheme, rest = match[1].lower(), text[match.end() - 1 :]
    if scheme == LOCAL:
        return _local(unquote(_without_host(text, rest)))
    if scheme not in _ALIASES or not rest.startswith("//"):
        raise InvalidSettingError(
            f"addresses with the scheme {scheme!r} are not known",
            hint="use s3://, gs://, abfss://, file:// or a path",
        )
    authority, _, key = rest[2:].partition("/")
    _check_authority(_ALIASES[scheme], authority)
    key = "/".join(_segments(key, text))
    return Address(_ALIASES[scheme], authority, key)


def from_spark(text: str) -> Address:
    """Read an address as Spark reports it: a URI, percent signs encoded."""
    return parse_address(text if text.startswith(f"{LOCAL}:") else unquote(text))


def check_relative(relative: str) -> str:
    """Return the key when it names an object below a root.

    Raises:
        InvariantError: it is empty, absolute, or climbs out of the root.
    """
    for segment in relative.split("/"):
        if not _SEGMENT.fullmatch(segment) or segment in {".", ".."}:
            raise InvariantError(f"{relative!r} does not name an object below a root")
    return relative


def _local(text: str) -> Address:
    if not text.strip() or "\x00" in text:
        raise InvalidSettingError("an address is empty", hint="give a path or a URL")
    try:
        expanded = Path(text).expanduser()
    except RuntimeError as error:
        raise InvalidSettingError(
            f"the address {text!r} is below the home of a user that is not known here",
            hint="give an absolute path",
        ) from error
    # Symbolic links stay as the user spelled them; only "." and ".." are taken out.
    parts: list[str] = []
    for part in (expanded if expanded.is_absolute() else Path.cwd() / expanded).parts[1:]:
        if part == "..":
            del parts[-1:]
        else:
            parts.append(part)
    return Address(LOCAL, "", "/" + "/".join(parts))


def _without_host(text: str, rest: str) -> str:
    if not rest.startswith("//"):
        return rest
    host, slash, path = rest[2:].partition("/")
    if host not in {"", "localhost"} or not slash:
        raise InvalidSettingError(
            f"the address {text!r} names the host {host!r}",
            hint="write file:///absolute/path",
        )
    return "/" + path


def _check_authority(scheme: str, authority: str) -> None:
    account = scheme == "abfss"
    shape = r"[^@:/\s]+@[^@:/\s]+" if account else r"[^@:/\s]+"
    if re.fullmatch(shape, authority):
        return
    # The text is not repeated: what stands before an @ may be a secret.
    form = (
        "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH"
        if account
        else f"{scheme}://BUCKET/PATH"
    )
    raise InvalidSettingError(
        f"an {scheme}:// address does not name its bucket plainly",
        hint=f"write {form}; credentials come from the connection or the environment",
    )


def _segments(key: str, text: str) -> list[str]:
    segments = [segment for segment in key.split("/") if segment]
    if any(segment in {".", ".."} for segment in segments):
        raise InvalidSettingError(
            f"the address {text!r} has '.' or '..' in it", hint="write the plain address"
        )
    return segments

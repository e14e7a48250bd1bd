"""An object store that speaks S3, on this machine: moto's server in a process of its own (`s3_server`)."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from itertools import count
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import obstore

from slacktide.store.address import Address, parse_address
from slacktide.store.reach import reach

_ADDRESS = re.compile(r"Running on (http://\S+)")
_NUMBERS = count()
_SERVER = str(Path(__file__).with_name("s3_server.py"))
KEY, SECRET, REGION = "lake-key", "lake-secret", "eu-central-1"


@dataclass(frozen=True)
class S3:
    """A running server.

    Attributes:
        url: its address on the loopback interface.
    """

    url: str

    @property
    def options(self) -> dict[str, str]:
        """The storage options that reach it."""
        return {
            "endpoint": self.url,
            "access_key_id": KEY,
            "secret_access_key": SECRET,
            "region": REGION,
        }

    @property
    def environment(self) -> dict[str, str]:
        """The same as variables of the environment."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": REGION,
        }

    def bucket(self) -> Bucket:
        """Make a bucket of its own."""
        name = f"lake-{next(_NUMBERS)}"
        self.request("PUT", f"/{name}")
        return Bucket(self, name)

    def request(self, method: str, path: str) -> bytes:
        """Send a plain request; moto asks for no signature."""
        request = urllib.request.Request(self.url + path, method=method)  # noqa: S310 - http, ours
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            content: bytes = answer.read()
        return content


@dataclass(frozen=True)
class Bucket:
    """A bucket of a server."""

    server: S3
    name: str

    @property
    def options(self) -> Mapping[str, str]:
        """The storage options that reach it."""
        return self.server.options

    def address(self, key: str = "") -> Address:
        """The address of a key."""
        return parse_address(self.spelling(key))

    def spelling(self, key: str = "") -> str:
        """The address of a key as a user spells it."""
        return f"s3://{self.name}/{key}".rstrip("/")

    def put(self, key: str, data: bytes) -> None:
        """Write an object."""
        obstore.put(self._client, key, data)

    def read(self, key: str) -> bytes:
        """Read an object."""
        return bytes(obstore.get(self._client, key).bytes())

    def delete(self, key: str) -> None:
        """Remove an object."""
        obstore.delete(self._client, key)

    def listed(self, prefix: str = "") -> set[str]:
        """The keys as the server lists them, the marks of folders with their slash."""
        path = f"/{self.name}?list-type=2&prefix={quote(prefix)}"
        listed = self.server.request("GET", path).decode()
        assert "<IsTruncated>false</IsTruncated>" in listed
        return {unescape(key) for key in re.findall(r"<Key>(.*?)</Key>", listed)}

    def mark_folder(self, key: str) -> None:
        """Make an empty object whose name ends in a slash, as consoles and Hadoop do."""
        self.server.request("PUT", f"/{self.name}/{quote(key)}/")

    @property
    def _client(self) -> obstore.store.ObjectStore:
        return reach(self.address(), self.options)


@contextmanager
def running_s3() -> Iterator[S3]:
    """Start a server on a free port, and stop it in the end."""
    command = [sys.executable, "-W", "ignore", _SERVER, "-H", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            server = S3(_address(process))
            # What it says of every request is taken from it, as it would wait where nobody reads.
            Thread(target=deque, args=(process.stdout, 0), daemon=True).start()
            yield server
        finally:
            process.kill()


def _address(process: subprocess.Popen[bytes]) -> str:
    said = []
    for line in process.stdout or ():
        said.append(line.decode(errors="replace"))
        found = _ADDRESS.search(said[-1])
        if found:
            return found[1]
    raise RuntimeError(f"moto's server does not run: {''.join(said)}")

"""Moto's server, with conditional writes one after another.

Moto looks whether a key is there and writes it in two steps, and answers each request in a thread of its own: two
writers may both be told that theirs was the first. S3 tells one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

from moto import server
from moto.moto_server.werkzeug_app import DomainDispatcherApplication

Respond = Callable[..., Any]


class OneAtATime(DomainDispatcherApplication):
    """Holds a conditional write back while another one is answered."""

    _lock = Lock()

    def __call__(self, environ: dict[str, Any], respond: Respond) -> Iterable[bytes]:
        answer = super().__call__
        if "HTTP_IF_NONE_MATCH" not in environ or environ["REQUEST_METHOD"] not in {"PUT", "POST"}:
            return list(answer(environ, respond))
        with self._lock:
            return list(answer(environ, respond))


if __name__ == "__main__":
    vars(server)["DomainDispatcherApplication"] = OneAtATime
    server.main()

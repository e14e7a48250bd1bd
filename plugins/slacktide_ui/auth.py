"""Who may see the page, and what a browser may do with it.

Airflow mounts the application of a plugin as it is: without the checks below every page of it would be
open to anyone who reaches the server.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from airflow.api_fastapi.core_api.security import requires_authenticated
from fastapi import Depends, Request, Response

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

signed_in = Depends(requires_authenticated())


async def add_headers(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    """Send with every answer, errors included, what keeps foreign scripts and frames away."""
    response = await call_next(request)
    response.headers.update(HEADERS)
    return response

"""The application behind the page: one page, its files, and two questions; nothing changes anything."""

from __future__ import annotations

from importlib import resources
from typing import Any

from fastapi import APIRouter, FastAPI, HTTPException, Response

from slacktide_ui.auth import add_headers, signed_in
from slacktide_ui.model import known_workspaces, shown_workspace

_FILES = {
    "page.js": "text/javascript",
    "page.css": "text/css",
    "icon.svg": "image/svg+xml",
    "icon-dark.svg": "image/svg+xml",
}


def build_app() -> FastAPI:
    """Build the application; every route asks who is there."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.middleware("http")(add_headers)
    app.include_router(_router())
    return app


def _router() -> APIRouter:
    router = APIRouter(dependencies=[signed_in])

    @router.get("/")
    def page() -> Response:
        return _file("page.html", "text/html")

    @router.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in _FILES:
            raise HTTPException(404, "no such file")
        return _file(name, _FILES[name])

    @router.get("/api/workspaces")
    def workspaces() -> dict[str, Any]:
        return known_workspaces()

    @router.get("/api/workspaces/{name}")
    def workspace(name: str) -> dict[str, Any]:
        shown = shown_workspace(name)
        if shown is None:
            raise HTTPException(404, "no such workspace")
        return shown

    return router


def _file(name: str, kind: str) -> Response:
    content = (resources.files("slacktide_ui") / "static" / name).read_bytes()
    return Response(content, media_type=f"{kind}; charset=utf-8")

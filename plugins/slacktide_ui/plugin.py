"""The plugin as Airflow loads it: cheap to import, as every process of Airflow does so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow.plugins_manager import AirflowPlugin

if TYPE_CHECKING:
    from fastapi import FastAPI

PREFIX = "/slacktide"


class SlacktidePlugin(AirflowPlugin):
    """Adds one read-only page, under the name Slacktide."""

    name = "slacktide"

    @property
    def fastapi_apps(self) -> list[dict[str, Any]]:  # type: ignore[override]
        """The pages and what they ask; built in the process that serves them only."""
        return [{"app": _build(), "url_prefix": PREFIX, "name": "slacktide"}]

    @property
    def external_views(self) -> list[dict[str, Any]]:  # type: ignore[override]
        """The entry of the navigation, shown inside Airflow at ``/plugin/slacktide``."""
        return [
            {
                "name": "Slacktide",
                "href": f"{_base_path()}{PREFIX}/",
                "destination": "nav",
                "category": "browse",
                "url_route": "slacktide",
                "icon": f"{_base_path()}{PREFIX}/static/icon.svg",
                "icon_dark_mode": f"{_base_path()}{PREFIX}/static/icon-dark.svg",
            }
        ]


def _build() -> FastAPI:
    from slacktide_ui.api import build_app

    return build_app()


def _base_path() -> str:
    from airflow.configuration import conf

    return urlsplit(conf.get("api", "base_url", fallback="/")).path.rstrip("/")

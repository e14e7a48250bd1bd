"""The plugin as Airflow loads it: cheap to import, as every process of Airflow does so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
        from slacktide.orchestration.links import base_path

        at = f"{base_path()}{PREFIX}"
        return [
            {
                "name": "Slacktide",
                "href": f"{at}/",
                "destination": "nav",
                "category": "browse",
                "url_route": "slacktide",
                "icon": f"{at}/static/icon.svg",
                "icon_dark_mode": f"{at}/static/icon-dark.svg",
            }
        ]


def _build() -> FastAPI:
    from slacktide_ui.api import build_app

    return build_app()

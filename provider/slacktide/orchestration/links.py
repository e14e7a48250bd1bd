"""The link from a task to the page that shows its workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from airflow.sdk import BaseOperatorLink

if TYPE_CHECKING:
    from airflow.sdk.types import TaskInstanceKey


def page() -> str:
    """The address of the page, below the path at which Airflow is served."""
    return f"{base_path()}/plugin/slacktide"


def base_path() -> str:
    """The path at which Airflow is served; empty for the root of its host."""
    from airflow.configuration import conf

    return urlsplit(conf.get("api", "base_url", fallback="/")).path.rstrip("/")


class SlacktidePageLink(BaseOperatorLink):
    """Leads to the page of the plugin: views, freshness and last runs."""

    operators: ClassVar[list[Any]] = []

    @property
    def name(self) -> str:
        """The text of the button."""
        return "Slacktide"

    def get_link(self, operator: Any, *, ti_key: TaskInstanceKey) -> str:  # noqa: ARG002
        """Give the address of the page, the same for every task."""
        return page()

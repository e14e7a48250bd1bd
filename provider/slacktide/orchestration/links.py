"""The link from a task to the page that shows its workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from airflow.sdk import BaseOperatorLink

if TYPE_CHECKING:
    from airflow.sdk.types import TaskInstanceKey

PAGE = "/plugin/slacktide"


class SlacktidePageLink(BaseOperatorLink):
    """Leads to the page of the plugin: views, freshness and last runs."""

    operators: ClassVar[list[Any]] = []

    @property
    def name(self) -> str:
        """The text of the button."""
        return "Slacktide"

    def get_link(self, operator: Any, *, ti_key: TaskInstanceKey) -> str:  # noqa: ARG002
        """Give the address of the page, the same for every task."""
        return PAGE

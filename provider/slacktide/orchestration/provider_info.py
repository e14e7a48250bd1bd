"""What Airflow reads of this provider, without importing any of its classes."""

from __future__ import annotations

from typing import Any

_NAME = "Slacktide"
_PACKAGE = "slacktide.orchestration"


def get_provider_info() -> dict[str, Any]:
    """Give the metadata of the provider, in the form of Airflow's ``provider_info`` schema."""
    return {
        "package-name": "airflow-provider-slacktide",
        "name": _NAME,
        "description": "Incremental views on Spark: planned by cost, run when something arrives.",
        "integrations": [{"integration-name": _NAME, "tags": ["software"]}],
        "operators": _modules("plan_operator", "refresh_operator"),
        "sensors": _modules("sensor"),
        "triggers": _modules("trigger"),
        "hooks": _modules("hook"),
        "connection-types": [_connection_type()],
        "extra-links": [f"{_PACKAGE}.links.SlacktidePageLink"],
        "asset-uris": [{"schemes": ["slacktide"], "handler": None}],
        "plugins": [{"name": "slacktide", "plugin-class": "slacktide_ui.plugin.SlacktidePlugin"}],
    }


def _modules(*names: str) -> list[dict[str, Any]]:
    return [{"integration-name": _NAME, "python-modules": [f"{_PACKAGE}.{name}" for name in names]}]


def _connection_type() -> dict[str, Any]:
    return {
        "connection-type": "slacktide",
        "hook-class-name": f"{_PACKAGE}.hook.SlacktideHook",
        "hook-name": _NAME,
        "ui-field-behaviour": {
            "hidden-fields": ["schema", "login", "password", "port"],
            "relabeling": {"host": "Workspace root", "extra": "Storage options"},
            "placeholders": {"host": "s3://lake/slacktide/shop or /data/slacktide/shop"},
        },
    }

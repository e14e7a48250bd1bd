"""Asset events: every view that a run changed, with its row count, for other DAGs to wait on."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset, AssetAlias

if TYPE_CHECKING:
    from airflow.sdk import Context

_LOG = logging.getLogger(__name__)


def view_asset(workspace: str, view: str) -> Asset:
    """Give the asset that stands for a view of a workspace."""
    return Asset(name=f"slacktide/{workspace}/{view}", uri=f"slacktide://{workspace}/{view}")


def emit_asset_events(
    context: Context, outlets: Sequence[Any], workspace: str, report: Mapping[str, Any]
) -> None:
    """Emit an event for each changed view that the task declares, or into each alias it declares.

    What fails here is logged and fails nothing: the run is committed already.
    """
    try:
        _emit(context, outlets, workspace, report)
    except Exception:
        _LOG.warning("asset events of %s were not emitted", workspace, exc_info=True)


def _emit(
    context: Context, outlets: Sequence[Any], workspace: str, report: Mapping[str, Any]
) -> None:
    aliases = [outlet for outlet in outlets if isinstance(outlet, AssetAlias)]
    declared = {outlet.name: outlet for outlet in outlets if isinstance(outlet, Asset)}
    events = context["outlet_events"]
    for name, view in report.get("views", {}).items():
        if view.get("method") not in {"incremental", "full"} or view.get("error"):
            continue
        asset = view_asset(workspace, name)
        extra = {
            "run": report.get("run"),
            "method": view["method"],
            "rows": (view.get("actual") or {}).get("rows_out"),
        }
        if asset.name in declared:
            events[declared[asset.name]].extra = extra
        for alias in aliases:
            events[alias].add(asset, extra=extra)

"""What the page shows of a workspace: its status and its last runs, in one plain document.

Runs in the API server. A workspace that cannot be read is shown with the reason; it never fails the
page, and never Airflow.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from slacktide.common.clock import isoformat, system_clock
from slacktide.common.reasons import Reason
from slacktide.engine.reports import was_at_work
from slacktide.errors import SlacktideError
from slacktide.orchestration.catalog import configured, open_workspace
from slacktide.orchestration.variable import WorkspaceConfig

_LAST_RUNS = 20
_LOOKED_AT = 100  # so that a view that changes seldom still shows its last run
_LOG = logging.getLogger(__name__)


def known_workspaces() -> dict[str, Any]:
    """Give the names of the workspaces that the Variable has, or why there are none."""
    try:
        return {"workspaces": sorted(configured()), "error": None}
    except SlacktideError as error:
        return {"workspaces": [], "error": error.to_dict()}


def shown_workspace(name: str) -> dict[str, Any] | None:
    """Give what the page shows of a workspace; None where the Variable does not have it."""
    try:
        config = configured().get(name)
    except SlacktideError as error:
        return _unreadable(name, error.to_dict())
    if config is None:
        return None
    try:
        return _read(config)
    except SlacktideError as error:
        return _unreadable(name, error.to_dict())
    except Exception as error:  # noqa: BLE001 - whatever it is, the page says so
        _LOG.exception("workspace %s cannot be shown", name)
        hint = "the log of the API server has the details"
        message = f"{type(error).__name__} while reading the workspace"
        return _unreadable(name, {"code": "INVARIANT", "message": message, "hint": hint})


def _unreadable(name: str, error: Mapping[str, str]) -> dict[str, Any]:
    return {"name": name, "read": isoformat(system_clock()), "error": dict(error)}


def _read(config: WorkspaceConfig) -> dict[str, Any]:
    workspace = open_workspace(config)
    status = workspace.status().to_dict()
    reports = [report.to_dict() for report in workspace.history(limit=_LOOKED_AT)]
    reports.sort(key=lambda report: report.get("run") or 0, reverse=True)
    # A source that cannot be read says so itself, and hides nothing else.
    is_whole = not any(source["error"] for source in status["sources"].values())
    pending = workspace.pending() if is_whole else {}
    return {"name": config.name, **shown(status, pending, reports), "error": None}


def shown(
    status: Mapping[str, Any], pending: Mapping[str, int], reports: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Turn a status, pending arrivals and reports, the newest first, into what the page shows."""
    sources = status["sources"]
    return {
        "read": isoformat(system_clock()),
        "sources": [
            _source(name, source, pending.get(name, 0)) for name, source in sorted(sources.items())
        ],
        "views": [
            _view(name, view, sources, reports) for name, view in sorted(status["views"].items())
        ],
        "runs": [_run(report) for report in reports[:_LAST_RUNS]],
    }


def _source(name: str, source: Mapping[str, Any], pending: int) -> dict[str, Any]:
    return {
        "name": name,
        "kind": source["kind"],
        "version": source["version"],
        "rows": source["rows"],
        "held": source["held"],
        "ignored": [column["name"] for column in source.get("extra", ())],
        "pending": pending,
        "error": source.get("error"),
    }


def _view(
    name: str,
    view: Mapping[str, Any],
    sources: Mapping[str, Mapping[str, Any]],
    reports: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    did = (
        report
        for report in reports
        if (one := report.get("views", {}).get(name))
        and was_at_work(one.get("method", "unchanged"), one.get("actual"))
    )
    last = next(did, None)
    return {
        "name": name,
        "versions": view["versions"],
        "pending": _lacks(view["versions"], sources),
        "paused": view["paused"],
        "replaced": view.get("replaced", False),
        "anew": view.get("anew", False),
        "answered": view["answered"],
        "run": view["run"],
        "last": _outcome(name, last["views"][name]) if last else None,
    }


def _lacks(versions: Mapping[str, int], sources: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Count what the answer lacks of each source: arrivals accepted since, and landed files."""
    found = {}
    for name, version in sorted(versions.items()):
        source = sources.get(name)
        count = 0 if source is None else source["version"] - version + source["landed"]
        if count > 0:
            found[name] = count
    return found


def _run(report: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "run": report.get("run"),
        "started": report.get("started"),
        "ended": report.get("ended"),
        "views": [_outcome(name, view) for name, view in sorted(report.get("views", {}).items())],
    }


def _outcome(name: str, view: Mapping[str, Any]) -> dict[str, Any]:
    actual = view.get("actual") or {}
    return {
        "name": name,
        "method": view.get("method"),
        "reasons": [_reason(reason) for reason in view.get("reasons") or ()],
        "rows_read": actual.get("rows_read"),
        "rows_full": view.get("rows"),
        "error": view.get("error"),
    }


def _reason(text: str) -> dict[str, str]:
    """Give a stored reason as its code and its sentence; one of a newer version as it stands."""
    try:
        reason = Reason.parse(text)
    except SlacktideError:
        return {"code": text, "text": ""}
    return {"code": reason.code, "text": reason.sentence}

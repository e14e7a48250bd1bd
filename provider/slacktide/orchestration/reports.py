"""Reports and failures of a driver, in the form that XCom and the log of a task take."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

XCOM_LIMIT = 48 * 1024
_USER_EXIT = 2
_NAMED = 50
_LINES, _WIDTH = 30, 500
# In Kubernetes spark-submit ends with 0 in the mode cluster, and the pod with 0 in the mode client, whatever the driver ended with.
_EXITS = tuple(
    re.compile(rf"{name}: (-?\d+)") for name in ("Kubernetes spark exit code is", "Error code is")
)
_ERROR = '{"error"'
_KEPT = ("method", "reasons", "error", "versions", "rows")


@dataclass(frozen=True, slots=True)
class DriverError:
    """How a driver failed: one line, and whether a retry is pointless."""

    message: str
    final: bool


def unchanged(plan_id: str) -> dict[str, Any]:
    """Give the report of a plan with nothing to do."""
    return {"run": None, "plan_id": plan_id, "method": "unchanged", "views": {}}


def bounded(report: Mapping[str, Any]) -> dict[str, Any]:
    """Give a report that fits into XCom; the workspace keeps the whole of it.

    What is left out first are the figures of each view, then the views themselves.
    """
    whole = dict(report)
    if _size(whole) <= XCOM_LIMIT:
        return whole
    views = report.get("views", {})
    short = {
        **whole,
        "truncated": True,
        "views": {
            name: {key: view[key] for key in _KEPT if key in view} for name, view in views.items()
        },
    }
    if _size(short) <= XCOM_LIMIT:
        return short
    methods = Counter(str(view.get("method")) for view in views.values())
    return {
        "run": report.get("run"),
        "plan_id": report.get("plan_id"),
        "truncated": True,
        "methods": dict(sorted(methods.items())),
        "failed": _failed(views)[:_NAMED],
    }


def shortened(lines: Sequence[str]) -> list[str]:
    """Give lines that fit into XCom: all of them, or as many of the first, each cut; the log of the task has them whole."""
    if _size(lines) <= XCOM_LIMIT:
        return list(lines)
    cut = [line if len(line) <= _WIDTH else f"{line[:_WIDTH]}…" for line in lines[:_LINES]]
    while _size(cut) > XCOM_LIMIT - _WIDTH:
        cut.pop()
    return [*cut, f"and {len(lines) - len(cut)} lines more"] if len(cut) < len(lines) else cut


def _size(document: object) -> int:
    return len(json.dumps(document, default=str).encode())


def driver_error(text: str) -> DriverError:
    """Read what spark-submit left: its exit code, and the error that our driver printed.

    A driver ends with 2 where the user must change something, and prints one line
    ``{"error": {"code", "message", "hint"}}``.
    """
    codes = [int(hit.group(1)) for form in _EXITS if (hit := form.search(text))]
    code = next(filter(None, codes), codes[0] if codes else None)
    printed = _printed(text)
    if printed is None:
        lines = text.strip().splitlines() or ["spark-submit failed"]
        # Airflow hides what follows the words secret and password, the end of the document, too.
        first = next((line for line in lines if line.lstrip().startswith(_ERROR)), lines[0])
        return DriverError(f"spark-submit ended with {code}: {first}", final=code == _USER_EXIT)
    hint = f" ({printed['hint']})" if printed.get("hint") else ""
    line = f"{printed.get('code', 'ERROR')}: {printed.get('message', '')}{hint}"
    return DriverError(line, final=code == _USER_EXIT)


def _printed(text: str) -> dict[str, Any] | None:
    for line in reversed(text.splitlines()):
        start = line.find(_ERROR)
        if start < 0:
            continue
        try:
            document = json.loads(line[start:])
        except ValueError:
            continue
        if isinstance(document, dict) and isinstance(document.get("error"), dict):
            return document["error"]
    return None


def summary(report: Mapping[str, Any]) -> dict[str, Any]:
    """Give a report in a few figures: views by method, rows read, and views that failed."""
    views = report.get("views", {})
    methods = Counter(str(view.get("method")) for view in views.values())
    rows = [(view.get("actual") or {}).get("rows_read") for view in views.values()]
    known = [count for count in rows if count is not None]
    return {
        "run": report.get("run"),
        "plan_id": report.get("plan_id"),
        "methods": report.get("methods") or dict(sorted(methods.items())),
        "rows_read": sum(known) if known else None,
        "failed": report.get("failed") or _failed(views),
    }


def _failed(views: Mapping[str, Any]) -> list[str]:
    return sorted(name for name, view in views.items() if view.get("error"))


def complaint(report: Mapping[str, Any]) -> str:
    """Say which views of a run failed and why, in one line; empty where none did."""
    views = report.get("views", {})
    return "; ".join(
        f"{name}: {(views[name]['error'] or {}).get('message', 'failed')}"
        if name in views
        else f"{name}: failed"
        for name in summary(report)["failed"][:_NAMED]
    )

"""What the demo tells while it runs, alike with and without Airflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slacktide.cli.screen import progress, told
from slacktide.cli.showcase import Showcase, tide

Tell = Callable[[str], None]


def landing(showcase: Showcase, tell: Tell) -> None:
    """Let the base data land, and say so."""
    tell(f"TPC-H at scale {showcase.scale:g} lands in {showcase.landing}, as eight change feeds.")
    with progress("generating data"):
        showcase.generate()


def announce(showcase: Showcase, number: int, tell: Tell) -> None:
    """Let an arrival land, and say what it is."""
    coming = tide(number)
    with progress("changes land"):
        batch = showcase.land(number)
    rows = sum(batch.rows.values())
    tell(f"Arrival {number}, {coming.nature}: {coming.words} ({rows:,} rows).")


def methods(report: Mapping[str, Any]) -> str:
    """Say which views a run refreshed by which method."""
    found: dict[str, list[str]] = {}
    for name, view in report["views"].items():
        found.setdefault(view["method"], []).append(name)
    return "; ".join(f"{method} {', '.join(views)}" for method, views in found.items()) or "nothing"


def compared(verification: Mapping[str, Any]) -> str:
    """Say in a few words how the answers compare."""
    views = verification["views"]
    failed = [name for name, view in views.items() if view["error"]]
    different = [name for name, view in views.items() if not view["equal"] and name not in failed]
    said = [f"DIFFERENT: {', '.join(different)}"] if different else []
    said += [f"NOT COMPARED: {name}, as {told(views[name]['error'])}" for name in failed]
    if said:
        return "; ".join(said)
    return f"all {len(views)} answers are equal"

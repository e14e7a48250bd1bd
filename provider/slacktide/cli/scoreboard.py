"""The table at the end of the demo: what each view cost, beside what a batch run costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from slacktide.cli.screen import say, sentences, show_table
from slacktide.engine.reports import was_at_work

Number = TypeVar("Number", int, float)


@dataclass
class Score:
    """What the refreshes of one view came to, all arrivals together."""

    methods: Counter[str] = field(default_factory=Counter)
    reasons: tuple[str, ...] = ()
    rows: int | None = 0
    rows_full: int | None = 0
    cpu: float | None = 0.0
    cpu_full: float | None = 0.0
    equal: bool = True

    def refreshed(self, view: Mapping[str, Any]) -> None:
        """Take in one refresh."""
        self.methods[view["method"]] += 1
        actual = view.get("actual") or {}
        if not was_at_work(view["method"], actual):
            return
        self.reasons = tuple(view.get("reasons") or self.reasons)
        self.rows = _sum(self.rows, actual.get("rows_read"))
        self.cpu = _sum(self.cpu, actual.get("cpu_seconds"))

    def to_dict(self) -> dict[str, Any]:
        """Give the form that ``--json`` prints."""
        return {
            "methods": dict(self.methods),
            "reasons": list(self.reasons),
            "rows_read": self.rows,
            "rows_read_full": self.rows_full,
            "cpu_seconds": self.cpu,
            "cpu_seconds_full": self.cpu_full,
            "equal": self.equal,
        }


class Scoreboard:
    """The scores of all views."""

    def __init__(self) -> None:
        self.scores: dict[str, Score] = {}
        self.mirror_rows: int = 0
        self.mirror_cpu: float = 0.0

    @property
    def equal(self) -> bool:
        """Whether every answer was equal to batch, every time."""
        return bool(self.scores) and all(score.equal for score in self.scores.values())

    def add(self, reports: Sequence[Mapping[str, Any]], verification: Mapping[str, Any]) -> None:
        """Take in the refreshes that one arrival led to, and the batch runs over the same versions.

        A view that no change reached costs nothing, in truth and in the table; the batch run that it
        is compared with counts, as without Slacktide it would have been made.
        """
        for mirror in (m for report in reports for m in report["mirrors"].values()):
            self.mirror_rows += mirror["actual"]["rows_read"]
            self.mirror_cpu += mirror["actual"]["cpu_seconds"]
        for name, checked in verification["views"].items():
            score = self.scores.setdefault(name, Score())
            for report in reports:
                if name in report["views"]:
                    score.refreshed(report["views"][name])
            batch = checked.get("batch") or {}
            score.rows_full = _sum(score.rows_full, batch.get("rows_read"))
            score.cpu_full = _sum(score.cpu_full, batch.get("cpu_seconds"))
            score.equal = score.equal and bool(checked["equal"])

    def to_dict(self) -> dict[str, Any]:
        """Give the form that ``--json`` prints."""
        views = {name: score.to_dict() for name, score in self.scores.items()}
        mirrors = {"rows_read": self.mirror_rows, "cpu_seconds": round(self.mirror_cpu, 3)}
        return {"equal": self.equal, "views": views, "mirrors": mirrors}

    def show(self) -> None:
        """Print the table."""
        rows = [
            (
                name,
                _methods(score.methods),
                _against(score.rows, score.rows_full, "{:,.0f}"),
                _against(score.cpu, score.cpu_full, "{:.1f} s"),
                "yes" if score.equal else "NO",
                sentences(score.reasons),
            )
            for name, score in self.scores.items()
        ]
        heads = ("view", "method", "rows read", "CPU", "equal", "why")
        show_table(heads, rows, right={"rows read", "CPU"}, firm={"method", "equal"})
        say("rows read, CPU: of all refreshes, against batch runs over the same data")
        say(
            f"besides, mirrors of sources, which views share: {self.mirror_rows:,} rows read,"
            f" CPU {self.mirror_cpu:.1f} s"
        )
        say("equal: the answer is the batch answer, row by row, after every arrival")


def _sum(left: Number | None, right: Number | None) -> Number | None:
    """Add, unless one is unknown."""
    return None if left is None or right is None else left + right


def _methods(methods: Mapping[str, int]) -> str:
    if len(methods) == 1:
        return next(iter(methods))
    return "\n".join(f"{count} {method}" for method, count in methods.items())


def _against(mine: float | None, full: float | None, form: str) -> str:
    if mine is None or full is None:
        return "unknown"
    if not full:
        return form.format(mine)
    share = 100 * mine / full
    return f"{share:.{1 if share < 10 else 0}f}% of {form.format(full)}"

"""What work cost, in the units that Spark measures."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class StepCost:
    """What one write took.

    Attributes:
        chain: what was written to.
        form: ``base``, ``segment``, ``refilled`` or ``merged``.
        rows: that were written.
        rows_read: for them.
        cpu_seconds: CPU time of the tasks.
    """

    chain: str
    form: str
    rows: int
    rows_read: int
    cpu_seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Give the form that reports store."""
        return {**asdict(self), "cpu_seconds": round(self.cpu_seconds, 3)}


@dataclass(slots=True)
class Cost:
    """Cost of one view in one run.

    Attributes:
        cpu_seconds: CPU time of the executors' tasks.
        wall_seconds: from the first text that was written for Spark to the last row.
        rows_read: rows that scans gave, after skipping of row groups and pages.
        rows_interpreted: those of them for which no code was generated.
        rows_grouped: rows that enter groupings and windows; a grouping takes in rows in each task, and then the groups of all tasks.
        rows_shuffled: rows written to shuffles.
        files_read: files that scans opened.
        bytes_read: bytes that tasks read from files.
        bytes_shuffled: bytes written to shuffles.
        bytes_written: bytes that tasks wrote to files.
        jobs: Spark jobs.
        stages: stages of these jobs that ran.
        writes: writes of states and answers whose rows Spark counted.
        rows_written: rows of all writes.
        rows_out: rows of the change of the answer.
        operators: rows by operator of the executed plans: label and rows.
        steps: what each write of these took.
        partial: whether Spark had not told all of it yet when it was asked; such figures teach nothing.
    """

    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    rows_read: int = 0
    rows_interpreted: int = 0
    rows_grouped: int = 0
    rows_shuffled: int = 0
    files_read: int = 0
    bytes_read: int = 0
    bytes_shuffled: int = 0
    bytes_written: int = 0
    jobs: int = 0
    stages: int = 0
    writes: int = 0
    rows_written: int = 0
    rows_out: int = 0
    operators: list[tuple[str, int | None]] = field(default_factory=list)
    steps: list[StepCost] = field(default_factory=list)
    partial: bool = False

    def add(self, other: Cost) -> None:
        """Add what other work cost."""
        for name in fields(self):
            setattr(self, name.name, getattr(self, name.name) + getattr(other, name.name))

    def to_dict(self) -> dict[str, Any]:
        """Give the form that reports store."""
        return {
            "cpu_seconds": round(self.cpu_seconds, 3),
            "wall_seconds": round(self.wall_seconds, 3),
            "rows_read": self.rows_read,
            "rows_interpreted": self.rows_interpreted,
            "rows_grouped": self.rows_grouped,
            "rows_shuffled": self.rows_shuffled,
            "files_read": self.files_read,
            "bytes_read": self.bytes_read,
            "bytes_shuffled": self.bytes_shuffled,
            "bytes_written": self.bytes_written,
            "jobs": self.jobs,
            "stages": self.stages,
            "writes": self.writes,
            "rows_out": self.rows_out,
            "operators": [{"operator": label, "rows": rows} for label, rows in self.operators],
            "steps": [step.to_dict() for step in self.steps],
            **({"partial": True} if self.partial else {}),
        }

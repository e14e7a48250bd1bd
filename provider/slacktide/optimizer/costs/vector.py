"""Work of a program, by kind: a vector, so that a model can weigh it and a run can be held against it.

The kinds are those that a run's report counts, and the prices that rule at small scale stand beside
those that follow the data (`spark_costs.md` §1, §6): a file that is opened, a stage, a job, a text that
is planned, a session that is started.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Vector:
    """Amounts of work; all are counts or bytes, none is negative but in what `minus` gives.

    Attributes:
        rows_read: rows that scans give, after row groups and pages were skipped.
        rows_interpreted: those of them that light queries read, for which no code is generated.
        rows_grouped: rows that enter groupings and windows; a grouping takes in rows in each task, and then the groups of all tasks.
        rows_shuffled: rows written to shuffles.
        bytes_read: bytes of the files that are scanned; Spark counts only some of them.
        bytes_shuffled: bytes written to shuffles.
        bytes_written: bytes of files that are written.
        files: files that are opened.
        stages: stages that run.
        jobs: Spark jobs.
        plans: texts that Spark plans: one for each step of a program.
        sessions: sessions that are started for it.
    """

    rows_read: float = 0.0
    rows_interpreted: float = 0.0
    rows_grouped: float = 0.0
    rows_shuffled: float = 0.0
    bytes_read: float = 0.0
    bytes_shuffled: float = 0.0
    bytes_written: float = 0.0
    files: float = 0.0
    stages: float = 0.0
    jobs: float = 0.0
    plans: float = 0.0
    sessions: float = 0.0

    def plus(self, other: Vector) -> Vector:
        """Add the work of something else."""
        return Vector(*(getattr(self, name) + getattr(other, name) for name in KINDS))

    def minus(self, other: Vector) -> Vector:
        """How much more work this is than something else; less than none where it is less."""
        return Vector(*(getattr(self, name) - getattr(other, name) for name in KINDS))

    def times(self, factor: float, *, fixed: float | None = None) -> Vector:
        """The same work so many times; `fixed` says how often what does not follow the data."""
        factors = dict.fromkeys(KINDS, factor)
        if fixed is not None:
            factors |= dict.fromkeys(FIXED, fixed)
        return Vector(*(getattr(self, name) * factors[name] for name in KINDS))

    def to_dict(self) -> dict[str, Any]:
        """Give the stored form, in whole numbers."""
        return {name: round(getattr(self, name)) for name in KINDS}

    @classmethod
    def of_report(cls, figures: Mapping[str, Any]) -> Vector:
        """Read what a report measured, or what a prediction stored; what it does not say is none."""
        known = {name: float(figures.get(name) or 0) for name in KINDS}
        for name, measured in _MEASURED.items():
            if name not in figures:
                known[name] = float(figures.get(measured) or 0)
        return cls(**known)


_MEASURED = {"files": "files_read", "plans": "writes"}
KINDS = tuple(field.name for field in fields(Vector))
FIXED = ("stages", "jobs", "plans", "sessions")

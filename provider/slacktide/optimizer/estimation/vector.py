"""Cost vectors (architecture.md §1, idea 3). Objectives order them; nothing here does."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class CostVector:
    """What some work takes.

    Attributes:
        cpu_seconds: of all processes, what follows from jobs included.
        rows_read: from files.
        bytes_read: from files.
        bytes_shuffled: between tasks, broadcasts included.
        bytes_written: to files.
        jobs: that Spark schedules.
    """

    cpu_seconds: float = 0.0
    rows_read: float = 0.0
    bytes_read: float = 0.0
    bytes_shuffled: float = 0.0
    bytes_written: float = 0.0
    jobs: float = 0.0

    def __add__(self, other: CostVector) -> CostVector:
        return CostVector(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def micros(self) -> int:
        """CPU time in whole millionths of a second: what plans are compared by.

        Never less than one, as no work is for nothing.
        """
        return max(1, round(1_000_000 * self.cpu_seconds))


NOTHING = CostVector()

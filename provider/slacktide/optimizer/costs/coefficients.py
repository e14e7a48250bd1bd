"""What a unit of work costs, in seconds of CPU: fixed prices first, as they rule at small scale.

Part of it runs in tasks, which Spark measures and the report of a run tells. The rest is paid outside
of them, for planning, scheduling and committing; it is reckoned by what was counted, for a prediction
and for a past run alike. The defaults were measured on two cores (`spark_costs.md`):

* a row: 6.0 million rows of a broadcast semi-join take 285 ms of tasks (§2), 3 million of a plain read
  174 ms (§4);
* a row interpreted, grouped or shuffled, and a byte shuffled: as fitted to 105 runs of a bench of TPC-H at scale 1 (ADR 9);
* a byte written: 18.7 MB take 1.8 s (§7); a file: 200 small ones take 0.5 s (§7);
* a stage: 136 jobs over few rows take 1.3 s of tasks (§6); a job: 73 ms outside of them (§6);
* a text: 55 ms to parse, optimise and plan (§6); a session: 5 to 10 s (architecture §8).

Bytes read cost nothing of their own: Spark leaves vectored reads of Parquet out of its count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from slacktide.optimizer.costs.vector import Vector

TASKS: Final = (
    "rows_read",
    "rows_interpreted",
    "rows_grouped",
    "rows_shuffled",
    "bytes_read",
    "bytes_shuffled",
    "bytes_written",
    "files",
    "stages",
)
OUTSIDE: Final = ("jobs", "plans", "sessions")


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Seconds of CPU for a unit of each kind of work; named as in `Vector`."""

    rows_read: float = 6e-8
    rows_interpreted: float = 6e-7
    rows_grouped: float = 3e-7
    rows_shuffled: float = 1.2e-7
    bytes_read: float = 0.0
    bytes_shuffled: float = 1.5e-8
    bytes_written: float = 9.6e-8
    files: float = 2.5e-3
    stages: float = 0.01
    jobs: float = 0.073
    plans: float = 0.055
    sessions: float = 7.5

    def in_tasks(self, work: Vector) -> float:
        """CPU of tasks: what `cpu_seconds` of a report measures."""
        return self._sum(work, TASKS)

    def outside(self, work: Vector) -> float:
        """CPU outside of tasks."""
        return self._sum(work, OUTSIDE)

    def price(self, work: Vector) -> float:
        """All CPU, by which plans are compared."""
        return self.in_tasks(work) + self.outside(work)

    def weighing(self, factor: float) -> Coefficients:
        """The same for a view whose tasks take so many times of what their work says."""
        return replace(self, **{kind: factor * getattr(self, kind) for kind in TASKS})

    def _sum(self, work: Vector, kinds: tuple[str, ...]) -> float:
        return sum(float(getattr(self, kind) * getattr(work, kind)) for kind in kinds)

    def to_dict(self) -> dict[str, float]:
        """Give the form that is printed."""
        return {field.name: float(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_dict(cls, document: Mapping[str, float]) -> Coefficients:
        """Read what `to_dict` gave, of this version or another; a kind that is not told keeps its default.

        The CPU of tasks was fitted to all kinds of their work together: where one is not told, the others of
        them stand for it too, and none is taken.
        """
        told = set(document) if tells_of_tasks(document) else document.keys() - set(TASKS)
        known = told & {field.name for field in fields(cls)}
        return cls(**{kind: float(document[kind]) for kind in known})


def tells_of_tasks(document: Mapping[str, float]) -> bool:
    """Whether prices were measured with all kinds of work that tasks have to this version."""
    return document.keys() >= set(TASKS)


DEFAULTS: Final = Coefficients()

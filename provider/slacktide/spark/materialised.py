"""Rows that are worked out before the step that reads them, and stay on the workers until the task has ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from slacktide.program.operator import Operator
from slacktide.spark.shelf import Shelf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_SENT: Final = 200_000
"""Rows that are sent to all workers: some ten megabytes."""


@dataclass(frozen=True, slots=True)
class Held:
    """Rows that are there.

    Attributes:
        table: their name; columns as of `step_sql`.
        rows: how many there are.
    """

    table: str
    rows: int

    @property
    def is_sent(self) -> bool:
        """Whether they are few enough to be sent to all workers."""
        return self.rows <= MOST_SENT


class Materialised:
    """The rows of operators of one task, each worked out once.

    A cached frame would not do: Spark looks for it in each query by the form of its plan, and does not find it where
    a query names other tables by WITH.

    Args:
        shelf: the session that works.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._held: dict[Operator, Held] = {}
        self._frames: list[DataFrame] = []

    def of(self, operator: Operator, text: Callable[[], str]) -> Held:
        """Work out the rows of an operator, unless that was done.

        Args:
            operator: gives them.
            text: makes the SQL of it.
        """
        if operator not in self._held:
            frame = self._shelf.query(text(), is_light=False).localCheckpoint(eager=True)
            self._frames.append(frame)
            # To observe the count would spare a job, and wait for ever where Spark has dropped the event.
            self._held[operator] = Held(self._shelf.register(frame), frame.count())
        return self._held[operator]

    def release(self) -> None:
        """Let go of all rows."""
        for held in self._held.values():
            self._shelf.forget(held.table)
        waits = False
        while self._frames:
            self._frames.pop()._jdf.queryExecution().analyzed().rdd().unpersist(waits)
        self._held.clear()

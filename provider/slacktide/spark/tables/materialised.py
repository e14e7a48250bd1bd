"""Rows that are worked out before the step that reads them, and stay on the workers until the task has ended."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from slacktide.algebra.widths import has_fixed_width, width
from slacktide.program.operator import Operator
from slacktide.spark.sessions.shelf import Shelf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Held:
    """Rows that are there.

    Attributes:
        table: their name; columns as of `step_sql`.
        operator: whose they are.
        frame: of them.
    """

    table: str
    operator: Operator
    frame: DataFrame

    @cached_property
    def bytes(self) -> float:
        """In memory, as of `algebra.widths`, with those of all texts: a job counts them."""
        # To observe them would spare it, and wait for ever where Spark has dropped the event.
        long = _long_bytes_sql(self.operator)
        [(rows, found)] = self.frame.selectExpr("count(*)", long).collect()
        return float(rows * width(self.operator.columns) + (found or 0))


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
            self._held[operator] = Held(self._shelf.register(frame), operator, frame)
        return self._held[operator]

    def holds(self, operator: Operator) -> bool:
        """Whether the rows of an operator are there."""
        return operator in self._held

    def release(self) -> None:
        """Let go of all rows; where Spark has gone, they went with it, and what the task says of that matters more."""
        with suppress(PySparkException, Py4JError):
            for held in self._held.values():
                self._shelf.forget(held.table)
            for frame in self._frames:
                freed(frame)
        self._held.clear()
        self._frames.clear()


def _long_bytes_sql(operator: Operator) -> str:
    """The bytes of all values without a fixed width, in the columns of `step_sql`."""
    long = [f"c{i}" for i, one in enumerate(operator.columns) if not has_fixed_width(one.type)]
    each = [f"coalesce(octet_length(CAST({column} AS STRING)), 0)" for column in long]
    return f"sum(CAST({' + '.join(each) or '0'} AS BIGINT))"


def freed(checkpointed: DataFrame) -> None:
    """Let go of the rows of a frame that was checkpointed on the workers."""
    rows = checkpointed._jdf.queryExecution().analyzed().rdd()
    rows.unpersist(False)  # noqa: FBT003 - Java has no names

"""Runs the programs of views on Spark, and answers questions over their versions.

What is written becomes visible only by the commit of the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from slacktide.algebra.relation import Rel
from slacktide.errors import DataError, SlacktideError
from slacktide.program.balance import Balance
from slacktide.program.operator import Operator
from slacktide.spark.failures.misfits import Misfits
from slacktide.spark.failures.translation import is_overflow, translated
from slacktide.spark.measures.cost import Cost
from slacktide.spark.measures.metrics import Meter, described
from slacktide.spark.sessions.shelf import Shelves
from slacktide.spark.tables.landed import misfits_sql
from slacktide.spark.tasks.asking import Row, asked, balances, overflowing
from slacktide.spark.tasks.run_context import RunContext
from slacktide.spark.tasks.task import Outcome, Task
from slacktide.spark.tasks.task_leaves import TaskLeaves
from slacktide.spark.tasks.task_run import TaskRun
from slacktide.spark.texts.overflow import groups_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slacktide.store.store import Store
    from slacktide.store.world import World


class Executor:
    """Runs tasks of one run, all on one session's Spark.

    Args:
        spark: the user's session; temporary views are made in sessions of our own.
        store: where segments are written.
        world: the log as it was when the run started.
        attempt: names this attempt; no other writes below its directories.
        now: the instant that functions of the clock give.
    """

    def __init__(
        self, spark: SparkSession, store: Store, world: World, *, attempt: str, now: datetime
    ) -> None:
        shelves, meter = Shelves(spark, store.spark_settings), Meter(spark)
        self._context = RunContext(shelves, meter, store, world, attempt, now)
        self._spark = spark
        self._before = meter.mark()

    def named(self) -> AbstractContextManager[None]:
        """Let Spark know what is asked inside as this run's; each write has a name of its own."""
        return described(self._spark, self._context.attempt)

    def asked(self) -> Cost:
        """What has been asked of Spark as this run's so far, besides what was written."""
        meter = self._context.meter
        return meter.cost(self._before, meter.mark(), {}, target=self._context.attempt)

    def run(self, task: Task) -> Outcome:
        """Run all steps of a task.

        Raises:
            SlacktideError: as `slacktide.spark.failures.translation` says; nothing is visible then.
        """
        with self._translated(task):
            return TaskRun(self._context, task).run()

    def located(self, error: SlacktideError, task: Task, relation: Rel | None) -> SlacktideError:
        """Add to an overflow the groups in which it happens, where one query finds them.

        Args:
            error: with which the task failed.
            task: has the versions at which it failed.
            relation: of the view; None where it was not read.
        """
        if relation is None or not isinstance(error, DataError) or not is_overflow(error):
            return error
        try:
            with self._leaves(task) as leaves:
                keys = overflowing(leaves, relation)
        except SlacktideError:
            return error  # another row fails before: what is known stays
        if not keys:
            return error
        told = DataError(f"{error.message}; {groups_text(keys)}", hint=error.hint)
        told.__cause__ = error.__cause__
        return told

    def rows(self, task: Task, operator: Operator, most: int) -> list[Row]:
        """Some rows of a bag as texts, with the multiplicity last: Python has no value for each of Spark's.

        Args:
            task: has the versions of which it is read.
            operator: over these.
            most: how many rows at most.

        Raises:
            SlacktideError: as `slacktide.spark.failures.translation` says.
        """
        with self._leaves(task) as leaves:
            shown = [f"CAST(c{place} AS STRING)" for place in range(len(operator.columns))]
            return asked(leaves, ", ".join([*shown, "__m"]), operator, f" LIMIT {most}")

    def count(self, task: Task, operator: Operator) -> int:
        """How many rows a bag gives, each counted once whatever its multiplicity.

        Raises:
            SlacktideError: as `slacktide.spark.failures.translation` says.
        """
        with self._leaves(task) as leaves:
            return int(asked(leaves, "count(*)", operator)[0][0])

    def balances(self, task: Task, source: str, key: tuple[str, ...]) -> frozenset[Balance]:
        """Whether keys of a source came, are gone or were kept between the versions of a task.

        Args:
            task: has the versions.
            source: name of the source.
            key: names of columns.

        Raises:
            SlacktideError: as `slacktide.spark.failures.translation` says.
        """
        with self._leaves(task) as leaves:
            return balances(self._context, task, leaves, source, key)

    def misfits(self, source: str, after: int, until: int) -> Misfits | None:
        """The rows of some versions that do not fit the schema; None where no file came.

        Raises:
            SlacktideError: as `slacktide.spark.failures.translation` says.
        """
        with translated(f"source {source}"):
            shelf = self._context.shelves.of({})
            sql = misfits_sql(shelf, self._context.world.sources[source], after, until)
            return None if sql is None else Misfits(shelf.session, source, shelf.define(sql))

    @contextmanager
    def _leaves(self, task: Task) -> Iterator[TaskLeaves]:
        """What questions of a task stand on."""
        with self._translated(task), TaskLeaves(self._context, task) as leaves:
            yield leaves

    def _translated(self, task: Task) -> AbstractContextManager[None]:
        if task.query is None:
            return translated(task.title, reads_text=self._reads_text(task))
        called = self._context.called(task.query)
        return translated(task.title, called, reads_text=self._reads_text(task))

    def _reads_text(self, task: Task) -> bool:
        sources = self._context.world.sources
        formats = {sources[name].arguments.get("format") for name in task.end if name in sources}
        return not formats <= {"parquet", "orc"}

"""Runs the program of one view on Spark: each step is one SQL text and one write.

A step that computes what later steps read is written first and read back, so that nothing is
computed twice. What is written becomes visible only by the commit of the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any
from typing import Literal as OneOf

from slacktide.algebra.relation import Columns, Rel, Scan
from slacktide.algebra.scalar import Scalar
from slacktide.algebra.sql import quoted
from slacktide.algebra.types import is_told_apart
from slacktide.common.tree import of_type
from slacktide.errors import (
    DataError,
    InvariantError,
    SlacktideError,
)
from slacktide.program import operator as o
from slacktide.program.balance import Balance, balances_of, clamped_sql
from slacktide.program.operator import Operator
from slacktide.program.origin import is_row_by_row
from slacktide.spark.compile import keys_sql, step_sql
from slacktide.spark.emptiness import without_empty
from slacktide.spark.failures import is_overflow, translated
from slacktide.spark.first import is_dry_sql
from slacktide.spark.functions import called, register_functions
from slacktide.spark.landed import misfits_sql
from slacktide.spark.light import MOST_READ, is_light
from slacktide.spark.metrics import Meter, described
from slacktide.spark.misfits import Misfits
from slacktide.spark.overflow import groups_text, overflowing_sql
from slacktide.spark.query import query_frame
from slacktide.spark.ranges import MOST_KEYS, KeyRanges, cut
from slacktide.spark.shelf import Shelves
from slacktide.spark.small import MOST_ROWS
from slacktide.spark.tables import Tables
from slacktide.spark.task import FormerAnswer, Outcome, Query, Task
from slacktide.spark.writing import Writer
from slacktide.store.layout import directory_of
from slacktide.store.record import FunctionRecord, Segment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slacktide.store.store import Store
    from slacktide.store.world import World

Row = tuple[Any, ...]


Folder = OneOf["base", "segment", "refilled", "merged"]


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
        self._spark = spark
        self._store = store
        self._world = world
        self._attempt = attempt
        self._now = now
        # One view may extend a state that another of the run, a new one, builds anew.
        self._saved: dict[tuple[str, bool], Segment] = {}
        self._balances: dict[tuple[str, tuple[str, ...], int, int], frozenset[Balance]] = {}
        self._meter = Meter(spark)
        self._shelves = Shelves(spark, store.spark_settings)

    def run(self, task: Task) -> Outcome:
        """Run all steps of a task.

        Raises:
            SlacktideError: as `slacktide.spark.failures` says; nothing is visible then.
        """
        runner = _TaskRun(self, task)
        with self._translated(task):
            return runner.run()

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
            with self._translated(task):
                keys = _TaskRun(self, task).overflowing(relation)
        except SlacktideError:
            return error  # another row fails before: what is known stays
        if not keys:
            return error
        told = DataError(f"{error.message}; {groups_text(keys)}", hint=error.hint)
        told.__cause__ = error.__cause__
        return told

    def _translated(self, task: Task) -> AbstractContextManager[None]:
        if task.query is None:
            return translated(task.title)
        return translated(task.title, self._called(task.query))

    def _called(self, query: Query) -> list[FunctionRecord]:
        return called(self._world.functions.values(), (query.sql, *query.views.values()))

    def rows(self, task: Task, operator: Operator, most: int) -> list[Row]:
        """Some rows of a bag, the multiplicity last.

        Args:
            task: has the versions of which it is read.
            operator: over these.
            most: how many rows at most.

        Raises:
            SlacktideError: as `slacktide.spark.failures` says.
        """
        with self._translated(task):
            return _TaskRun(self, task).asked("*", operator, f" LIMIT {most}")

    def count(self, task: Task, operator: Operator) -> int:
        """How many rows a bag gives, each counted once whatever its multiplicity.

        Raises:
            SlacktideError: as `slacktide.spark.failures` says.
        """
        with self._translated(task):
            return int(_TaskRun(self, task).asked("count(*)", operator, "")[0][0])

    def balances(self, task: Task, source: str, key: tuple[str, ...]) -> frozenset[Balance]:
        """Whether keys of a source came, are gone or were kept between the versions of a task.

        Args:
            task: has the versions.
            source: name of the source.
            key: names of columns.

        Raises:
            SlacktideError: as `slacktide.spark.failures` says.
        """
        known = (source, key, task.start.get(source, 0), task.end[source])
        if known not in self._balances:
            with self._translated(task):
                self._balances[known] = _TaskRun(self, task).balances(source, key)
        return self._balances[known]

    def misfits(self, source: str, after: int, until: int) -> Misfits | None:
        """The rows of some versions that do not fit the schema; None where no file came."""
        shelf = self._shelves.of({})
        sql = misfits_sql(shelf, self._world.sources[source], after, until)
        return None if sql is None else Misfits(shelf.session, source, shelf.define(sql))


class _TaskRun:
    def __init__(self, executor: Executor, task: Task) -> None:
        self._executor = executor
        self._task = task
        self._shelf = executor._shelves.of(task.query.conf if task.query else {})
        self._session = self._shelf.session
        self._calls = bool(task.query and executor._called(task.query))
        self._writer = Writer(self._shelf, executor._store, executor._meter)
        self._outcome = Outcome()
        self._keys: dict[tuple[Operator, tuple[Scalar, ...]], list[KeyRanges] | None] = {}
        self._saved = {
            chain: segment for (chain, is_base), segment in executor._saved.items() if is_base
        }
        self._tables = Tables(
            self._shelf,
            executor._store,
            executor._world,
            start=task.start,
            end=task.end,
            saved=self._saved,
            appended={
                chain: segment
                for (chain, is_base), segment in executor._saved.items()
                if not is_base and chain.startswith("sources/")
            },
        )

    def run(self) -> Outcome:
        began = perf_counter()
        for step in self._task.program.steps:
            match step:
                case o.Save():
                    self._save(step)
                case o.Refill():
                    self._refill(step)
                case o.Publish():
                    self._publish(step)
                case o.Merge():
                    self._merge(step)
        if self._outcome.changes is not None:
            self._outcome.cost.rows_out = self._outcome.changes.rows
        self._outcome.cost.wall_seconds = perf_counter() - began
        return self._outcome

    def overflowing(self, relation: Rel) -> list[str]:
        """The keys of groups of a relation in which a sum overflows at the end of the run."""
        scanned = {scan.source: self.rows(scan.source, "after") for scan in of_type(relation, Scan)}
        sql = overflowing_sql(relation, scanned)
        return [] if sql is None else [str(row[0]) for row in self._session.sql(sql).collect()]

    def _save(self, step: o.Save) -> None:
        shared = self._executor._saved
        key = (step.chain, step.is_base)
        if key not in shared:
            shared[key] = self._write(
                step.child, step.chain, is_base=step.is_base, order=step.order
            )
        self._saved[step.chain] = shared[key]
        self._outcome.chains[step.chain] = (shared[key], step.is_base)

    def _refill(self, step: o.Refill) -> None:
        """Ask whether rows have run dry, where they are not plainly enough: one may be the fence."""
        if self._saved[step.chain].rows > step.least or not self._is_dry(step):
            return
        few = self._are_few(step.child, step.chain, is_base=True)
        written = self._written_as("refilled", step.child, step.chain, few=few, order=())
        self._executor._saved[step.chain, True] = written
        self._saved[step.chain] = written
        self._outcome.chains[step.chain] = (written, True)

    def _is_dry(self, step: o.Refill) -> bool:
        columns = step.child.columns
        table = self._tables.saved(step.chain, columns, is_bag=True)
        meter, before = self._executor._meter, self._executor._meter.mark()
        with described(self._session, step.chain):
            sql = is_dry_sql(table, len(columns) - 1, step.least)
            found = self._shelf.query(sql, is_light=True).toArrow()
        labels = self._shelf.labels
        self._outcome.cost.add(meter.cost(before, meter.mark(), labels, target=step.chain))
        return bool(found[0][0].as_py())

    def _publish(self, step: o.Publish) -> None:
        chain = f"views/{step.view}"
        outcome = self._outcome
        outcome.answer_is_base = step.is_base
        outcome.answer = self._write(step.child, chain, is_base=step.is_base)
        columns = step.child.columns
        before: FormerAnswer | None = FormerAnswer(chain, len(columns))
        if chain not in self._executor._world.chains:
            before = self._task.former
        if not step.is_base or before is None:
            outcome.changes = outcome.answer
            return
        self._saved[chain] = outcome.answer
        change = difference(chain, before.chain, columns[: before.columns])
        outcome.changes = self._write(change, f"changes/{step.view}", is_base=False)

    def _merge(self, step: o.Merge) -> None:
        few = self._tables.rows_of(step.chain, step.first) <= MOST_ROWS
        self._outcome.merged[step.chain] = self._written_as(
            "merged", step.child, step.chain, few=few, order=step.order
        )

    def _write(
        self, operator: Operator, chain: str, *, is_base: bool, order: tuple[int, ...] = ()
    ) -> Segment:
        few = self._are_few(operator, chain, is_base=is_base)
        return self._written_as(
            "base" if is_base else "segment", operator, chain, few=few, order=order
        )

    def _are_few(self, operator: Operator, chain: str, *, is_base: bool) -> bool:
        if isinstance(operator, o.First):
            return operator.count < MOST_ROWS  # and a fence
        expected = None if is_base else self._tables.rows_expected(chain)
        return expected is not None and expected <= MOST_ROWS

    def _written_as(
        self,
        folder: Folder,
        operator: Operator,
        chain: str,
        *,
        few: bool,
        order: tuple[int, ...],
    ) -> Segment:
        relative = directory_of(chain, self._executor._attempt, folder)
        operator = without_empty(operator, self._is_empty)
        tables = self._tables
        extends = folder == "segment"
        read = tables.read_expected(operator, chain) if extends else tables.most_read(operator)
        written = self._writer.write(
            operator,
            lambda: step_sql(operator, self),
            relative,
            few=few,
            is_light=self._is_light(operator, read),
            order=order,
        )
        self._outcome.cost.add(written.cost)
        return Segment(
            run=self._executor._attempt,
            files=written.files,
            rows=written.rows,
            bytes=sum(file.size for file in written.files),
            versions={source: self._task.end[source] for source in self._scope(chain)},
            read=written.cost.rows_read,
        )

    def asked(self, outputs: str, operator: Operator, rest: str) -> list[Row]:
        """What a query over an operator gives."""
        sql = f"SELECT {outputs} FROM (\n{step_sql(operator, self)}\n){rest}"
        light = self._is_light(operator, self._tables.most_read(operator))
        frame = self._shelf.query(sql, is_light=light)
        return [tuple(row) for row in frame.collect()]

    def balances(self, source: str, key: tuple[str, ...]) -> frozenset[Balance]:
        """What became of the keys of a source that changed."""
        keys = ", ".join(map(quoted, key))
        balance = (
            f"SELECT {clamped_sql('sum(__m)')} AS b FROM {self.changes(source)} GROUP BY {keys}"
        )
        changed = self._tables.rows_changed()
        is_light = changed is not None and changed <= MOST_READ
        rows = self._shelf.query(f"SELECT DISTINCT b FROM ({balance})", is_light=is_light)
        return frozenset(one for row in rows.collect() for one in balances_of(int(row[0])))

    def _is_empty(self, operator: o.ByBalance) -> bool:
        """Whether a change is known to have no key of a balance; asked once for all views."""
        changes = operator.child
        if not isinstance(changes, o.ReadChanges):
            return False
        key = tuple(column.name for column in operator.keys)
        found = self._executor.balances(self._task, changes.source, key)
        return operator.balance not in found

    def _scope(self, chain: str) -> tuple[str, ...]:
        return self._task.scopes.get(chain, tuple(self._task.end))

    def _is_light(self, operator: Operator, read: tuple[int | None, int]) -> bool:
        if self._calls:  # a function of a user may be slow, and wants all workers
            return False
        return is_light(operator, *read)

    def fewest_read(self, operator: Operator) -> int:
        """Leaf: how many rows an operator reads, at least."""
        return self._tables.fewest_read(operator)

    def keys(self, operator: Operator, keys: Sequence[Scalar]) -> list[KeyRanges] | None:
        """Leaf: the ranges in which keys of a small operator lie; None where they are too many."""
        known = (operator, tuple(keys))
        if known not in self._keys:
            changed = self._tables.rows_changed()
            few = changed is not None and changed <= MOST_KEYS and is_row_by_row(operator)
            most = None if few else MOST_KEYS + 1
            sql = keys_sql(operator, keys, self, most)
            light = self._is_light(operator, self._tables.most_read(operator))
            table = self._shelf.query(sql, is_light=light).toArrow()
            if table.num_rows <= MOST_KEYS:
                self._keys[known] = [cut(column) for column in table.columns]
            else:
                self._keys[known] = None
        return self._keys[known]

    def changes(self, source: str) -> str:
        """Leaf: the changes of a source."""
        return self._tables.changes(source)

    def snapshot(self, source: str, moment: o.Moment) -> str:
        """Leaf: a source as of a moment."""
        return self._tables.snapshot(source, moment)

    def rows(self, source: str, moment: o.Moment) -> str:
        """Leaf: the rows of a source as of a moment."""
        return self._tables.rows(source, moment)

    def stored(self, chain: str, columns: Columns, *, is_bag: bool) -> str:
        """Leaf: a chain at the start of the run."""
        return self._tables.stored(chain, columns, is_bag=is_bag)

    def pieces(self, chain: str, columns: Columns, first: int, *, is_bag: bool) -> str:
        """Leaf: the base and segments of a chain from one on."""
        return self._tables.pieces(chain, columns, first, is_bag=is_bag)

    def saved(self, chain: str, columns: Columns, *, is_bag: bool) -> str:
        """Leaf: what this run wrote."""
        return self._tables.saved(chain, columns, is_bag=is_bag)

    def batch(self, view: str) -> str:
        """Leaf: the view's own query over the snapshots at the end of the run."""
        query = self._task.query
        if query is None:
            raise InvariantError(f"{view} has no query")
        shelf = self._executor._shelves.of(query.conf, texts=True)
        tables = self._tables.on(shelf)
        register_functions(shelf.session, self._executor._called(query))
        for source in query.sources:
            shelf.alias(source, tables.rows(source, "after"))
        frame = query_frame(shelf.session, query.sql, query.views, self._clock(query))
        self._shelf.labels.update(shelf.labels)
        return self._shelf.adopt(frame.toDF(*(f"c{i}" for i in range(len(frame.columns)))))

    def _clock(self, query: Query) -> datetime | None:
        return self._executor._now if query.clock else None


def difference(chain: str, before: str, columns: Columns) -> Operator:
    """What leads from a stored answer to the one that this run wrote, in their first columns."""
    new = o.ReadSaved(chain, columns, is_bag=True)
    old = o.ReadBag(before, columns)
    change = o.Add((new, o.Negate(old)), columns)
    return (
        o.Consolidate(change) if all(is_told_apart(column.type) for column in columns) else change
    )

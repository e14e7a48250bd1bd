"""Runs the steps of one task: each is one SQL text and one write.

A step that computes what later steps read is written first and read back, so that nothing is
computed twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Literal as OneOf

from slacktide.algebra.relation import Columns
from slacktide.algebra.types import is_told_apart
from slacktide.common.chain_ids import changes_id
from slacktide.common.tree import of_type
from slacktide.program import operator as o
from slacktide.program.lightness import is_light as is_light_reading
from slacktide.program.operator import Operator
from slacktide.spark.compile import step_sql
from slacktide.spark.measures.cost import StepCost
from slacktide.spark.measures.metrics import described
from slacktide.spark.tasks.asking import balances, is_empty
from slacktide.spark.tasks.emptiness import Asked, without_empty
from slacktide.spark.tasks.run_context import RunContext
from slacktide.spark.tasks.small import MOST_ROWS
from slacktide.spark.tasks.task import FormerAnswer, Outcome, Task
from slacktide.spark.tasks.task_leaves import TaskLeaves
from slacktide.spark.tasks.writing import TooDearError, Writer, is_spread
from slacktide.spark.texts.first import is_dry_sql
from slacktide.store.layout import directory_of
from slacktide.store.record import Segment

Folder = OneOf["base", "segment", "refilled", "merged"]


class TaskRun:
    """One run of one task.

    Args:
        context: of the run.
        task: what is run.
    """

    def __init__(self, context: RunContext, task: Task) -> None:
        self._context = context
        self._task = task
        self._leaves = TaskLeaves(context, task)
        self._shelf = self._leaves.shelf
        self._tables = self._leaves.tables
        self._saved = self._leaves.saved_segments
        self._writer = Writer(self._shelf, context.store, context.meter)
        self._refilled = {step.chain for step in of_type(task.program, o.Refill)}
        self._outcome = Outcome()

    def run(self) -> Outcome:
        """Run all steps, in order, or those before one that writes or takes more than it may."""
        began = perf_counter()
        with self._leaves:
            self._run_steps()
        if self._outcome.changes is not None:
            self._outcome.cost.rows_out = self._outcome.changes.rows
        self._outcome.cost.wall_seconds = perf_counter() - began
        return self._outcome

    def _run_steps(self) -> None:
        for step in self._task.program.steps:
            try:
                self._run(step)
            except TooDearError as given_up:
                self._give_up(o.target(step), given_up)
            if self._outcome.excess is not None:
                break

    def _run(self, step: o.Step) -> None:
        match step:
            case o.Save():
                self._save(step)
            case o.Refill():
                self._refill(step)
            case o.Publish():
                self._publish(step)
            case o.Merge():
                self._merge(step)

    def _give_up(self, chain: str, given_up: TooDearError) -> None:
        cost, most = self._outcome.cost, self._task.limits.cpu_seconds
        cost.add(given_up.cost)
        spent = f"{cost.cpu_seconds:.1f} s of CPU up to {chain}"
        self._outcome.excess = f"{spent}, worth it up to {most:.1f}"

    def _save(self, step: o.Save) -> None:
        shared = self._context.saved
        key = (step.chain, step.is_base)
        written = shared.get(key) or self._write(
            step.child, step.chain, is_base=step.is_base, order=o.layout(step)
        )
        if step.chain not in self._refilled:
            shared[key] = written
        self._saved[step.chain] = written
        self._outcome.chains[step.chain] = (written, step.is_base)
        limit, rows = self._task.limits.rows.get(step.chain), written.rows
        if limit is not None and rows > limit:
            self._outcome.excess = f"{rows:,} rows of {step.chain}, worth it up to {limit:,}"

    def _refill(self, step: o.Refill) -> None:
        """Ask whether rows have run dry, where they are not plainly enough: one may be the fence.

        No other view of the run takes them for whole before.
        """
        written = self._saved[step.chain]
        if written.rows <= step.least and self._is_dry(step):
            few = self._are_few(step.child, step.chain, is_base=True)
            written = self._written_as("refilled", step.child, step.chain, few=few, order=())
        self._context.saved[step.chain, True] = written
        self._saved[step.chain] = written
        self._outcome.chains[step.chain] = (written, True)

    def _is_dry(self, step: o.Refill) -> bool:
        columns = step.child.columns
        table = self._tables.saved(step.chain, columns, is_bag=True)
        with self._counted(step.chain):
            sql = is_dry_sql(table, len(columns) - 1, step.least)
            found = self._shelf.query(sql, is_light=True).toArrow()
        return bool(found[0][0].as_py())

    def _publish(self, step: o.Publish) -> None:
        chain = o.target(step)
        outcome = self._outcome
        outcome.answer_is_base = step.is_base
        outcome.answer = self._write(step.child, chain, is_base=step.is_base)
        columns = step.child.columns
        before: FormerAnswer | None = FormerAnswer(chain, len(columns))
        if chain not in self._context.world.chains:
            before = self._task.former
        if not step.is_base or before is None:
            outcome.changes = outcome.answer
            return
        self._saved[chain] = outcome.answer
        change = difference(chain, before.chain, columns[: before.columns])
        outcome.changes = self._write(change, changes_id(step.view), is_base=False)

    def _merge(self, step: o.Merge) -> None:
        few = self._tables.rows_of(step.chain, step.first) <= MOST_ROWS
        self._outcome.merged[step.chain] = self._written_as(
            "merged", step.child, step.chain, few=few, order=o.layout(step)
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
        attempt, tables = self._context.attempt, self._tables
        operator = without_empty(operator, partial(self._is_empty, chain))
        extends = folder == "segment"
        read = tables.most_read(operator)
        if extends:
            read = tables.read_expected(operator, self._task.reads.get(chain))
        is_light = is_light_reading(operator, *read)
        if extends and (is_light or not is_spread(operator)):
            order = ()  # of few rows a page holds all; others would be shuffled for it
        written = self._writer.write(
            operator,
            lambda: step_sql(operator, self._leaves, is_light=is_light),
            directory_of(chain, attempt, folder),
            few=few,
            is_light=is_light,
            order=order,
            most_seconds=self._left(),
        )
        took = written.cost
        took.steps.append(StepCost(chain, folder, written.rows, took.rows_read, took.cpu_seconds))
        self._outcome.cost.add(took)
        return Segment(
            run=attempt,
            files=written.files,
            rows=written.rows,
            bytes=sum(file.size for file in written.files),
            versions={source: self._task.end[source] for source in self._scope(chain)},
            read=took.rows_read,
        )

    def _left(self) -> float | None:
        """The seconds of CPU that the next step may take."""
        most = self._task.limits.cpu_seconds
        return None if most is None else most - self._outcome.cost.cpu_seconds

    @contextmanager
    def _counted(self, chain: str) -> Iterator[None]:
        """Count what is asked of Spark inside as taken by the step that writes to a chain."""
        meter, before = self._context.meter, self._context.meter.mark()
        with described(self._shelf.session, chain):
            yield
        labels = self._shelf.labels
        self._outcome.cost.add(meter.cost(before, meter.mark(), labels, target=chain))

    def _is_empty(self, chain: str, operator: Asked) -> bool:
        """Whether a change is known to have no key of a balance, or no row in the columns that are read."""
        asks = self._context, self._task, self._leaves
        match operator:
            case o.Consolidate(child=o.ReadChanges() as changes):
                with self._counted(chain):
                    return is_empty(*asks, changes, operator)
            case o.Consolidate(child=o.ByBalance(child=o.ReadChanges() as changes) as keys):
                if self._is_empty(chain, keys):
                    return True
                with self._counted(chain):
                    return is_empty(*asks, changes, operator)
            case o.ByBalance(child=o.ReadChanges() as changes):
                key = tuple(column.name for column in operator.keys)
                with self._counted(chain):
                    return operator.balance not in balances(*asks, changes.source, key)
            case _:
                return False

    def _scope(self, chain: str) -> tuple[str, ...]:
        return self._task.scopes.get(chain, tuple(self._task.end))


def difference(chain: str, before: str, columns: Columns) -> Operator:
    """What leads from a stored answer to the one that this run wrote, in their first columns."""
    new = o.ReadSaved(chain, columns, is_bag=True)
    old = o.ReadBag(before, columns)
    change = o.Add((new, o.Negate(old)), columns)
    return (
        o.Consolidate(change) if all(is_told_apart(column.type) for column in columns) else change
    )

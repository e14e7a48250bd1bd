"""What the SQL of one task stands on: `slacktide.spark.tables.leaves` over the tables of its versions."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Self

from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import Scalar
from slacktide.algebra.user_functions import called_in
from slacktide.common.chain_ids import is_mirror
from slacktide.common.ranges import MOST_KEYS
from slacktide.errors import InvariantError
from slacktide.program.bounding import Bound, snapshot_column
from slacktide.program.lightness import is_light
from slacktide.program.operator import Moment, Operator, ReadChanges
from slacktide.program.origin import is_row_by_row
from slacktide.spark.compile import keys_sql, step_sql
from slacktide.spark.functions import register_functions
from slacktide.spark.sessions.light import fits_one_task
from slacktide.spark.tables.materialised import Held, Materialised
from slacktide.spark.tables.pinned_tables import Tables
from slacktide.spark.tables.ranges import KeyRanges, cut
from slacktide.spark.tasks.run_context import RunContext
from slacktide.spark.tasks.task import Task
from slacktide.spark.texts.query import query_frame
from slacktide.store.record import ColumnStatistics


class TaskLeaves:
    """The leaves of one task.

    Args:
        context: of the run.
        task: has the versions of which is read.

    Attributes:
        shelf: the session that works, and its tables.
        saved_segments: by chain, what this run wrote last; whoever writes adds to it.
        tables: what is read of sources and chains.
    """

    def __init__(self, context: RunContext, task: Task) -> None:
        self._context = context
        self._task = task
        self.shelf = context.shelves.of(task.query.conf if task.query else {})
        called = called_in(task.program)
        register_functions(self.shelf.session, map(context.world.functions.__getitem__, called))
        self._materialised = Materialised(self.shelf)
        self._keys: dict[tuple[Operator, tuple[Scalar, ...]], list[KeyRanges] | None] = {}
        self.saved_segments = {
            chain: segment for (chain, is_base), segment in context.saved.items() if is_base
        }
        self.tables = Tables(
            self.shelf,
            context.store,
            context.world,
            start=task.start,
            end=task.end,
            saved=self.saved_segments,
            appended={
                chain: segment
                for (chain, is_base), segment in context.saved.items()
                if not is_base and is_mirror(chain)
            },
        )

    def is_light(self, operator: Operator) -> bool:
        """Whether an operator reads few rows, at most."""
        return is_light(operator, *self.tables.most_read(operator))

    def fewest_read(self, operator: Operator) -> int:
        """How many rows an operator reads, at least."""
        return self.tables.fewest_read(operator)

    def most_changed(self, operator: ReadChanges) -> float:
        """How many rows a change has, at most; infinite where that is not known."""
        rows, _ = self.tables.most_read(operator)
        return inf if rows is None else rows

    def share_within(self, bound: Bound, found: Sequence[KeyRanges]) -> float:
        """The share of an input in which keys lie, of which the ranges were found; all of it where that is not known; as if it lay in the order of each key."""
        shares = [
            ranges.share(known.low, known.high)
            for pair, ranges in zip(bound.pairs, found, strict=True)
            if (known := self._known(bound.large, pair.own)) is not None
        ]
        return min(shares, default=1.0)

    def _known(self, operator: Operator, key: Scalar) -> ColumnStatistics | None:
        """What is known of the column of a source that a key is."""
        column = snapshot_column(operator, key)
        if column is None:
            return None
        return self._context.world.sources[column[0]].statistics.get(column[1])

    def materialised(self, operator: Operator) -> Held:
        """The rows of a bag, which are worked out now and held until the task has ended."""
        return self._materialised.of(operator, lambda: step_sql(operator, self, is_light=False))

    def is_held(self, operator: Operator) -> bool:
        """Whether the rows of a bag were worked out already."""
        return self._materialised.holds(operator)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the rows that were worked out before they were read."""
        self._materialised.release()

    def fits_one_task(self, operator: Operator) -> bool:
        """Whether what an operator reads is so little that one task reads it all; see `light.FEW_READ`."""
        return fits_one_task(*self.tables.most_read(operator), self.tables.files_read(operator))

    def keys(self, operator: Operator, keys: Sequence[Scalar]) -> list[KeyRanges] | None:
        """The ranges in which keys of a small operator lie; None where they are too many."""
        known = (operator, tuple(keys))
        if known not in self._keys:
            changed = self.tables.rows_changed()
            few = changed is not None and changed <= MOST_KEYS and is_row_by_row(operator)
            most = None if few else MOST_KEYS + 1
            is_light = self.is_light(operator)
            sql = keys_sql(operator, keys, self, most, is_light=is_light)
            table = self.shelf.query(sql, is_light=is_light).toArrow()
            if table.num_rows <= MOST_KEYS:
                self._keys[known] = [cut(column) for column in table.columns]
            else:
                self._keys[known] = None
        return self._keys[known]

    def changes(self, source: str) -> str:
        """The changes of a source."""
        return self.tables.changes(source)

    def snapshot(self, source: str, moment: Moment) -> str:
        """A source as of a moment."""
        return self.tables.snapshot(source, moment)

    def rows(self, source: str, moment: Moment) -> str:
        """The rows of a source as of a moment."""
        return self.tables.rows(source, moment)

    def stored(self, chain: str, columns: Columns, *, is_bag: bool) -> str:
        """A chain at the start of the run."""
        return self.tables.stored(chain, columns, is_bag=is_bag)

    def pieces(self, chain: str, columns: Columns, first: int, *, is_bag: bool) -> str:
        """The base and segments of a chain from one on."""
        return self.tables.pieces(chain, columns, first, is_bag=is_bag)

    def saved(self, chain: str, columns: Columns, *, is_bag: bool) -> str:
        """What this run wrote."""
        return self.tables.saved(chain, columns, is_bag=is_bag)

    def batch(self, view: str) -> str:
        """The view's own query over the snapshots at the end of the run."""
        query = self._task.query
        if query is None:
            raise InvariantError(f"{view} has no query")
        context = self._context
        shelf = context.shelves.of(query.conf, texts=True)
        tables = self.tables.on(shelf)
        register_functions(shelf.session, context.called(query))
        for source in query.sources:
            shelf.alias(source, shelf.session.table(tables.rows(source, "after")))
        now = context.now if query.clock else None
        frame = query_frame(shelf, query.sql, query.views, now)
        self.shelf.labels.update(shelf.labels)
        return self.shelf.adopt(frame.toDF(*(f"c{i}" for i in range(len(frame.columns)))))

"""Writing the rows of a step as files: those that are few leave Spark once, all others Spark writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slacktide.errors import ExecutionError
from slacktide.program import operator as o
from slacktide.program.bounding import has_ranges
from slacktide.program.operator import Operator
from slacktide.spark.failures.translation import is_cancelled
from slacktide.spark.files.parquet import COMPRESSION, SPARK_OPTIONS
from slacktide.spark.files.reading import STRICT
from slacktide.spark.files.seals import sealed, sealed_files
from slacktide.spark.measures.cost import Cost
from slacktide.spark.measures.metrics import Meter, described
from slacktide.spark.sessions.shelf import Shelf
from slacktide.spark.tasks.bounded import bounded
from slacktide.spark.tasks.small import as_parquet, can_leave, taken
from slacktide.store.record import StoredFile

if TYPE_CHECKING:
    import pyarrow as pa

    from slacktide.store.store import Store


@dataclass(frozen=True, slots=True)
class Written:
    """What one write has left, and what it cost."""

    files: tuple[StoredFile, ...]
    rows: int
    cost: Cost


class TooDearError(Exception):
    """A write was cancelled, as it had taken more CPU than it may.

    Attributes:
        cost: of what was done by then.
    """

    def __init__(self, cost: Cost) -> None:
        super().__init__(f"given up after {cost.cpu_seconds:.1f} s of CPU")
        self.cost = cost


class Writer:
    """Writes what the steps of one task give.

    Args:
        shelf: the session that works, and the names of what it reads.
        store: where files are written.
        meter: measures.
    """

    def __init__(self, shelf: Shelf, store: Store, meter: Meter) -> None:
        self._shelf = shelf
        self._session = shelf.session
        self._store = store
        self._meter = meter

    def write(
        self,
        operator: Operator,
        text: Callable[[], str],
        relative: str,
        *,
        few: bool,
        is_light: bool,
        order: tuple[int, ...],
        most_seconds: float | None = None,
    ) -> Written:
        """Write the rows of an operator.

        Args:
            operator: gives them.
            text: makes the SQL of it; what that asks of Spark belongs to the cost.
            relative: the directory, of this attempt alone.
            few: whether the rows are likely few.
            is_light: whether few rows are read for them.
            order: ids of the columns by which they are sorted.
            most_seconds: of CPU that this may take; None for no end.

        Raises:
            TooDearError: it was at work still when it had taken that.
            ExecutionError: what Spark wrote is not there.
        """
        session, meter = self._session, self._meter
        before = meter.mark()
        with described(session, relative), bounded(session, most_seconds) as bound:
            try:
                sql = text()
                may_leave = few and can_leave(operator.columns)
                small = taken(self._shelf, sql, is_light=is_light) if may_leave else None
                if small is None:
                    sql = _laid_out(operator, sql, order)
                    self._write_by_spark(sql, relative, is_light=is_light)
            except Exception as error:
                if bound.seconds is None or not is_cancelled(error):
                    raise
                cost = meter.cost(before, meter.mark(), self._shelf.labels, target=relative)
                # Spark does not tell the CPU of tasks that it has cancelled.
                cost.cpu_seconds = max(cost.cpu_seconds, bound.seconds)
                raise TooDearError(cost) from error
        cost = meter.cost(before, meter.mark(), self._shelf.labels, target=relative)
        if small is None:
            return self._left(relative, cost)
        files = self._write_taken(small, relative)
        cost.writes, cost.rows_written = 1, small.num_rows
        cost.bytes_written = sum(file.size for file in files)
        return Written(files, small.num_rows, cost)

    def _write_taken(self, rows: pa.Table, relative: str) -> tuple[StoredFile, ...]:
        if not rows.num_rows:
            return ()
        data = as_parquet(rows)
        path = f"{relative}/part-00000.{COMPRESSION}.parquet"
        self._store.write_bytes(path, data)
        return (sealed(StoredFile(path, len(data)), data),)

    def _write_by_spark(self, sql: str, relative: str, *, is_light: bool) -> None:
        rows = self._shelf.query(sql, is_light=is_light).write.options(**SPARK_OPTIONS)
        rows.parquet(self._store.spark_path(relative), mode="overwrite", compression=COMPRESSION)

    def _left(self, relative: str, cost: Cost) -> Written:
        """What a write of Spark has left: its files, and their rows, counted where Spark has not."""
        target = self._store.spark_path(relative)
        rows = (
            cost.rows_written
            if cost.writes == 1
            else self._session.read.options(**STRICT).parquet(target).count()
        )
        files = self._files(relative, is_empty=not rows)
        if rows and not files:
            raise ExecutionError(
                f"Spark wrote {rows} rows to {target}, and they are not there",
                hint="a workspace must be at an address that every Spark worker and this machine "
                "see alike",
            )
        return Written(files, rows, cost)

    def _files(self, relative: str, *, is_empty: bool) -> tuple[StoredFile, ...]:
        """The files with rows; Hadoop's own checksums go, and files without rows."""
        found = self._store.list_files(relative, hidden=True)
        files = tuple(file for file in found if file.path.endswith(".parquet") and not is_empty)
        self._store.delete(file.path for file in found if file not in files)
        return sealed_files(self._store, files)


def is_spread(operator: Operator) -> bool:
    """Whether a grouping has spread the rows of an operator, so that they are sorted where they are."""
    return isinstance(operator, o.Consolidate | o.Summarise | o.Nonzero)


def _laid_out(operator: Operator, sql: str, order: tuple[int, ...]) -> str:
    """Let Spark even out the files where no grouping has done so, and sort them.

    Rows that are spread by what they are sorted by lie in few files; those that grouping has spread
    stay where they are, as each of these files is sorted too.
    """
    grouped = is_spread(operator)
    places = [i for i, column in enumerate(operator.columns) if column.id in order]
    keys = ", ".join(f"c{i}" for i in places if has_ranges(operator.columns[i].type))
    if not keys:
        return sql if grouped else f"SELECT /*+ REBALANCE */ * FROM (\n{sql}\n)"
    hint = "" if grouped else f"/*+ REPARTITION_BY_RANGE({keys}) */ "
    return f"SELECT {hint}* FROM (\n{sql}\n) SORT BY {keys}"

"""A small workspace on disk in which the Spark executor runs programs, as a refresh does."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from slacktide.algebra.relation import Columns
from slacktide.algebra.sql import relation_sql
from slacktide.algebra.tree import sources
from slacktide.optimizer.plan import ViewPlan
from slacktide.program.reference.bags import Bag
from slacktide.program.reference.world import Outcome, Saved
from slacktide.spark.tasks.task import Query, Task
from slacktide.store import update as u
from slacktide.store.arrivals import Arrival, PinnedFile
from slacktide.store.naming import segments
from slacktide.store.record import Chain, Segment, StoredFile
from slacktide.store.store import Store
from tests.harness.arrow import arrow_type, column_array, plain_type, rows_of
from tests.harness.objects import TickingClock
from tests.harness.plans import Case, SourceShape

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[tuple[Any, ...]]


@dataclasses.dataclass
class Written:
    """What one run wrote: rows of every chain, of the answer and of its changes."""

    chains: dict[str, Rows]
    answer: Rows
    changes: Rows


class SparkWorkspace:
    """The sources of a case with their arrivals as Parquet files, and what runs wrote."""

    def __init__(self, spark: SparkSession, root: Path, case: Case, *, view: str) -> None:
        self._spark = spark
        self._root = root
        self._case = case
        self._view = view
        self._runs = 0
        self.store = Store.create(str(root / "workspace"), settings={}, clock=TickingClock())
        self.store.commit([add_source(shape) for shape in case.sources])

    def arrive(self, batch: Mapping[str, Bag]) -> None:
        """Write each source's changes as one file of a change feed and accept it."""
        updates: list[u.Update] = []
        for shape in self._case.sources:
            if shape.name in batch:
                version = self.store.world().sources[shape.name].version + 1
                path = self._root / f"{shape.name}-{version}.parquet"
                pq.write_table(_feed(shape, batch[shape.name]), path)
                updates.append(accepted(shape.name, path))
        if updates:
            self.store.commit(updates)

    def accept(self, source: str, path: Path) -> None:
        """Accept a file of changes that somebody else has written."""
        self.store.commit([accepted(source, path)])

    def run(self, plan: ViewPlan) -> Written:
        """Execute a plan's program and commit what it wrote."""
        from slacktide.spark.tasks.executor import Executor

        assert plan.program is not None
        self._runs += 1
        task = Task(
            self._view,
            plan.program,
            start=plan.start,
            end=plan.end,
            scopes={},
            query=self._query(plan),
            kind="view",
        )
        world = self.store.world()
        now = TickingClock()()
        attempt = f"run-{self._runs}"
        outcome = Executor(self._spark, self.store, world, attempt=attempt, now=now).run(task)
        assert outcome.answer is not None
        assert outcome.changes is not None
        written = {
            **outcome.chains,
            f"views/{self._view}": (outcome.answer, outcome.answer_is_base),
        }
        self.store.commit([_chain(chain, *segment) for chain, segment in written.items()])
        return Written(
            {chain: rows_in(self.store, segment) for chain, (segment, _) in outcome.chains.items()},
            rows_in(self.store, outcome.answer),
            rows_in(self.store, outcome.changes),
        )

    def adopt(self, outcome: Outcome, plan: ViewPlan) -> None:
        """Take what the reference wrote as if this workspace had written it."""
        self._runs += 1
        written = {
            chain: (saved.columns, _stored_rows(saved), saved.is_state, saved.is_base)
            for chain, saved in outcome.saved.items()
        }
        for view, published in outcome.published.items():
            rows = [(*row, count) for row, count in published.data]
            written[f"views/{view}"] = (published.columns, rows, False, published.is_base)
        self.store.commit(
            [
                _chain(chain, self._write(chain, columns, rows, is_state, plan), is_base)
                for chain, (columns, rows, is_state, is_base) in written.items()
            ]
        )

    def _write(
        self, chain: str, columns: Columns, rows: Rows, is_state: bool, plan: ViewPlan
    ) -> Segment:
        types = types_of(columns, is_bag=not is_state)
        names = [f"c{place}" for place in range(len(columns))] + ([] if is_state else ["__m"])
        relative = f"{chain}/run-{self._runs}/part.parquet"
        path = Path(self.store.path(relative))
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = [column_array([r[place] for r in rows], kind) for place, kind in enumerate(types)]
        pq.write_table(pa.Table.from_arrays(arrays, names=names), path)
        size = path.stat().st_size
        files = (StoredFile(relative, size, len(rows)),) if rows else ()
        return Segment(self._runs, files, len(rows), size, dict(plan.end))

    def schema(self, chain: str) -> list[pa.DataType] | None:
        """The types in the newest file of a chain; None where it has no file."""
        record = self.store.world().chains[chain]
        files = [file for segment in segments(record) for file in segment.files]
        if not files:
            return None
        return [plain_type(t) for t in pq.read_schema(self.store.path(files[-1].path)).types]

    def _query(self, plan: ViewPlan) -> Query:
        tables = {name: name for name in sources(self._case.relation)}
        sql = relation_sql(self._case.relation, tables)
        return Query(sql=sql, views={}, sources=tuple(tables), conf={}, clock=False)


def _stored_rows(saved: Saved) -> Rows:
    if saved.is_state:
        return [(*row,) for row in saved.data]
    return [(*row, count) for row, count in saved.data]


def _chain(chain: str, segment: Segment, is_base: bool) -> u.Update:
    stamped = dataclasses.replace(segment, run=1)
    return u.SetChain(Chain(chain, (), stamped)) if is_base else u.ExtendChain(chain, stamped)


def add_source(shape: SourceShape) -> u.AddSource:
    """Declare a source without a key."""
    schema = tuple(
        {"name": name, "type": data_type, "nullable": True} for name, data_type, _ in shape.columns
    )
    return u.AddSource(shape.name, "change-feed", {"format": "parquet"}, schema)


def accepted(source: str, path: Path) -> u.AcceptArrivals:
    """Accept a file of changes, of which is known how many take a row away."""
    kinds = pq.read_table(path, columns=["_change_type"], partitioning=None).column(0)
    deletes = sum(count for kind, count in _counts(kinds) if kind == "delete")
    size = path.stat().st_size
    pinned = (PinnedFile(str(path), size, "0"),)
    arrival = Arrival(pinned, len(kinds), size, "2026-01-01T00:00:00Z", deletes)
    return u.AcceptArrivals(source, [arrival])


def _counts(kinds: pa.ChunkedArray) -> list[tuple[str, int]]:
    return [(item["values"], item["counts"]) for item in kinds.value_counts().to_pylist()]


def rows_in(store: Store, segment: Segment) -> Rows:
    """Read what a run wrote, committed or not."""
    found: Rows = []
    for file in segment.files:
        found.extend(rows_of(pq.read_table(store.path(file.path), partitioning=None)))
    assert len(found) == segment.rows
    return found


def rounded_bag(rows: Rows) -> Counter[tuple[Any, ...]]:
    """A bag of rows that end with their counts; doubles to ten digits, as sums of them depend on the order."""
    bag: Counter[tuple[Any, ...]] = Counter()
    for *row, count in rows:
        bag[tuple(f"{v:.10g}" if isinstance(v, float) else v for v in row)] += count
    return bag


def _feed(shape: SourceShape, bag: Bag) -> pa.Table:
    signed = [(*row, "insert" if count > 0 else "delete") for row, count in bag]
    fields = [(name, arrow_type(data_type)) for name, data_type, _ in shape.columns]
    schema = pa.schema([*fields, ("_change_type", pa.string())])
    columns = [
        column_array([row[place] for row in signed], f.type) for place, f in enumerate(schema)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def types_of(columns: Columns, *, is_bag: bool) -> Sequence[pa.DataType]:
    """The types that a chain of these columns has in its files."""
    found = [arrow_type(column.type) for column in columns]
    return [*found, pa.int64()] if is_bag else found

"""Many random views in one workspace on real Spark: batch after batch, each answer against batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from slacktide.algebra.view import ReadView
from slacktide.engine.workspace import Workspace
from slacktide.errors import DataError, QueryError, UnsupportedQueryError
from slacktide.store.naming import segments
from slacktide.store.world import World
from tests.harness.lab import canonical
from tests.harness.objects import TickingClock
from tests.harness.random_sql.changes import (
    Batch,
    Rows,
    applied,
    arrow_rows,
    no_rows,
    write,
)
from tests.harness.random_sql.removals import Removal
from tests.harness.random_sql.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from slacktide.algebra.scalar import Column
    from slacktide.engine.reports import ViewReport

Bag = Counter[tuple[Any, ...]]
TOLERANCE = 1e-9
# Views that show that the workspace has the rows which the test has, too.
COPIES: Mapping[str, str] = {f"all_{name}": f"SELECT * FROM {name}" for name in TABLES}


@dataclass(frozen=True, slots=True)
class Seen:
    """What one run did for one view.

    Attributes:
        method: as the report says; ``failed`` where the answer is the last one still.
        reasons: codes, as the report says.
        rows: how many the answer has.
        changed: whether the answer is another than before.
        wrong: what is wrong, its kind before the colon; empty where the answer is equal.
        failed: the code of the user's error, where batch fails too.
    """

    method: str
    reasons: tuple[str, ...] = ()
    rows: int = 0
    changed: bool = False
    wrong: str = ""
    failed: str = ""

    @property
    def kind(self) -> str:
        """The kind of what is wrong."""
        return self.wrong.split(":")[0]


class Arena:
    """A workspace over the sources of random views, and the rows that they should hold.

    Args:
        spark: a running session.
        root: an empty folder.
        views: texts by name.

    Attributes:
        rows: those of each source.
        history: what each run took in.
        removals: what was removed by hand before a run, by the place of that run in the history.
        tied: views of which several answers are right.
        views: texts by name.
        refused: why Spark did not accept views.
        crashed: what went wrong while views were added.
    """

    def __init__(self, spark: SparkSession, root: Path, views: Mapping[str, str]) -> None:
        self._spark = spark
        self._root = root
        self._files = 0
        self.rows: Rows = no_rows()
        self.ws = Workspace.create(str(root / "workspace"), clock=TickingClock())
        for table in TABLES.values():
            landing = root / table.name
            landing.mkdir()
            key = {"key": list(table.key)} if table.key else {}
            self.ws.add_source(
                table.name, kind="change-feed", path=str(landing), schema=table.ddl, **key
            )
        self.history: list[Batch] = []
        self.removals: dict[int, Removal] = {}
        self.tied: set[str] = set()
        self.views: dict[str, str] = {}
        self.refused: dict[str, str] = {}
        self.crashed: dict[str, str] = {}
        self._last: dict[str, Bag] = {}
        self._compared: dict[str, Mapping[str, int]] = {}
        self._session: SparkSession | None = None
        self.add(views)

    def add(self, views: Mapping[str, str]) -> None:
        """Add views, each maintained without full recomputation where that is possible."""
        for name, text in views.items():
            try:
                try:
                    self.ws.add_view(self._spark, name, text, policy="incremental")
                except UnsupportedQueryError:
                    self.ws.add_view(self._spark, name, text)
            except QueryError as error:
                self.refused[name] = error.message
            except Exception as error:  # noqa: BLE001 - a crash is what is looked for
                self.crashed[name] = f"crash {type(error).__name__} when added: {_short(error)}"
            else:
                self.views[name] = text

    def land(self, batch: Batch) -> None:
        """Let the files of a batch land."""
        self.rows = applied(self.rows, batch)
        self._session = None
        for source, changes in batch:
            self._files += 1
            write(self._root / source / f"{self._files:05}.parquet", source, changes)

    def remove(self, removal: Removal) -> None:
        """Remove something that the views remember before the next run."""
        self.removals[len(self.history)] = removal
        removal.apply(self.ws)

    def step(self, *batches: Batch, compare: bool = True) -> dict[str, Seen]:
        """Let batches land, take them in by one run, and compare every answer with batch.

        Args:
            batches: what the run takes in.
            compare: whether to compare; what is wrong now and stays so is found by a later step.
        """
        for batch in batches:
            self.land(batch)
        self.history.append([file for batch in batches for file in batch])
        reports = self._refreshed()
        return {name: self._seen(name, reports[name], compare) for name in self.views}

    def _refreshed(self) -> dict[str, ViewReport | Exception]:
        """The report of each view; where the run as a whole fails, each view has its own."""
        try:
            return dict(self.ws.refresh(self._spark).views)
        except Exception:  # noqa: BLE001 - whatever it is, the guilty view is looked for
            return {name: self._alone(name) for name in self.views}

    def _alone(self, name: str) -> ViewReport | Exception:
        try:
            return self.ws.refresh(self._spark, views=[name]).views[name]
        except Exception as error:  # noqa: BLE001 - a crash is what is looked for
            return error

    def _seen(self, name: str, report: ViewReport | Exception, compare: bool) -> Seen:
        if isinstance(report, Exception):
            return self._judged(name, Seen("failed"), report)
        seen = Seen(report.method, report.reasons)
        if report.error is not None:
            return self._failed(name, seen, report.error["code"], report.error["message"])
        answer = self.answer(name)
        changed = answer != self._last.get(name, Counter())
        self._last[name] = answer
        wrong = self._differs(name, is_same=not changed) if compare else ""
        return Seen(report.method, report.reasons, answer.total(), changed, wrong)

    def _judged(self, name: str, seen: Seen, error: Exception) -> Seen:
        if isinstance(error, DataError):
            return self._failed(name, seen, error.code, error.message)
        return Seen(seen.method, wrong=f"crash {type(error).__name__}: {_short(error)}")

    def _failed(self, name: str, seen: Seen, code: str, message: str) -> Seen:
        if self.batch_fails(self.views[name]):
            return Seen(seen.method, seen.reasons, failed=code)
        return Seen(seen.method, seen.reasons, wrong=f"failed {code}: {message[:500]}")

    def _differs(self, name: str, *, is_same: bool) -> str:
        """How an answer differs from batch; one that was compared is not compared again."""
        world: World = self.ws._store.world()
        versions = dict(world.views[name].versions or {})
        newest = {source: world.sources[source].version for source in versions}
        if versions != newest:
            return f"behind: the answer is of {versions}, the sources are at {newest}"
        if is_same and self._compared.get(name) == versions:
            return ""
        if self._is_batch(name):
            self._compared[name] = versions
            return ""
        try:
            found = self.ws.verify(self._spark, [name]).views[name]
        except Exception as error:  # noqa: BLE001 - a crash is what is looked for
            return f"verify {type(error).__name__}: {_short(error)}"
        if found.equal and not found.incomparable:
            self._compared[name] = versions
            return ""
        told = found.to_dict()
        return "different: " + str(
            {k: told[k] for k in ("missing", "extra", "sample", "schema", "error")}
        )

    def _is_batch(self, name: str) -> bool:
        """Whether Spark gives just this answer over the rows that landed, to the last digit.

        Where it does not, `verify` knows of doubles and of ties, and says what differs.
        """
        from pyspark.errors import PySparkException

        try:
            frame = self._batch(self.views[name])
            if _types(frame) != [column.type for column in self._outputs(name)]:
                return False
            batch = frame.toArrow()
            count = batch.num_columns
            stored = [
                table.select([*range(count), table.num_columns - 1]) for table in self._tables(name)
            ]
            typed = stored[0].schema.types[:count] if stored else batch.schema.types
            schema = pa.schema([(f"c{place}", kind) for place, kind in enumerate(typed)])
            rows = batch.rename_columns(schema.names).cast(schema)
        except (PySparkException, pa.ArrowException):
            return False
        return bag_of(stored) == bag_of([_weighed(rows)])

    def _batch(self, text: str) -> DataFrame:
        """A query over the rows that landed, and over the texts of views that it names."""
        if self._session is None:
            self._session = self._rows_session()
        for name, other in self.views.items():
            if name in text:
                self._session.sql(other).createOrReplaceTempView(name)
        return self._session.sql(text)

    def _rows_session(self) -> SparkSession:
        session = self._spark.newSession()
        for name, rows in self.rows.items():
            frame = session.createDataFrame(arrow_rows(name, rows), TABLES[name].ddl)
            frame.createOrReplaceTempView(name)
        return session

    def _outputs(self, name: str) -> Sequence[Column]:
        return ReadView.from_dict(self.ws._store.world().views[name].definition).outputs

    # ------------------------------------------------------------- looking

    def answer(self, name: str) -> Bag:
        """The rows of an answer, read without Spark."""
        return bag_of(self._tables(name))

    def _tables(self, name: str) -> Iterable[pa.Table]:
        world: World = self.ws._store.world()
        chain = world.chains[f"views/{name}"]
        for segment in segments(chain):
            for file in segment.files:
                path = Path(self.ws.root) / file.path
                table = pq.read_table(path, partitioning=None, coerce_int96_timestamp_unit="us")
                yield table.cast(pa.schema([*map(_as_spark_reads, table.schema)]))

    def check_sources(self) -> None:
        """The copies of the sources hold just the rows that landed.

        Raises:
            AssertionError: they do not.
        """
        for name in TABLES:
            rows = arrow_rows(name, self.rows[name])
            fields = [f.with_name(f"c{i}") for i, f in enumerate(rows.schema)]
            typed = pa.schema([*fields, pa.field("__m", pa.int64())])
            found = bag_of(table.cast(typed) for table in self._tables(f"all_{name}"))
            wanted = bag_of([_weighed(rows)])
            assert found == wanted, (name, found - wanted, wanted - found)

    def batch_fails(self, text: str) -> bool:
        """Whether the query fails over the rows themselves, in Spark alone, for whatever reason."""
        try:
            self._batch(text).collect()
        except Exception:  # noqa: BLE001 - errors inside of Spark come as those of Java
            return True
        return False


def _as_spark_reads(field: pa.Field) -> pa.Field:
    """A column as it is, whoever wrote it: Spark and Arrow store instants in two ways."""
    is_bare = pa.types.is_timestamp(field.type) and field.type.tz is None
    return field.with_type(pa.timestamp("us", "UTC")) if is_bare else field


def _weighed(rows: pa.Table) -> pa.Table:
    return rows.append_column("__m", pa.array([1] * rows.num_rows, pa.int64()))


def _types(frame: DataFrame) -> list[str]:
    schema = frame._jdf.schema()
    return [schema.apply(place).dataType().sql() for place in range(schema.length())]


def bag_of(tables: Iterable[pa.Table]) -> Bag:
    """The rows of signed bags, counted."""
    counted: Bag = Counter()
    for table in tables:
        columns: Sequence[list[Any]] = [column.to_pylist() for column in table.columns]
        for *row, weight in zip(*columns, strict=True):
            counted[tuple(map(canonical, row))] += weight
    return Counter({row: weight for row, weight in counted.items() if weight})


def rounded(bag: Bag) -> Bag:
    """Rows whose doubles have lost their last digits, which depend on the order of addition."""

    def image(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(image, value))
        if isinstance(value, str) and value.startswith("float "):
            number = float(value.removeprefix("float "))
            return "float 0" if abs(number) < TOLERANCE else f"float {number:.8e}"
        return value

    rows: Bag = Counter()
    for row, times in bag.items():
        rows[image(row)] += times
    return rows


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:1500]

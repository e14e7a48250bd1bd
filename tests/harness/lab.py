"""A workspace with small sources whose rows the test keeps too, as lists, slowly and obviously."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from slacktide.engine.reports import Report
from slacktide.engine.workspace import Workspace
from slacktide.spark.files.seals import sealed
from slacktide.store import update as u
from slacktide.store.store import Store
from tests.harness.objects import TickingClock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = tuple[Any, ...]
Expected = Callable[..., Iterable[Row]]


def canonical(value: Any) -> Any:
    """A value in a form that is equal, and can be counted, just when it is identical."""
    if isinstance(value, tuple | list):
        return (type(value) is list, *map(canonical, value))
    if isinstance(value, dict):
        return tuple(sorted((canonical(k), canonical(v)) for k, v in value.items()))
    if isinstance(value, float):
        return f"float {value!r}"
    if value is None or (isinstance(value, int | str) and not isinstance(value, bool)):
        return value
    return f"{type(value).__name__} {value!r}"


def bag(rows: Iterable[Any]) -> Counter:
    """Rows, counted."""
    return Counter(tuple(canonical(value) for value in row) for row in rows)


def as_if_written(store: Store, chain: str, path: Path) -> None:
    """Have the log say that the first file of an answer is as it stands: only its rows are wrong then."""
    found = store.world().chains[chain]
    assert found.base is not None
    first, *others = found.base.files
    data = path.read_bytes()
    files = (sealed(replace(first, size=len(data)), data), *others)
    store.commit([u.SetChain(replace(found, base=replace(found.base, files=files)))])


class Lab:
    """A workspace, its change feeds, and the rows that they sum to.

    Attributes:
        rows: the rows of each source, as its history makes them.
    """

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.root = root
        clock = TickingClock()
        self._begin(spark, clock, Workspace.create(str(root / "workspace"), clock=clock))

    def _begin(self, spark: SparkSession, clock: TickingClock, ws: Workspace) -> None:
        self.spark = spark
        self.clock = clock
        self.ws = ws
        self.rows: dict[str, list[Row]] = {}
        self._files = 0
        self._schemas: dict[str, pa.Schema] = {}
        self._expected: dict[str, tuple[Expected, Sequence[str]]] = {}
        self._verified: dict[str, tuple[Expected, Sequence[str]]] = {}

    def source(self, name: str, ddl: str, *rows: Row, **arguments: Any) -> None:
        """Add a change feed with some rows to begin with."""
        self.shape(name, ddl)
        self.rows[name] = []
        given = {"schema": ddl, "path": self.landing(name), **arguments}
        self.ws.add_source(name, kind="change-feed", **given)
        if rows:
            self.land(name, insert=rows)

    def landing(self, name: str) -> str:
        """Make the place where the files of a new source land, and give its address."""
        self.folder(name).mkdir()
        return str(self.folder(name))

    def shape(self, name: str, ddl: str) -> None:
        """Say which columns the files of a source have from now on."""
        from pyspark.sql.pandas.types import to_arrow_schema
        from pyspark.sql.types import StructType

        schema: pa.Schema = to_arrow_schema(cast("StructType", StructType.fromDDL(ddl)))
        self._schemas[name] = schema

    def folder(self, name: str) -> Path:
        """Where the files of a source land."""
        return self.root / name

    def land(
        self,
        name: str,
        *,
        insert: Iterable[Row] = (),
        delete: Iterable[Row] = (),
        update: Iterable[tuple[Row, Row]] = (),
    ) -> Any:
        """Let one file of changes land, and keep what it does to the rows; give where it is."""
        changes: list[tuple[str, Row]] = [("insert", row) for row in insert]
        changes += [("delete", row) for row in delete]
        for old, new in update:
            changes += [("update_preimage", old), ("update_postimage", new)]
        for kind, row in changes:
            if kind in {"insert", "update_postimage"}:
                self.rows[name].append(row)
        for kind, row in changes:
            if kind in {"delete", "update_preimage"}:
                self._take(name, row)
        return self.land_as(name, changes)

    def land_as(self, name: str, changes: Sequence[tuple[str | None, Row]]) -> Any:
        """Let a file land as it is, legal or not, and leave the rows alone."""
        schema = self._schemas[name]
        columns = [[row[place] for _, row in changes] for place in range(len(schema))]
        arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
        arrays.append(pa.array([kind for kind, _ in changes], pa.string()))
        names = [*schema.names, "_change_type"]
        self._files += 1
        return self.write(name, self._files, pa.Table.from_arrays(arrays, names=names))

    def write(self, name: str, number: int, rows: pa.Table) -> Any:
        """Write a file of a source; give where it is."""
        path = self.folder(name) / f"{number:04}.parquet"
        pq.write_table(rows, path)
        return path

    def _take(self, name: str, row: Row) -> None:
        found = next(
            i for i, kept in enumerate(self.rows[name]) if canonical(kept) == canonical(row)
        )
        del self.rows[name][found]

    def view(
        self,
        name: str,
        sql: str,
        expected: Expected | None = None,
        *of: str,
        policy: str = "incremental",
        **settings: Any,
    ) -> None:
        """Add a view and say what its rows are, as a function of the rows of some sources."""
        self.ws.add_view(self.spark, name, sql, policy=policy, **settings)
        if expected is not None:
            self._expected[name] = (expected, of or tuple(self.rows)[:1])

    def refresh(self, *views: str) -> Report:
        """Take in what has landed."""
        return self.ws.refresh(self.spark, views=views or None)

    def step(self, **methods: str) -> Report:
        """Refresh, and check every answer, as `check` says.

        Args:
            methods: by view, the method that its run must have.
        """
        report = self.refresh()
        for name, method in methods.items():
            assert report.views[name].method == method, (name, report.views[name])
        self.check()
        return report

    def check(self) -> None:
        """Check every answer as it is: by the rows that the test keeps, where it says what they make.

        Types and names are Spark's to tell: also such a view is compared with a batch run, once.
        """
        views = self.ws.status().views.items()
        names = [name for name, told in views if told["versions"] and not self._is_verified(name)]
        if names:
            self.verified(*names)
        self._verified |= {name: self._expected[name] for name in names if name in self._expected}
        for name, (expected, of) in self._expected.items():
            rows = expected(*(self.rows[source] for source in of))
            found, wanted = self.bag(name), bag(rows)
            assert found == wanted, (name, found - wanted, wanted - found)

    def _is_verified(self, name: str) -> bool:
        return name in self._expected and self._verified.get(name) is self._expected[name]

    def verified(self, *views: str) -> None:
        """Every answer, or those of some views, is equal to a batch run."""
        found = self.ws.verify(self.spark, views or None)
        assert found.views.keys() >= {*views}
        assert found.views
        assert found.equal, found.to_dict()

    def read(self, view: str, **arguments: Any) -> list[Row]:
        """The rows of an answer in their order."""
        return [tuple(row) for row in self.ws.read(self.spark, view, **arguments).collect()]

    def bag(self, view: str, **arguments: Any) -> Counter:
        """The rows of an answer, counted."""
        return bag(self.read(view, **arguments))

    def changes(self, view: str, since: int, until: int | None = None) -> Counter:
        """The change of an answer between two runs, as signed counts."""
        frame: DataFrame = self.ws.changes(self.spark, view, since=since, until=until)
        signed: Counter = Counter()
        for *row, kind, _ in frame.collect():
            signed[tuple(map(canonical, row))] += 1 if kind == "insert" else -1
        return Counter({row: count for row, count in signed.items() if count})

    @property
    def number(self) -> int:
        """The newest entry of the log."""
        return self.ws._store.world().number

    def files(self, folder: str) -> list[Path]:
        """Files of the workspace below a folder."""
        return sorted(path for path in (Path(self.ws.root) / folder).rglob("*") if path.is_file())


def grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> Mapping[Any, list[Row]]:
    """Rows by a key."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups

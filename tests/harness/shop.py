"""A small workspace on disk with everything that a run writes: states, mirrors, answers, changes."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from slacktide.engine.workspace import Workspace
from slacktide.store.address import parse_address
from slacktide.store.entry import dump_json, with_digest
from slacktide.store.objects import Objects, connect
from slacktide.store.record import Chain, Segment
from slacktide.store.store import Store
from slacktide.store.world import World
from tests.harness.objects import TickingClock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slacktide.common.clock import Clock

TOTALS = "SELECT customer, sum(amount) AS total, count(*) AS n FROM orders GROUP BY customer"
VIEWS = {
    "totals": TOTALS,
    "busy": f"{TOTALS} HAVING count(*) > 20",
    "named": "SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer = c.id",
}
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
FOLDERS = ("states", "sources", "views", "changes")
Answers = Mapping[str, Counter[tuple[Any, ...]]]
Wrapper = Callable[[Objects], Objects]


@dataclass
class Shop:
    """A folder with landed files and a workspace over them.

    Attributes:
        folder: holds ``landing`` and ``workspace``.
        workspace: the workspace as one process has it open.
        plan_id: the stored plan of the pending change.
    """

    folder: Path
    workspace: Workspace
    plan_id: str = ""

    @classmethod
    def open_at(cls, folder: Path) -> Shop:
        """An empty shop."""
        for name in ("orders", "customers"):
            (folder / "landing" / name).mkdir(parents=True)
        return cls(folder, Workspace.create(str(folder / "workspace"), clock=TickingClock()))

    def stock(self, spark: SparkSession) -> None:
        """Commit a first run, then accept a change and store its plan."""
        changes = [("insert", i, i % 4, i) for i in range(100)]
        self.land_orders("base", changes)
        self.land_customers("base", range(4))
        schemas = {
            "orders": "id BIGINT, customer BIGINT, amount BIGINT",
            "customers": "id BIGINT, name STRING",
        }
        for name, kind in (("orders", "change-feed"), ("customers", "files")):
            landing = str(self.folder / "landing" / name)
            self.workspace.add_source(name, kind=kind, path=landing, schema=schemas[name])
        for name, sql in VIEWS.items():
            self.workspace.add_view(spark, name, sql)
        self.workspace.refresh(spark)
        self.land_orders("change", [("insert", 100, 4, 7), ("delete", 3, 3, 3)])
        self.land_customers("change", [4])
        self.plan_id = self.workspace.plan(now=NOON).plan_id

    def land_orders(self, name: str, changes: list[tuple[str, int, int, int]]) -> None:
        """Let changes of orders land: what, id, customer, amount."""
        columns = ("_change_type", "id", "customer", "amount")
        self._land("orders", name, dict(zip(columns, zip(*changes, strict=True), strict=True)))

    def land_customers(self, name: str, ids: Any) -> None:
        """Let customers land."""
        self._land("customers", name, {"id": [*ids], "name": [f"customer {i}" for i in ids]})

    def _land(self, source: str, name: str, columns: Mapping[str, Any]) -> None:
        arrived = self.folder / "landing" / source / f"{name}.parquet"
        hidden = arrived.with_name(f".{name}")
        pq.write_table(pa.table({key: list(values) for key, values in columns.items()}), hidden)
        hidden.rename(arrived)

    def copy(self, folder: Path) -> Shop:
        """The same shop in another folder: entries name landed files by their addresses."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        for path in (folder / "workspace" / "log").glob("*.json"):
            text = path.read_text(encoding="utf-8").replace(str(self.folder), str(folder))
            entry = json.loads(text)
            del entry["digest"]
            path.write_bytes(with_digest(dump_json(entry)))
        return Shop(folder, self.opened(folder), self.plan_id)

    def another(self, wrap: Wrapper | None = None, clock: Clock | None = None) -> Workspace:
        """The workspace as another process would open it, perhaps over objects that fail."""
        return self.opened(self.folder, wrap, clock)

    @staticmethod
    def opened(folder: Path, wrap: Wrapper | None = None, clock: Clock | None = None) -> Workspace:
        """Open the workspace in a folder."""
        root = str(folder / "workspace")
        ticking = clock or TickingClock()
        objects = connect(parse_address(root))
        wrapped = objects if wrap is None else wrap(objects)
        return Workspace(Store.open(root, clock=ticking, objects=wrapped), ticking)

    # ---------------------------------------------------------------- looking

    @property
    def root(self) -> Path:
        """The root of the workspace."""
        return self.folder / "workspace"

    def world(self) -> World:
        """What the log says, read anew."""
        return Store.open(str(self.root), clock=TickingClock()).world()

    def log(self) -> list[int]:
        """The numbers of the entries."""
        return sorted(int(path.stem) for path in (self.root / "log").glob("*.json"))

    def files(self) -> set[str]:
        """Everything in the folders that runs write to."""
        return {
            path.relative_to(self.root).as_posix()
            for folder in FOLDERS
            for path in (self.root / folder).rglob("*")
            if path.is_file()
        }

    def named(self) -> set[str]:
        """The files that the log names."""
        chains = self.world().chains.values()
        return {file.path for chain in chains for s in segments(chain) for file in s.files}

    def answers(self) -> Answers:
        """The rows of every view, read without Spark."""
        world = self.world()
        return {name: self._rows(world, f"views/{name}") for name in world.views}

    def _rows(self, world: World, chain: str) -> Counter[tuple[Any, ...]]:
        rows: Counter[tuple[Any, ...]] = Counter()
        for segment in segments(world.chains[chain]):
            for file in segment.files:
                for *row, weight in _read(self.root / file.path):
                    rows[tuple(row)] += weight
        return Counter({row: weight for row, weight in rows.items() if weight})

    def check(self) -> None:
        """No number is missing in the log; what it names is there, whole, and as it says."""
        assert self.log() == list(range(len(self.log())))
        world = self.world()
        assert sorted(world.runs) == list(range(1, len(world.runs) + 1))
        for chain in world.chains.values():
            for segment in segments(chain):
                found = [self.root / file.path for file in segment.files]
                assert [path.stat().st_size for path in found] == [f.size for f in segment.files]
                rows = sum(pq.read_metadata(path).num_rows for path in found)
                assert rows == segment.rows, chain.id


def segments(chain: Chain) -> Iterator[Segment]:
    """The base of a chain and what came since."""
    if chain.base is not None:
        yield chain.base
    yield from chain.segments


def _read(path: Path) -> Iterator[tuple[Any, ...]]:
    table = pq.read_table(path)
    columns = [*(f"c{i}" for i in range(len(table.column_names) - 1)), "__m"]
    return zip(*(table[name].to_pylist() for name in columns), strict=True)

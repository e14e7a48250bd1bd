"""The stream of changes: batch after batch, each a file per table that it touches.

Everything is a function of the base, the seed, the nature, the batch number and the options of
the batches before. One process writes at a time. What the stream knows stands in
``<root>/.stream``: ``rows/`` and ``late/`` only grow, and ``stream.json``, replaced last, says
which batches count and which files are still to be published, so that a stream that was killed
goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from slacktide.errors import InvalidSettingError
from slacktide.workloads.tpch import natures
from slacktide.workloads.tpch.base import STREAM, read_base, write_json
from slacktide.workloads.tpch.feed import arrow_schema, publish, write_hidden
from slacktide.workloads.tpch.rows import Rows, read_rows, write_rows
from slacktide.workloads.tpch.schema import TABLES
from slacktide.workloads.tpch.values import Draw, numbers
from slacktide.workloads.tpch.world import Late, World

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

_MAKERS: Mapping[str, Callable[[World], None]] = MappingProxyType(
    {"clustered": natures.clustered, "gaps": natures.gaps, "scattered": natures.scattered}
)
NATURES = tuple(_MAKERS)
"""The natures of change."""

_LATE_TABLES = ("orders", "lineitem")
_LATE_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Batch:
    """What one call wrote.

    Attributes:
        files: the file of each table that has one.
        rows: its rows, an update counting two.
        held: rows kept back for a later batch.
    """

    number: int
    files: Mapping[str, Path]
    rows: Mapping[str, int]
    held: Mapping[str, int]


class ChangeStream:
    """A seeded stream of changes over a base; opened again, it goes on where it stopped.

    The nature, the seed and the share may differ from one opening to the next.
    """

    def __init__(
        self,
        root: Path,
        *,
        scale: float,
        seed: int,
        nature: str,
        share: float = 0.01,
        masters: bool = False,
    ) -> None:
        """Open the stream of a base.

        Args:
            root: where `generate_base` wrote.
            scale: the scale of that base.
            seed: not negative; another one gives other changes.
            nature: one of `NATURES`.
            share: rows that a batch changes, as a share of the base.
            masters: whether clustered and gaps, too, bring new customers, suppliers and parts.

        Raises:
            InvalidSettingError: a value that does not fit, or another scale than the base's.
            SourceError: there is no base.
        """
        if nature not in _MAKERS:
            raise InvalidSettingError(f"nature {nature!r} is unknown", hint=", ".join(NATURES))
        if seed < 0:
            raise InvalidSettingError(f"seed {seed} is negative", hint="give 0 or more")
        self._share = _check_share(share)
        base = read_base(root)
        if base.scale != scale:
            raise InvalidSettingError(
                f"the base has scale {base.scale:g}, not {scale:g}", hint=f"give {base.scale:g}"
            )
        self._root, self._base = root, base.rows
        self._seed, self._nature, self._masters = seed, nature, masters
        self._own = root / STREAM
        self.number, self._late = self._resume()
        self._rows = {
            table.name: Rows(table, self._chain(table.name), number=self.number)
            for table in TABLES.values()
        }

    def write_next(
        self, *, rows_share: float | None = None, late: int = 0, empty: bool = False
    ) -> Batch:
        """Write the next batch; rows held back by earlier ones come with it when they are due.

        Args:
            rows_share: share of the base for this batch alone.
            late: by how many batches a fifth of the new orders comes late (True is one); half of
                them whole, of the others only the lines.
            empty: write files without rows for orders and lines, and none for the other tables;
                what is due waits.

        Raises:
            InvalidSettingError: a value that does not fit.
        """
        share = self._share if rows_share is None else _check_share(rows_share)
        if late < 0:
            raise InvalidSettingError(f"late {late} is negative", hint="a number of batches")
        world = self._world(share)
        held: dict[str, pa.Table] = {}
        if not empty:
            _MAKERS[self._nature](world)
            if self._masters and self._nature != "scattered":
                natures.growing_masters(world)
            if late:
                held = _hold_back(world)
            self._release(world)
        written = [
            name
            for name, change in world.changes.items()
            if len(change) or (empty and name in _LATE_TABLES)
        ]
        return self._commit(world, written, held, due=world.number + int(late))

    def current(self, table: str) -> Iterator[pa.RecordBatch]:
        """Give the rows of a table as all batches so far leave it: the sum of its history."""
        return self._rows[table].current()

    def _world(self, share: float) -> World:
        number = self.number + 1
        draw = Draw(self._seed, NATURES.index(self._nature), number)
        return World(self._rows, self._base, tuple(self._late), draw, number, share)

    def _release(self, world: World) -> None:
        for late in self._late:
            if late.due <= world.number:
                for name, rows in late.tables.items():
                    world.changes[name].insert(rows)

    def _commit(
        self, world: World, written: list[str], held: Mapping[str, pa.Table], *, due: int
    ) -> Batch:
        number, changes = world.number, world.changes
        self._forget(number)
        files = {name: self._root / name / f"batch-{number:06d}.parquet" for name in written}
        for name, file in files.items():
            write_hidden(file, TABLES[name], changes[name].feed(number))
        changed = [name for name in written if len(changes[name])]
        for name in changed:
            self._rows[name].save(number, changes[name].added(), changes[name].gone())
        waiting = self._late if not changed else [x for x in self._late if x.due > number]
        if held:
            waiting = [*waiting, Late(number, due, held)]
            for name, rows in held.items():
                write_rows(self._held(number, name), TABLES[name], rows.to_batches())
        document = {
            "format": 1,
            "number": number,
            "late": [[late.number, late.due] for late in waiting],
            "publish": [str(file.relative_to(self._root)) for file in files.values()],
        }
        write_json(self._own / "stream.json", document)
        self.number, self._late = number, list(waiting)
        for file in files.values():
            publish(file)
        for name in changed:
            self._rows[name].follow(number)
        sizes = {name: len(changes[name]) for name in files}
        return Batch(number, files, sizes, {name: rows.num_rows for name, rows in held.items()})

    def _resume(self) -> tuple[int, list[Late]]:
        """Read where the stream stopped, and publish what a killed one left hidden."""
        for table in TABLES.values():
            if not (target := self._chain(table.name) / "000000.arrow").exists():
                write_rows(target, table, self._base_batches(table.name))
        record = self._own / "stream.json"
        if not record.exists():
            return 0, []
        document = json.loads(record.read_text(encoding="utf-8"))
        for file in document["publish"]:
            publish(self._root / file)
        late = [
            Late(number, due, {name: self._read_held(number, name) for name in _LATE_TABLES})
            for number, due in document["late"]
        ]
        return document["number"], late

    def _forget(self, number: int) -> None:
        """Remove what a killed batch of this number left; its options may have been others."""
        for table in TABLES:
            for file in self._chain(table).glob(f"{number:06d}.*"):
                file.unlink()

    def _base_batches(self, name: str) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        schema = arrow_schema(TABLES[name])
        for path in sorted((self._root / name).glob("base-*.parquet")):
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=64 * 1024, columns=schema.names):
                    yield batch.cast(schema)

    def _read_held(self, number: int, name: str) -> pa.Table:
        import pyarrow as pa

        return pa.Table.from_batches(
            read_rows(self._held(number, name)), arrow_schema(TABLES[name])
        )

    def _chain(self, name: str) -> Path:
        return self._own / "rows" / name

    def _held(self, number: int, name: str) -> Path:
        return self._own / "late" / f"{number:06d}.{name}.arrow"


def _check_share(share: float) -> float:
    if not 0 < share <= 1:
        raise InvalidSettingError(
            f"share {share!r} is not above 0 and at most 1", hint="such as 0.01"
        )
    return share


def _hold_back(world: World) -> dict[str, pa.Table]:
    """Take a fifth of the new orders out of the batch: half of them whole, else only the lines."""
    import numpy as np
    import pyarrow as pa

    orders, lines = (world.changes[name].inserted for name in _LATE_TABLES)
    new, items = orders.pop(), lines.pop()
    keys = numbers(new.column("o_orderkey"))
    chosen = world.draw.shuffled(keys)[: max(1, round(_LATE_SHARE * len(keys)))]
    whole = np.isin(keys, chosen[: (len(chosen) + 1) // 2])
    parts = np.isin(numbers(items.column("l_orderkey")), chosen)
    world.changes["orders"].insert(new.filter(pa.array(~whole)))
    world.changes["lineitem"].insert(items.filter(pa.array(~parts)))
    return {"orders": new.filter(pa.array(whole)), "lineitem": items.filter(pa.array(parts))}

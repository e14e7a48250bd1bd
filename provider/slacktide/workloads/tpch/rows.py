"""The current rows of the tables, on disk, as the stream of changes knows them.

A table is a chain of Arrow files that are mapped into memory and never rewritten: the base, and
one per batch with the rows that it brought. A batch also writes which rows of the chain it took
away. Memory holds one or two bytes per row of the chain and whatever a batch touches; the rows
stay in the page cache of the system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from slacktide.errors import InvariantError
from slacktide.workloads.tpch.feed import arrow_schema
from slacktide.workloads.tpch.schema import Table
from slacktide.workloads.tpch.values import Draw, numbers

if TYPE_CHECKING:
    import pyarrow as pa

    from slacktide.workloads.tpch.values import Flags, Numbers

_BATCH = 64 * 1024


def write_rows(target: Path, table: Table, batches: Iterable[pa.RecordBatch]) -> None:
    """Write rows to an Arrow file that can be mapped, whole or not at all."""
    import pyarrow as pa

    target.parent.mkdir(parents=True, exist_ok=True)
    hidden = target.with_name(f".{target.name}.part")
    with pa.ipc.new_file(hidden, arrow_schema(table)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    hidden.replace(target)


def read_rows(path: Path) -> list[pa.RecordBatch]:
    """Map an Arrow file; its rows are read when they are touched."""
    import pyarrow as pa

    reader = pa.ipc.open_file(pa.memory_map(str(path)))
    return [reader.get_batch(index) for index in range(reader.num_record_batches)]


class Rows:
    """The rows of one table: all that ever were, and which of them are alive."""

    def __init__(self, table: Table, directory: Path, *, number: int) -> None:
        """Map the chain up to a batch number; files of later ones were never committed."""
        import numpy as np

        self.table = table
        self._directory = directory
        self._batches: list[pa.RecordBatch] = []
        self._starts: list[int] = []
        self._total = 0
        self.alive: Flags = np.zeros(0, dtype=bool)
        for part in range(number + 1):
            path = self._path(part)
            if path.exists():
                self._extend(read_rows(path))
            path = self._gone(part)
            if path.exists():
                self.alive[np.load(path)] = False
        self.begin()

    def begin(self) -> None:
        """Begin a batch: every row that is alive may be chosen."""
        self._free = self.alive.copy()

    def __len__(self) -> int:
        return int(self.alive.sum())

    def every(self, column: str) -> Numbers:
        """Give a column of whole numbers of all rows that ever were, by position."""
        import numpy as np

        parts = [numbers(batch.column(column)) for batch in self._batches]
        return np.concatenate(parts)

    def free(self) -> Numbers:
        """Give the positions that may still be chosen."""
        import numpy as np

        return np.flatnonzero(self._free)

    def claim(self, positions: Numbers) -> Numbers:
        """Mark rows as chosen by this batch, so that none is changed twice."""
        self._free[positions] = False
        return positions

    def sample(self, draw: Draw, size: int) -> Numbers:
        """Choose and claim different rows; fewer, where there are no more."""
        import numpy as np

        found = np.unique(self._candidates(draw, 2 * size))
        if len(found) < size:
            found = self.free()
        return self.claim(np.sort(draw.shuffled(found)[:size]))

    def pick(self, draw: Draw, size: int) -> Numbers:
        """Choose rows, one perhaps several times, and claim none."""
        found = self._candidates(draw, size)
        if len(found) < size:
            choices = self.free()
            if not len(choices):
                raise InvariantError(f"{self.table.name} has no rows left to refer to")
            return choices[draw.between(0, len(choices) - 1, size)]
        return found[:size]

    def where(self, column: str, keys: Numbers) -> Numbers:
        """Give the positions of live rows whose column has one of the values."""
        import numpy as np

        found = []
        wanted = np.unique(keys)
        for start, batch in self._placed():
            values = numbers(batch.column(column))
            hit = self.alive[start : start + batch.num_rows]
            if len(values) and len(wanted):
                hit = hit & np.isin(values, wanted)
                found.append(np.flatnonzero(hit) + start)
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)

    def take(self, positions: Numbers, columns: list[str] | None = None) -> pa.Table:
        """Give the rows at sorted positions."""
        import numpy as np
        import pyarrow as pa

        schema = arrow_schema(self.table)
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        bounds = np.searchsorted(positions, [*self._starts, self._total])
        parts = []
        for index, (start, batch) in enumerate(self._placed()):
            inside = positions[bounds[index] : bounds[index + 1]]
            if len(inside):
                chosen = batch if columns is None else batch.select(columns)
                parts.append(chosen.take(pa.array(inside - start)))
        return pa.Table.from_batches(parts, schema).combine_chunks()

    def current(self) -> Iterator[pa.RecordBatch]:
        """Give the live rows, batch by batch."""
        import pyarrow as pa

        for start, batch in self._placed():
            yield batch.filter(pa.array(self.alive[start : start + batch.num_rows]))

    def save(self, number: int, added: pa.Table, gone: Numbers) -> None:
        """Write what a batch did to the chain; nothing reads it before the batch is committed."""
        import numpy as np

        write_rows(self._path(number), self.table, added.to_batches(_BATCH))
        np.save(self._gone(number), gone)

    def follow(self, number: int) -> None:
        """Take over what `save` wrote."""
        import numpy as np

        self._extend(read_rows(self._path(number)))
        self.alive[np.load(self._gone(number))] = False

    def _extend(self, batches: list[pa.RecordBatch]) -> None:
        import numpy as np

        added = 0
        for batch in batches:
            self._starts.append(self._total + added)
            self._batches.append(batch)
            added += batch.num_rows
        self._total += added
        self.alive = np.concatenate([self.alive, np.ones(added, dtype=bool)])

    def _candidates(self, draw: Draw, size: int) -> Numbers:
        """Draw free positions, more than the size unless free ones are rare."""
        drawn = draw.between(0, self._total - 1, 2 * size + 16)
        return drawn[self._free[drawn]]

    def _placed(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        return zip(self._starts, self._batches, strict=True)

    def _path(self, number: int) -> Path:
        return self._directory / f"{number:06d}.arrow"

    def _gone(self, number: int) -> Path:
        return self._directory / f"{number:06d}.gone.npy"

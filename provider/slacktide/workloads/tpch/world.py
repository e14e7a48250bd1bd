"""What a batch is made from and made into: current rows, rows on their way, and the changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slacktide.common.change_feed import DELETE, INSERT, POSTIMAGE, PREIMAGE
from slacktide.workloads.tpch.feed import arrow_schema, as_changes
from slacktide.workloads.tpch.rows import Rows
from slacktide.workloads.tpch.schema import TABLES
from slacktide.workloads.tpch.values import Draw, numbers

if TYPE_CHECKING:
    import pyarrow as pa

    from slacktide.workloads.tpch.values import Numbers


@dataclass(slots=True)
class Change:
    """What a batch does to one table; rows to take away are positions in its `Rows`."""

    rows: Rows
    deleted: list[Numbers] = field(default_factory=list)
    updated: list[Numbers] = field(default_factory=list)
    images: list[pa.Table] = field(default_factory=list)
    inserted: list[pa.Table] = field(default_factory=list)

    def delete(self, positions: Numbers) -> None:
        """Delete claimed rows."""
        if len(positions):
            self.deleted.append(positions)

    def update(self, positions: Numbers, columns: Mapping[str, pa.Array]) -> None:
        """Give claimed rows new values in some columns."""
        if not len(positions):
            return
        image = self.rows.take(positions)
        for name, values in columns.items():
            place = image.schema.get_field_index(name)
            image = image.set_column(place, image.schema.field(place), values)
        self.updated.append(positions)
        self.images.append(image)

    def insert(self, rows: pa.Table) -> None:
        """Insert rows whose keys are new."""
        if rows.num_rows:
            self.inserted.append(rows)

    def feed(self, version: int) -> Iterator[pa.Table]:
        """Give the rows of the change feed, kind by kind."""
        for positions in self.deleted:
            yield as_changes(self.rows.take(positions), DELETE, version)
        for positions, image in zip(self.updated, self.images, strict=True):
            yield as_changes(self.rows.take(positions), PREIMAGE, version)
            yield as_changes(image, POSTIMAGE, version)
        for rows in self.inserted:
            yield as_changes(rows, INSERT, version)

    def added(self) -> pa.Table:
        """Give the rows that are current after the batch and were not before."""
        import pyarrow as pa

        schema = arrow_schema(self.rows.table)
        parts = [part.cast(schema) for part in (*self.images, *self.inserted)]
        return pa.concat_tables([schema.empty_table(), *parts])

    def gone(self) -> Numbers:
        """Give the positions of the rows that were current and are not any more."""
        import numpy as np

        return np.concatenate([np.zeros(0, dtype=np.int64), *self.deleted, *self.updated])

    def __len__(self) -> int:
        """Count the rows of the change feed."""
        taken = sum(map(len, self.deleted)) + 2 * sum(map(len, self.updated))
        return taken + sum(len(rows) for rows in self.inserted)


@dataclass(frozen=True, slots=True)
class Late:
    """New rows that are held back until a later batch."""

    number: int
    due: int
    tables: Mapping[str, pa.Table]


@dataclass(slots=True)
class World:
    """Everything a nature needs to make one batch.

    Attributes:
        base: the rows of each table in the base; shares are shares of these.
        late: what earlier batches held back; it refers to rows that must stay.
    """

    rows: Mapping[str, Rows]
    base: Mapping[str, int]
    late: Sequence[Late]
    draw: Draw
    number: int
    share: float
    changes: dict[str, Change] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.changes = {name: Change(self.rows[name]) for name in TABLES}
        for rows in self.rows.values():
            rows.begin()
        orders = self.rows["orders"]
        orders.claim(orders.where("o_orderkey", self.waiting("lineitem", "l_orderkey")))

    def size(self, table: str, part: float) -> float:
        """Give the expected rows of a part of this batch's share of a table."""
        return float(self.share * part * self.base[table])

    def waiting(self, table: str, column: str) -> Numbers:
        """Give a column of whole numbers of the rows held back."""
        import numpy as np

        parts = [numbers(late.tables[table].column(column)) for late in self.late]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def picked(self, table: str, columns: list[str], size: int) -> pa.Table:
        """Give some columns of rows picked by chance, in an order by chance."""
        import numpy as np
        import pyarrow as pa

        rows = self.rows[table]
        found = rows.take(np.sort(rows.pick(self.draw, size)), columns)
        return found.take(pa.array(self.draw.shuffled(np.arange(size, dtype=np.int64))))

    def next_key(self, table: str) -> int:
        """Give the key after the greatest that a table with counted keys ever had."""
        (column,) = TABLES[table].key
        return int(self.rows[table].every(column).max()) + 1

    def unreferenced(self, keys: Numbers, referring: Mapping[str, str]) -> Numbers:
        """Give those keys that no current or late row of the tables refers to."""
        import numpy as np

        for table, column in referring.items():
            rows = self.rows[table]
            used = rows.take(rows.where(column, keys), [column]).column(column)
            keys = np.setdiff1d(keys, numbers(used))
            if table in {"orders", "lineitem"}:
                keys = np.setdiff1d(keys, self.waiting(table, column))
        return keys

"""The sum of the history of the eight TPC-H feeds, kept slowly and obviously."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet as pq

from slacktide.workloads import tpch

SIGNS = {"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}


def feed_rows(path: Path) -> list[tuple[str, tuple]]:
    """The rows of a file as pairs of change type and row, in the order of the table's columns."""
    columns = pq.read_table(path, partitioning=None).to_pydict()
    kinds = columns.pop("_change_type")
    del columns["_commit_version"]
    return list(zip(kinds, zip(*columns.values(), strict=True), strict=True))


class History:
    """Counted rows per table."""

    def __init__(self, root: Path) -> None:
        self.rows: dict[str, Counter] = {name: Counter() for name in tpch.TABLES}
        self.apply((name, path) for name in tpch.TABLES for path in (root / name).glob("base-*"))

    def apply(self, files: Iterable[tuple[str, Path]]) -> None:
        for name, path in files:
            for kind, row in feed_rows(path):
                self.rows[name][row] += SIGNS[kind]
                if not self.rows[name][row]:
                    del self.rows[name][row]

    def values(self, column: str) -> list:
        """The values of a column named ``table.column``."""
        name, wanted = column.split(".")
        place = [column.name for column in tpch.TABLES[name].columns].index(wanted)
        return [row[place] for row in self.rows[name]]

    def assert_legal(self) -> None:
        """Every row once, keys unique, references met."""
        for table in tpch.TABLES.values():
            assert set(self.rows[table.name].values()) <= {1}, table.name
            keys = zip(*(self.values(f"{table.name}.{c}") for c in table.key), strict=True)
            assert max(Counter(keys).values()) == 1, table.name
            for column, target in table.references.items():
                missing = set(self.values(f"{table.name}.{column}")) - set(self.values(target))
                assert not missing, (table.name, column)
        offers = zip(
            self.values("partsupp.ps_partkey"), self.values("partsupp.ps_suppkey"), strict=True
        )
        lines = zip(
            self.values("lineitem.l_partkey"), self.values("lineitem.l_suppkey"), strict=True
        )
        assert not set(lines) - set(offers)

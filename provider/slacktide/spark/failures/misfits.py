"""Rows of text files that do not fit the schema of their source."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from slacktide.spark.failures.translation import translated
from slacktide.spark.tables.landed import FILE, ROW
from slacktide.store.address import from_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_AT_ONCE = 20_000
"""Rows that the driver holds."""


class Misfits:
    """The rows of one table of such rows.

    Args:
        session: has the table.
        source: whose rows they are.
        table: with a column for the file and one for the row.
    """

    def __init__(self, session: SparkSession, source: str, table: str) -> None:
        self._session = session
        self._what = f"source {source}"
        self._table = table

    def counts(self) -> dict[str, int]:
        """Count them by the path of the file, as it is pinned."""
        with translated(self._what):
            sql = f"SELECT {FILE}, count(*) FROM {self._table} GROUP BY {FILE}"
            return {from_spark(file).spelling: n for file, n in self._session.sql(sql).collect()}

    def batches(self) -> Iterator[list[str]]:
        """Give the rows as they stand in their files, sorted, some of them at a time."""
        with translated(self._what):
            frame = self._session.sql(f"SELECT {ROW} FROM {self._table} ORDER BY {ROW}")
            rows = (row[0] for row in frame.toLocalIterator())
            while batch := list(islice(rows, _AT_ONCE)):
                yield batch

"""Tables over the pieces of chains: bases and segments, whose files are named by the log, never listed.

A table of a chain has columns ``c0``, ``c1``, … by position, and ``__m`` where it is a bag.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from slacktide.algebra.relation import Columns
from slacktide.algebra.types import type_sql
from slacktide.common.chain_ids import mirrored_source
from slacktide.spark.files.stored import stored_frame
from slacktide.spark.sessions.shelf import Shelf
from slacktide.spark.tables.columns import stored_type
from slacktide.spark.tables.landed import FILE, literal_path
from slacktide.spark.texts.bags import counted_out_sql, rows_sql
from slacktide.store.layout import ATTEMPT, attempt_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from slacktide.store.record import Segment
    from slacktide.store.store import Store

Fields = Sequence[tuple[str, str]]
_MULTIPLICITY = ("__m", "BIGINT")


class Pieces:
    """The pieces of chains as tables of one session.

    Args:
        shelf: where the tables are made.
        store: gives addresses of files in the workspace.
    """

    def __init__(self, shelf: Shelf, store: Store) -> None:
        self._shelf = shelf
        self._store = store

    def read(self, chain: str, fields: Fields, segments: Sequence[Segment]) -> str:
        """A table of some pieces of a chain with the columns that they were written with.

        Args:
            chain: its id.
            fields: names and types.
            segments: the pieces.

        Raises:
            DamagedFileError: a file has not the length with which it was written, or its end is another one.
        """
        paths = self._paths(segments)
        if not paths:
            return self._shelf.nothing(fields)
        schema = _ddl(fields)
        return self._shelf.once(
            ("files", schema, paths),
            lambda: self._shelf.register(self._frame(chain, schema, segments)),
        )

    def table(
        self, chain: str, segments: Sequence[Segment], columns: Columns, *, is_bag: bool
    ) -> str:
        """A table of some pieces of a chain."""
        return self.read(chain, _fields(columns, is_bag=is_bag), segments)

    def by_run(self, chain: str, segments: Sequence[Segment], columns: Columns) -> str:
        """Pieces of a bag with the run of each as ``__run``, in one scan however many there are."""
        fields = _fields(columns, is_bag=True)
        if not any(segment.files for segment in segments):
            return self._shelf.nothing([*fields, ("__run", "BIGINT")])
        frame = self._frame(chain, _ddl(fields), segments)
        attempt = f"element_at(split(_metadata.file_path, '/'), {ATTEMPT})"
        table = self._shelf.register(frame.selectExpr("*", f"{attempt} AS {FILE}"))
        runs = ", ".join(
            f"('{attempt_of(file.path)}', {segment.run}L)"
            for segment in segments
            for file in segment.files[:1]
        )
        listed = ", ".join(name for name, _ in fields)
        return self._shelf.define(
            f"SELECT /*+ BROADCAST(r) */ {listed}, r.run AS __run FROM {table}"
            f" JOIN VALUES {runs} AS r(attempt, run) ON {FILE} = r.attempt"
        )

    def rows(
        self,
        chain: str,
        segments: Sequence[Segment],
        columns: Columns,
        taken: Sequence[Segment] = (),
    ) -> str:
        """A table of the plain rows of a stored bag.

        Args:
            chain: names it.
            segments: what the bag is made of.
            columns: of the bag.
            taken: what is to be taken back from it.
        """
        table = self.table(chain, segments, columns, is_bag=True)
        fields = _fields(columns, is_bag=False)
        if len(segments) == 1 and not taken:
            return self._shelf.define(counted_out_sql(table, fields, what=chain))
        if taken:
            back = self.table(chain, taken, columns, is_bag=True)
            columns_and = "".join(f"{name}, " for name, _ in fields)
            table = self._shelf.define(
                f"SELECT {columns_and}__m FROM {table}"
                f" UNION ALL SELECT {columns_and}-__m AS __m FROM {back}"
            )
        return self._shelf.define(rows_sql(table, fields, what=chain))

    def _frame(self, chain: str, schema: str, segments: Sequence[Segment]) -> DataFrame:
        paths = self._paths(segments)
        source = mirrored_source(chain)
        label = chain if source is None else f"rows of {source}"
        self._shelf.labels.update(dict.fromkeys(paths[:1], label))
        files = [file for segment in segments for file in segment.files]
        return stored_frame(self._shelf.session, self._store, chain, schema, paths, files)

    def _paths(self, segments: Sequence[Segment]) -> tuple[str, ...]:
        return tuple(
            literal_path(self._store.path(file.path))
            for segment in segments
            for file in segment.files
        )


def _fields(columns: Columns, *, is_bag: bool) -> Fields:
    fields = [(f"c{i}", stored_type(column.type)) for i, column in enumerate(columns)]
    return [*fields, _MULTIPLICITY] if is_bag else fields


def _ddl(fields: Fields) -> str:
    return ", ".join(f"{name} {type_sql(data_type)}" for name, data_type in fields)

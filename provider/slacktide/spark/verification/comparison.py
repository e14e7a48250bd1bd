"""The signed difference between a stored answer and a batch run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from slacktide.algebra.relation import Columns, Rel, Scan
from slacktide.algebra.sql import column_name, relation_sql
from slacktide.algebra.types import DataType, has_floating, is_groupable, type_sql
from slacktide.algebra.view import ReadView
from slacktide.common.chain_ids import answer_id
from slacktide.common.tree import of_type
from slacktide.spark.failures.translation import translated
from slacktide.spark.files.reading import STRICT
from slacktide.spark.functions import called, register_functions
from slacktide.spark.measures.cost import Cost
from slacktide.spark.measures.metrics import Meter, described
from slacktide.spark.sessions.shelf import Shelf, Shelves
from slacktide.spark.tables.columns import stored_type
from slacktide.spark.tables.materialised import freed
from slacktide.spark.tables.pinned_tables import Tables
from slacktide.spark.tasks.task import Query
from slacktide.spark.texts.bags import consolidate_sql, nearly_sql, rows_sql
from slacktide.spark.texts.query import query_frame
from slacktide.spark.texts.ties import Cut
from slacktide.spark.verification.magnitudes import Magnified

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from slacktide.store.record import FunctionRecord
    from slacktide.store.store import Store
    from slacktide.store.world import World

MOST_COMPARED: Final = 10_000
"""As many rows that differ are looked at."""
_LIMIT = MOST_COMPARED + 1


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs.

    Attributes:
        rows: rows with their signed multiplicity last, positive where only the answer has them; at
            most `MOST_COMPARED`.
        is_cut: whether more rows differ.
        schema: how the schemas differ, or an empty text.
        cost: what the batch run cost.
    """

    rows: list[tuple[Any, ...]]
    is_cut: bool
    schema: str
    cost: Cost


@dataclass(frozen=True, slots=True)
class Plain:
    """Directories of Parquet beside the workspace, of which it has no part.

    Attributes:
        sources: by source, its rows, which are read in place of the workspace's own copies.
        answers: by view, what its query gave over them; the others are computed.
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a limit at the top of a view could choose from.

    Attributes:
        answer: the rows that it chose.
        ranked: the rows before it that may equal one of these, the rank last.
        sizes: how many rows there are of each rank.
    """

    answer: list[tuple[Any, ...]]
    ranked: list[tuple[Any, ...]]
    sizes: Mapping[int, int]


class Comparison:
    """Compares answers of one world on one session's Spark."""

    def __init__(
        self, shelves: Shelves, store: Store, world: World, view: ReadView, plain: Plain
    ) -> None:
        self._shelf = shelves.of(view.conf)
        self._texts = shelves.of(view.conf, texts=True)
        self._store = store
        self._world = world
        self._view = view
        self._plain = plain
        self._session = self._shelf.session

    def schema(self, name: str, query: Query) -> str:
        """Say how the schema of an answer differs from that of its query; empty for not at all.

        Raises:
            SlacktideError: as `slacktide.spark.failures.translation` says.
        """
        with translated(f"view {name}"):
            nowhere = dict.fromkeys(query.sources, 0)
            return _schema_difference(self._view, self._batch(self._tables(nowhere), query, None))

    def _tables(self, versions: Mapping[str, int]) -> Tables:
        return Tables(self._shelf, self._store, self._world, start=versions, end=versions, saved={})

    def _batch(self, tables: Tables, query: Query, now: datetime | None) -> DataFrame:
        shelf = self._texts
        tables = tables.on(shelf)
        register_functions(shelf.session, self._called(query))
        for source in query.sources:
            shelf.alias(source, shelf.session.table(self._rows(tables, shelf, source)))
        return query_frame(shelf, query.sql, query.views, now)

    def _rows(self, tables: Tables, shelf: Shelf, source: str) -> str:
        folder = self._plain.sources.get(source)
        return tables.rows(source, "after") if folder is None else _parquet(shelf, folder)

    def _called(self, query: Query) -> list[FunctionRecord]:
        return called(self._world.functions.values(), (query.sql, *query.views.values()))

    def differences(
        self,
        name: str,
        query: Query,
        columns: Columns,
        versions: Mapping[str, int],
        now: datetime | None,
    ) -> Differences:
        """Compare the answer of a view with its query over the snapshots of `versions`, or plain rows.

        Raises:
            SlacktideError: as `slacktide.spark.failures.translation` says.
        """
        tables = self._tables(versions)
        with translated(f"view {name}", self._called(query)):
            answer = self._plain.answers.get(name)
            batch = (
                self._batch(tables, query, now)
                if answer is None
                else self._session.read.options(**STRICT).parquet(answer)
            )
            schema = _schema_difference(self._view, batch)
            typed = self._typed()
            kept, cost = self._kept(name, batch)
            stored = tables.stored(answer_id(name), columns, is_bag=True)
            names = ", ".join(column for column, _ in typed)
            try:
                with self._shelf.passing(kept) as (fresh,):
                    both = (
                        f"(SELECT {names}, __m FROM {stored} UNION ALL"
                        f" SELECT {names}, -1L AS __m FROM {fresh})"
                    )
                    # The driver judges what is left; many doubles differ in their last digits alone.
                    differing = f"{consolidate_sql(both, typed, nearly_sql)} LIMIT {_LIMIT}"
                    found = self._session.sql(differing).collect()
            finally:
                freed(kept)
        rows = [tuple(row) for row in found[:MOST_COMPARED]]
        return Differences(rows, len(found) > len(rows), schema, cost)

    def choice(
        self, name: str, cut: Cut, columns: Columns, versions: Mapping[str, int]
    ) -> Choice | None:
        """Read what a limit at the top of the view could choose from; None where it is too much.

        Raises:
            SlacktideError: as `slacktide.spark.failures.translation` says.
        """
        tables = self._tables(versions)
        typed = self._typed()
        names = ", ".join(column for column, _ in typed)
        with translated(f"view {name}"):
            stored = tables.stored(answer_id(name), columns, is_bag=True)
            answered = self._session.sql(rows_sql(f"(SELECT {names}, __m FROM {stored})", typed))
            all_ranked = self._session.sql(self._ranked_sql(cut, tables))
            with self._shelf.passing(answered, all_ranked) as (answer, ranked):
                sizes = self._session.sql(
                    f"SELECT rank, count(*) FROM {ranked} GROUP BY rank LIMIT {_LIMIT}"
                ).collect()
                # Doubles may differ in their last digits, and maps have no equality.
                plain = [column for column, kind in typed if _is_plain(kind)]
                equal = " AND ".join(f"r.{column} <=> a.{column}" for column in plain) or "true"
                near = self._session.sql(
                    f"SELECT r.* FROM {ranked} r LEFT SEMI JOIN {answer} a ON {equal}"
                    f" LIMIT {_LIMIT}"
                ).collect()
                rows = self._session.sql(f"SELECT * FROM {answer} LIMIT {_LIMIT}").collect()
        if max(len(sizes), len(near), len(rows)) == _LIMIT:
            return None
        return Choice(
            [tuple(row) for row in rows],
            [tuple(row) for row in near],
            {int(rank): int(size) for rank, size in sizes},
        )

    def magnitudes(
        self,
        name: str,
        larger: Magnified,
        versions: Mapping[str, int],
        rows: Sequence[tuple[Any, ...]],
    ) -> list[tuple[Any, ...]]:
        """Read the magnitudes of the doubles of some rows.

        Args:
            name: of the view.
            larger: its relation with magnitudes.
            versions: of its sources.
            rows: of the view; they are found again by the columns that hold no doubles.

        Returns:
            These columns (`plain`) of each row, then a magnitude or None for every column.

        Raises:
            SlacktideError: as `slacktide.spark.failures.translation` says.
        """
        tables = self._tables(versions)
        typed = self._typed()
        columns = larger.relation.columns[: len(typed)]
        plain = self.plain()
        keys = [
            f"CAST({column_name(columns[i].id)} AS {type_sql(typed[i][1])}) AS c{i}" for i in plain
        ]
        sizes = [
            f"{'NULL' if size is None else column_name(size.id)} AS m{i}"
            for i, size in enumerate(larger.magnitudes)
        ]
        query = relation_sql(larger.relation, self._scanned(larger.relation, tables))
        with translated(f"view {name}"):
            found = self._session.sql(f"SELECT {', '.join([*keys, *sizes])} FROM ({query})")
            names = [f"c{i}" for i in plain]
            wanted = self._session.createDataFrame(
                [tuple(row[i] for i in plain) for row in rows], found.select(*names).schema
            )
            equal = " AND ".join(f"f.c{i} <=> w.c{i}" for i in plain) or "true"
            with self._shelf.passing(found, wanted) as (all_of, these):
                near = self._session.sql(
                    f"SELECT * FROM {all_of} f LEFT SEMI JOIN {these} w ON {equal} LIMIT {_LIMIT}"
                ).collect()
        return [tuple(row) for row in near]

    def _kept(self, name: str, batch: DataFrame) -> tuple[DataFrame, Cost]:
        """The rows of the batch run, kept by Spark so that it runs and is measured once."""
        meter, what = Meter(self._session), f"batch {name}"
        columns = batch.toDF(*(f"c{i}" for i in range(len(batch.columns))))
        casts = [
            f"CAST({column} AS {type_sql(kind)}) AS {column}" for column, kind in self._typed()
        ]
        since, began = meter.mark(), perf_counter()
        with described(self._session, what):
            kept = columns.selectExpr(*casts).localCheckpoint(eager=True)
        wall = perf_counter() - began
        cost = meter.cost(since, meter.mark(), self._texts.labels, target=what)
        cost.wall_seconds = wall
        return kept, cost

    def plain(self) -> list[int]:
        """Places of the columns that have an equality and hold no doubles."""
        return [i for i, (_, kind) in enumerate(self._typed()) if _is_plain(kind)]

    def _ranked_sql(self, cut: Cut, tables: Tables) -> str:
        scanned = self._scanned(cut.ranked, tables)
        *shown, rank = [cut.ranked.columns[i] for i in range(len(self._view.outputs))] + [
            cut.ranked.columns[-1]
        ]
        outputs = [
            f"CAST({column_name(column.id)} AS {type_sql(data_type)}) AS {name}"
            for column, (name, data_type) in zip(shown, self._typed(), strict=True)
        ]
        listed = ", ".join([*outputs, f"{column_name(rank.id)} AS rank"])
        where = "" if cut.last == math.inf else f" WHERE {column_name(rank.id)} <= {int(cut.last)}"
        return f"SELECT {listed} FROM ({relation_sql(cut.ranked, scanned)}){where}"

    def _scanned(self, relation: Rel, tables: Tables) -> dict[str, str]:
        scans = of_type(relation, Scan)
        return {scan.source: self._rows(tables, self._shelf, scan.source) for scan in scans}

    def _typed(self) -> list[tuple[str, str]]:
        return [(f"c{i}", stored_type(column.type)) for i, column in enumerate(self._view.outputs)]


def _parquet(shelf: Shelf, folder: str) -> str:
    key = ("plain", folder)
    return shelf.once(
        key, lambda: shelf.register(shelf.session.read.options(**STRICT).parquet(folder))
    )


def _is_plain(data_type: DataType) -> bool:
    return is_groupable(data_type) and not has_floating(data_type)


def _schema_difference(view: ReadView, batch: DataFrame) -> str:
    schema = batch._jdf.schema()
    fields = [schema.apply(i) for i in range(schema.length())]
    found = [(f.name(), f.dataType().sql(), bool(f.nullable())) for f in fields]
    # Files never say that a column has no NULL; what a source declares so, the answer may promise.
    expected = [
        (column.name, column.type, column.nullable or batch[2])
        for column, batch in zip(view.outputs, found, strict=False)
    ]
    if len(found) == len(view.outputs) and found == expected:
        return ""
    return f"the answer has {expected}, batch has {found}"

"""The signed difference between a stored answer and a batch run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from slacktide.algebra.relation import Columns
from slacktide.algebra.view import ReadView
from slacktide.spark.bags import consolidate_sql
from slacktide.spark.compile import stored_type
from slacktide.spark.cost import Cost
from slacktide.spark.failures import translated
from slacktide.spark.functions import register_functions
from slacktide.spark.metrics import Meter
from slacktide.spark.query import query_frame
from slacktide.spark.tables import Tables
from slacktide.spark.task import Query
from slacktide.spark.working import working_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from slacktide.store.store import Store
    from slacktide.store.world import World

_LIMIT = 10_001


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs.

    Attributes:
        rows: rows with their signed multiplicity last, positive where only the answer has them; at
            most 10,001.
        schema: how the schemas differ, or an empty text.
        cost: what the batch run cost.
    """

    rows: list[tuple[Any, ...]]
    schema: str
    cost: Cost


class Comparison:
    """Compares answers of one world on one session's Spark."""

    def __init__(self, spark: SparkSession, store: Store, world: World, view: ReadView) -> None:
        self._spark = spark
        self._store = store
        self._world = world
        self._view = view
        self._session = working_session(spark, view.conf)

    def differences(
        self,
        name: str,
        query: Query,
        columns: Columns,
        versions: Mapping[str, int],
        now: datetime | None,
    ) -> Differences:
        """Compare the answer of a view with its query over the snapshots of `versions`.

        Raises:
            SlacktideError: as `slacktide.spark.failures` says.
        """
        meter = Meter(self._spark)
        tables = Tables(
            self._session, self._store, self._world, start=versions, end=versions, saved={}
        )
        with translated(f"view {name}"):
            register_functions(self._session, self._world.functions.values())
            for source in query.sources:
                tables.alias(source, tables.rows(source))
            batch = query_frame(self._session, query.sql, query.views, now)
            schema = _schema_difference(self._view, batch)
            typed = [
                (f"c{i}", stored_type(column.type)) for i, column in enumerate(self._view.outputs)
            ]
            since = meter.mark()
            fresh = _materialised(tables, batch, typed)
            cost = meter.cost(since, meter.mark(), tables.labels)
            stored = tables.stored(f"views/{name}", columns, is_bag=True)
            names = ", ".join(column for column, _ in typed)
            both = (
                f"(SELECT {names}, __m FROM {stored} UNION ALL"
                f" SELECT {names}, -1L AS __m FROM {fresh})"
            )
            found = self._session.sql(f"{consolidate_sql(both, typed)} LIMIT {_LIMIT}").collect()
        return Differences([tuple(row) for row in found], schema, cost)


def _materialised(tables: Tables, batch: DataFrame, typed: list[tuple[str, str]]) -> str:
    """The rows of the batch run, kept by Spark so that it runs and is measured once."""
    frame = batch.toDF(*(f"c{i}" for i in range(len(batch.columns))))
    casts = [f"CAST({column} AS {data_type}) AS {column}" for column, data_type in typed]
    kept = frame.selectExpr(*casts).localCheckpoint(eager=True)
    return tables.register(kept)


def _schema_difference(view: ReadView, batch: DataFrame) -> str:
    schema = batch._jdf.schema()
    fields = [schema.apply(i) for i in range(schema.length())]
    found = [(f.name(), f.dataType().sql(), bool(f.nullable())) for f in fields]
    expected = [(column.name, column.type, column.nullable) for column in view.outputs]
    return "" if found == expected else f"the answer has {expected}, batch has {found}"

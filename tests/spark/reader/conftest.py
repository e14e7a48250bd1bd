"""Tables of many types, and the comparison that all tests of the reader make."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

from slacktide.algebra.tree import CLASSES
from slacktide.algebra.view import ReadView
from slacktide.common.serde import dump, load
from slacktide.spark.reader import read_view
from tests.harness.rebuilt import to_dataframe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A table with a column of each type; rows with every NULL, negative and odd value.
MANY = """id BIGINT, i INT, n DECIMAL(12,2), w DECIMAL(38,10), f DOUBLE, r FLOAT, t STRING, d DATE,
    ts TIMESTAMP, z TIMESTAMP_NTZ, b BOOLEAN, x BINARY, a ARRAY<INT>, ta ARRAY<STRING>,
    m MAP<STRING,INT>, st STRUCT<p: INT, q: STRING>, ym INTERVAL YEAR TO MONTH,
    dt INTERVAL DAY TO SECOND, c STRING COLLATE UNICODE_CI, sm SMALLINT,
    aa ARRAY<STRUCT<p: INT, q: STRING>>"""
ROWS = r"""
    (1L, 5, 12.34BD, 1.5BD, 1.5D, 2.5F, ' Ab,c ', DATE'2020-02-29', TIMESTAMP'2020-02-29 12:34:56.789',
     TIMESTAMP_NTZ'2021-01-01 00:00:00', true, X'0aff', array(3, 1, null), array('b', 'a'),
     map('k', 1), named_struct('p', 1, 'q', 'z'), INTERVAL '1-2' YEAR TO MONTH,
     INTERVAL '1 02:03:04.5' DAY TO SECOND, 'Abc', 3S, array(named_struct('p', 1, 'q', 'z'))),
    (2L, -7, -0.01BD, null, double('NaN'), float(-0.0), 'it\'s', DATE'1999-12-31',
     TIMESTAMP'1999-12-31 23:59:59', null, false, X'', array(), null, map(), null, null, null,
     'aBC', -1S, null),
    (3L, null, null, 2.25BD, -0.0D, null, null, null, null, null, null, null, null, null, null, null,
     null, null, null, null, null)"""
COLUMNS = [" ".join(part.split()) for part in re.split(r",\s+(?![^<]*>)", MANY)]
SCHEMA = [
    {"name": text.split()[0], "type": text.partition(" ")[2], "nullable": True} for text in COLUMNS
]
SMALL = {
    "p": (
        "k INT, v DECIMAL(10,2), s STRING",
        "(1, 1.5, 'a'), (1, 2.5, 'b'), (2, null, 'a'), (3, 4, null)",
    ),
    "q": ("k INT, w INT", "(1, 10), (1, 10), (4, 20), (null, 30)"),
}


def schema_of(ddl: str) -> list[dict[str, object]]:
    """Columns of a DDL text without commas inside types but decimals."""
    parts = [part.split() for part in re.split(r",\s+", ddl)]
    return [{"name": name, "type": kind, "nullable": True} for name, kind in parts]


SOURCES: Mapping[str, list[dict[str, object]]] = {
    "many": SCHEMA,
    **{name: schema_of(ddl) for name, (ddl, _) in SMALL.items()},
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[Mapping[str, str]]:
    """The tables as temporary views, under names that no source has."""
    names = {name: f"reader_{name}" for name in SOURCES}
    listed = ", ".join(text.split()[0] for text in COLUMNS)
    casts = ", ".join(
        f"CAST({text.split()[0]} AS {text.partition(' ')[2]}) {text.split()[0]}" for text in COLUMNS
    )
    spark.sql(f"SELECT {casts} FROM VALUES {ROWS} AS v({listed})").createOrReplaceTempView(  # noqa: S608
        names["many"]
    )
    for name, (ddl, rows) in SMALL.items():
        columns = [part.split() for part in re.split(r",\s+", ddl)]
        casts = ", ".join(f"CAST({column} AS {kind}) {column}" for column, kind in columns)
        listed = ", ".join(column for column, _ in columns)
        spark.sql(f"SELECT {casts} FROM VALUES {rows} AS v({listed})").createOrReplaceTempView(  # noqa: S608
            names[name]
        )
    yield names
    for name in names.values():
        spark.catalog.dropTempView(name)


def bag(frame: DataFrame) -> Counter[str]:
    """The rows, counted, as texts: these tell NaN, -0.0 and types apart."""
    return Counter(repr(tuple(row)) for row in frame.collect())


Check = Callable[[str], ReadView]


@pytest.fixture
def check(spark: SparkSession, tables: Mapping[str, str]) -> Check:
    """Read a text, rebuild it, and compare rows, names and types with the text itself."""

    def compare(sql: str) -> ReadView:
        view = read_view(spark, sql, SOURCES)
        assert view.relation is not None, [str(reason) for reason in view.reasons]
        assert load(dump(view.relation), CLASSES) == (view.relation,)
        for name, table in tables.items():
            spark.table(table).createOrReplaceTempView(name)
        try:
            expected = spark.sql(sql)
            found = to_dataframe(spark, view, tables)
            assert found.columns == expected.columns
            assert [f.dataType for f in found.schema] == [f.dataType for f in expected.schema]
            assert bag(found) == bag(expected)
        finally:
            for name in tables:
                spark.catalog.dropTempView(name)
        return view

    return compare

"""What cannot be maintained is said before the optimiser can hide it; what is no query is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd  # noqa: TC002 - Spark looks the hints of a function up
import pytest
from pyspark.sql.functions import udf
from pyspark.sql.pandas.functions import pandas_udf

from slacktide.errors import QueryError
from slacktide.spark.reader import read_view
from tests.spark.reader.conftest import SOURCES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT k, current_date() FROM p", "CLOCK(current_date)"),
        ("SELECT k FROM p WHERE now() > timestamp'2020-01-01 00:00:00'", "CLOCK(now)"),
        ("SELECT unix_timestamp() FROM p", "CLOCK(current_timestamp)"),
        ("SELECT localtimestamp() FROM p", "CLOCK(localtimestamp)"),
        (
            "SELECT k FROM p WHERE EXISTS (SELECT 1 FROM q WHERE curdate() > date'2020-01-01')",
            "CLOCK(current_date)",
        ),
        ("SELECT date'today' FROM p", "CLOCK('today')"),
        ("SELECT date'today+01:00' FROM p", "CLOCK('today+01:00')"),
        ("SELECT cast('today+02:00' AS timestamp) FROM p", "CLOCK('today+02:00')"),
        ("SELECT timestamp 'now' FROM p", "CLOCK('now')"),
        ("SELECT cast(' Tomorrow ' AS date) FROM p", "CLOCK('tomorrow')"),
        ("SELECT k FROM p WHERE date'2020-01-01' < nvl(NULL, 'today')", "CLOCK('today')"),
        ("SELECT cast(left('today!', 5) AS date) FROM p", "CLOCK('today')"),
        ("SELECT * FROM VALUES (current_timestamp())", "CLOCK(current_timestamp)"),
        ("SELECT rand() FROM p", "NON_DETERMINISTIC_EXPRESSION(rand)"),
        ("SELECT rand(7) FROM p", "NON_DETERMINISTIC_EXPRESSION(rand)"),
        ("SELECT uuid() FROM p", "NON_DETERMINISTIC_EXPRESSION(uuid)"),
        ("SELECT shuffle(array(1, 2)) FROM p", "NON_DETERMINISTIC_EXPRESSION(Shuffle)"),
        (
            "SELECT monotonically_increasing_id() FROM p",
            "NON_DETERMINISTIC_EXPRESSION(monotonically_increasing_id)",
        ),
        ("SELECT k FROM p TABLESAMPLE (50 PERCENT)", "NON_DETERMINISTIC_EXPRESSION(TABLESAMPLE)"),
        (
            "SELECT aes_encrypt('x', '0000111122223333') FROM p",
            "NON_DETERMINISTIC_EXPRESSION(aes_encrypt)",
        ),
        ("SELECT current_user() FROM p", "NON_DETERMINISTIC_EXPRESSION(current_user)"),
        ("SELECT input_file_name() FROM p", "NON_DETERMINISTIC_EXPRESSION(input_file_name)"),
        (
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT n FROM t, p",
            "RECURSIVE_QUERY",
        ),
    ],
)
def test_is_told(spark: SparkSession, sql: str, reason: str) -> None:
    view = read_view(spark, sql, SOURCES)
    assert [str(found) for found in view.reasons] == [reason]
    assert view.relation is None
    assert view.outputs
    assert view.clock == reason.startswith("CLOCK")
    assert view.deterministic != reason.startswith("NON_DETERMINISTIC")


def test_text_that_only_looks_like_a_clock_is_read(spark: SparkSession) -> None:
    view = read_view(spark, "SELECT k FROM p WHERE s = 'today' OR s = 'now()'", SOURCES)
    assert view.relation is not None
    assert not view.clock


def test_order_dependent_aggregates_are_deterministic(spark: SparkSession) -> None:
    view = read_view(spark, "SELECT first(s), collect_list(k) FROM p", SOURCES)
    assert view.deterministic
    assert view.relation is not None


def test_a_function_that_is_not_deterministic_is_told(spark: SparkSession) -> None:
    def register(session: SparkSession) -> None:
        session.udf.register("dice", udf(lambda number: number, "int").asNondeterministic())

    view = read_view(spark, "SELECT dice(k) AS t FROM p", SOURCES, prepare=register)
    assert view.relation is None
    assert [str(reason) for reason in view.reasons] == ["NON_DETERMINISTIC_EXPRESSION(function)"]
    assert [(column.name, column.type) for column in view.outputs] == [("t", "INT")]


def test_an_aggregate_of_a_user_that_is_not_deterministic_is_told(spark: SparkSession) -> None:
    def mean(values: pd.Series) -> float:
        return float(values.mean())

    def register(session: SparkSession) -> None:
        throw = pandas_udf(mean, "double")  # type: ignore[call-overload]
        session.udf.register("dice", throw.asNondeterministic())

    for sql in (
        "SELECT s, dice(k) FROM p GROUP BY s",
        "SELECT dice(k) OVER (PARTITION BY s) FROM p",
    ):
        view = read_view(spark, sql, SOURCES, prepare=register)
        assert view.relation is None
        told = [str(reason) for reason in view.reasons]
        assert told == ["NON_DETERMINISTIC_EXPRESSION(function)"], sql


SORTED = "(SELECT * FROM p DISTRIBUTE BY s SORT BY v)"


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT s, collect_list(v) FROM sorted GROUP BY s", "aggregate"),
        ("SELECT s, first(v) FROM sorted WHERE k > 1 GROUP BY s", "aggregate"),
        ("SELECT s, collect_list(near(v)) FROM sorted GROUP BY s", "aggregate"),
        ("SELECT s, last(v) OVER (PARTITION BY s) FROM sorted", "window"),
        ("SELECT s, first(v) FROM (sorted UNION ALL SELECT * FROM p) GROUP BY s", "aggregate"),
        ("SELECT s, sum(v) OVER (PARTITION BY s) FROM sorted", ""),
        ("SELECT s, sum(v), max(k) FROM sorted GROUP BY s", ""),
        ("SELECT k + 1 FROM sorted", ""),
        ("SELECT s, rank() OVER (PARTITION BY s ORDER BY v) FROM sorted", ""),
        ("SELECT k FROM sorted LIMIT 3", ""),
    ],
)
def test_an_order_within_partitions_is_told_where_rows_are_taken_as_they_come(
    spark: SparkSession, sql: str, reason: str
) -> None:
    def register(session: SparkSession) -> None:
        session.udf.register("near", udf(lambda number: number, "int"))

    view = read_view(spark, sql.replace("sorted", SORTED), SOURCES, prepare=register)
    told = [
        f"OPERATOR_NOT_INCREMENTAL({reason} that goes by the SORT BY of a query below it)"
    ] * bool(reason)
    assert [str(one) for one in view.reasons] == told


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELEC k FROM p", "does not parse"),
        ("SELECT (k FROM p", "does not parse"),
        ("SELECT absent FROM p", "does not resolve: [UNRESOLVED_COLUMN"),
        ("SELECT k FROM nowhere", "does not resolve: [TABLE_OR_VIEW_NOT_FOUND]"),
        ("SELECT k FROM elsewhere.p", "elsewhere.p, which is not a source"),
        ("SELECT nofunction(k) FROM p", "does not resolve"),
        ("SELECT k FROM parquet.`/tmp/x`", "which is not a source"),
        ("DROP TABLE p", "no query but"),
        ("INSERT INTO p SELECT * FROM p", "no query but"),
        ("SET spark.sql.ansi.enabled=false", "no query but"),
        ("CREATE TEMPORARY VIEW x AS SELECT 1", "no query but"),
        ("EXECUTE IMMEDIATE 'DROP TABLE p'", "no query but"),
        ("SHOW TABLES", "no query but"),
        ("SELECT 1; SELECT 2", "does not parse"),
    ],
)
def test_a_bad_text_is_one_error(spark: SparkSession, sql: str, message: str) -> None:
    with pytest.raises(QueryError) as raised:
        read_view(spark, sql, SOURCES)
    assert message in raised.value.message
    assert "\n" not in str(raised.value)
    assert "SQLSTATE" not in str(raised.value)
    assert raised.value.hint


def test_an_error_names_the_place(spark: SparkSession) -> None:
    with pytest.raises(QueryError, match=r"line 2,? pos 7"):
        read_view(spark, "SELECT k,\n       absent FROM p", SOURCES)


def test_a_stored_table_is_not_a_source(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE reader_stored (k INT) USING parquet")
    try:
        with pytest.raises(QueryError, match="reads a table that is not a source"):
            read_view(spark, "SELECT k FROM reader_stored", SOURCES)
    finally:
        spark.sql("DROP TABLE reader_stored")


def test_nothing_is_written_where_the_parser_ignores_escapes(spark: SparkSession) -> None:
    conf = {"spark.sql.parser.escapedStringLiterals": "true"}
    view = read_view(spark, r"SELECT k FROM p WHERE s RLIKE '\d'", SOURCES, conf=conf)
    assert view.relation is None
    assert [reason.code for reason in view.reasons] == ["UNREADABLE_EXPRESSION"]


def test_the_settings_are_the_views_own_not_those_of_the_session(spark: SparkSession) -> None:
    """The parser takes some settings into expressions, and asks the active session for them."""
    views = [
        read_view(spark, "SELECT k + 1 AS n FROM p", SOURCES, conf={"spark.sql.ansi.enabled": mode})
        for mode in ("true", "false")
    ]
    assert [view.reasons for view in views] == [(), ()]
    active = spark.getActiveSession()
    before = None if active is None else active.conf.get("spark.sql.ansi.enabled")
    read_view(spark, "SELECT k FROM p", SOURCES, conf={"spark.sql.ansi.enabled": "false"})
    active = spark.getActiveSession()
    assert before == (None if active is None else active.conf.get("spark.sql.ansi.enabled"))


def test_timestamps_keep_their_zone_under_another_default(spark: SparkSession) -> None:
    conf = {"spark.sql.timestampType": "TIMESTAMP_NTZ"}
    view = read_view(spark, "SELECT ts, z FROM many", SOURCES, conf=conf)
    assert [column.type for column in view.outputs] == ["TIMESTAMP", "TIMESTAMP_NTZ"]
    assert view.relation is not None
    cast = read_view(spark, "SELECT CAST(d AS TIMESTAMP_LTZ) AS v FROM many", SOURCES, conf=conf)
    assert cast.relation is None


def test_fields_of_structs_may_have_the_names_of_types(spark: SparkSession) -> None:
    nested = "STRUCT<TIMESTAMP: INT, `TIMESTAMP b`: TIMESTAMP>"
    sources = {"n": [{"name": "st", "type": nested, "nullable": True}]}
    view = read_view(spark, "SELECT st.TIMESTAMP AS t, st.`TIMESTAMP b` AS u FROM n", sources)
    assert [(column.name, column.type) for column in view.outputs] == [
        ("t", "INT"),
        ("u", "TIMESTAMP"),
    ]
    assert view.relation is not None


def test_views_are_expanded(spark: SparkSession) -> None:
    views = {
        "top": "SELECT t FROM below WHERE t > 1",
        "below": "SELECT sum(v) AS t FROM p GROUP BY k",
    }
    view = read_view(spark, "SELECT * FROM Top JOIN q ON w = t", SOURCES, views=views)
    assert view.relation is not None
    assert view.sources == ("p", "q")
    flat = read_view(
        spark,
        "SELECT * FROM (SELECT t FROM (SELECT sum(v) AS t FROM p GROUP BY k) WHERE t > 1) JOIN q ON w = t",
        SOURCES,
    )
    assert [(c.name, c.type) for c in view.outputs] == [(c.name, c.type) for c in flat.outputs]


def test_views_in_a_circle_are_refused(spark: SparkSession) -> None:
    views = {"a": "SELECT * FROM b", "b": "SELECT * FROM a"}
    with pytest.raises(QueryError, match="circle"):
        read_view(spark, "SELECT * FROM a", SOURCES, views=views)


def test_a_clock_in_a_view_below_is_seen(spark: SparkSession) -> None:
    views = {"below": "SELECT k, now() AS t FROM p"}
    assert read_view(spark, "SELECT k FROM below", SOURCES, views=views).clock

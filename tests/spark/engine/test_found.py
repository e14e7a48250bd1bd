"""Cases that reviews and random runs found, each kept as it was found."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from slacktide import errors as e
from tests.harness.lab import Lab

pytestmark = pytest.mark.spark


def same(rows: list[Any]) -> list[Any]:
    return rows


def test_nulls_inside_maps_survive_grouping(lab: Lab) -> None:
    kept = [("k", 0), ("j", None)]
    lab.source("t", "id INT, m MAP<STRING, INT>", (1, kept), (2, kept))
    lab.view("copied", "SELECT id, m FROM t", policy="auto")
    lab.step(copied="full")
    lab.land("t", delete=[(1, kept)], insert=[(3, kept)])
    lab.step(copied="full")
    assert {row[0]: row[1] for row in lab.read("copied")} == {2: dict(kept), 3: dict(kept)}


def test_the_order_is_that_of_the_query_whatever_columns_are_called(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", *((f"k{i}", (i * 7) % 10) for i in range(10)))
    lab.view("swapped", "SELECT k AS c1, sum(v) AS c0 FROM t GROUP BY k ORDER BY c0")
    lab.step(swapped="full")
    assert [row[1] for row in lab.read("swapped")] == list(range(10))


def test_views_of_two_time_zones_do_not_share_a_state(lab: Lab) -> None:
    lab.source("t", "at TIMESTAMP")
    spark = lab.spark
    zone = spark.conf.get("spark.sql.session.timeZone")
    text = "SELECT CAST(at AS DATE) AS day, count(*) AS n FROM t GROUP BY CAST(at AS DATE)"
    try:
        for name, place in (("here", "UTC"), ("there", "Asia/Tokyo")):
            spark.conf.set("spark.sql.session.timeZone", place)
            lab.view(name, text)
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone or "UTC")
    states = [view.states for view in lab.ws._store.world().views.values()]
    assert len(set(states)) == 2


def test_a_sum_that_overflows_without_ansi_is_what_batch_says(lab: Lab) -> None:
    lab.source("t", "k INT, v DECIMAL(38,6)", (1, Decimal("9e31")))
    lab.spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        lab.view("summed", "SELECT k, sum(v) AS s FROM t GROUP BY k", policy="auto")
    finally:
        lab.spark.conf.unset("spark.sql.ansi.enabled")
    lab.step()
    lab.land("t", insert=[(1, Decimal("9e31")), (2, Decimal(1))])
    lab.step()
    assert set(lab.read("summed")) == {(1, None), (2, Decimal(1))}


def test_what_the_optimiser_removed_may_change(lab: Lab) -> None:
    lab.source("a", "id INT", (1,))
    lab.source("b", "id INT", (2,))
    lab.view("left_over", "SELECT id FROM a UNION ALL SELECT id FROM b WHERE 1 = 0", same, "a")
    lab.step()
    lab.land("b", insert=[(3,)])
    lab.step()
    lab.land("a", insert=[(4,)])
    lab.step()


def test_a_word_in_a_text_is_no_view(lab: Lab) -> None:
    lab.source("orders", "x INT", (1,), (2,))
    lab.source("parts", "y INT", (5,))
    lab.view("total", "SELECT max(y) AS y FROM parts", policy="full")
    lab.view("summed", "SELECT sum(x) AS total FROM orders", policy="full")
    lab.step(summed="full")
    lab.ws.drop_view("total")
    lab.verified()


def test_a_held_source_with_a_corrupt_file_does_not_hold_back_others(lab: Lab) -> None:
    lab.source("good", "x INT", (1,))
    lab.source("bad", "x INT", (1,))
    lab.view("fine", "SELECT x FROM good", same, "good")
    lab.step()
    lab.folder("bad").joinpath("broken.parquet").write_bytes(b"PAR1 no parquet")
    lab.land("good", insert=[(2,)])
    with pytest.raises(e.SourceError, match=r"broken\.parquet"):
        lab.ws.plan()
    lab.ws.hold_source("bad")
    assert lab.ws.pending()["bad"] == 0
    lab.step(fine="incremental")


def test_a_paused_view_is_not_run(lab: Lab) -> None:
    lab.source("t", "x INT", (1,))
    lab.view("asleep", "SELECT x FROM t", paused=True)
    lab.view("awake", "SELECT x FROM t", same)
    assert set(lab.refresh().views) == {"awake"}
    lab.ws.pause_view("asleep", paused=False)
    assert lab.refresh().views["asleep"].method == "full"


def test_a_run_that_is_not_there(lab: Lab) -> None:
    lab.source("t", "x INT", (1,))
    lab.view("v", "SELECT x FROM t")
    lab.refresh()
    with pytest.raises(e.UnknownObjectError, match="no run 77"):
        lab.ws.read(lab.spark, "v", run=77)


def test_sources_may_be_called_like_tables_of_ours(lab: Lab) -> None:
    lab.source("a", "k INT", (1,))
    for number in range(1, 7):
        name = f"slacktide_t{number}"
        lab.source(name, "k INT", (10 + number,))
        sql = f"SELECT * FROM a UNION ALL SELECT * FROM {name}"  # noqa: S608 - a name of this test
        lab.view(f"both{number}", sql, lambda a, t: [*a, *t], "a", name, policy="full")
    lab.view("one", "SELECT * FROM a", same, "a", policy="full")
    lab.step()


def test_a_second_row_of_a_scalar_subquery_is_the_error_of_the_query(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", ("a", 1), ("b", 5), ("c", 9))
    lab.source("p", "name STRING, least INT", ("low", 4), ("high", 8))
    lab.view("above", "SELECT k FROM t WHERE v > (SELECT least FROM p WHERE name = 'low')")
    lab.view("beside", "SELECT k, (SELECT least FROM p WHERE name = 'none') AS n FROM t")
    lab.step(above="full", beside="full")
    lab.land("p", delete=[("low", 4)], insert=[("none", 7)])
    lab.land("t", insert=[("d", 6)])
    lab.step(above="incremental", beside="incremental")
    assert lab.read("above") == []
    lab.land("p", insert=[("low", 0), ("low", 6), ("high", 6)])
    with pytest.raises(e.DataError, match=r"view above.*SCALAR_SUBQUERY_TOO_MANY_ROWS"):
        lab.refresh("above")
    assert lab.read("above") == []
    lab.land("p", delete=[("low", 6)])
    lab.step(above="incremental", beside="incremental")
    assert len(lab.read("above")) == 4


def test_a_state_over_constants_is_there_for_good(lab: Lab) -> None:
    lab.source("t", "k INT, v INT", (1, 1), (2, 2), (None, 3))
    lab.view(
        "joined",
        "SELECT t.k, c.g FROM t LEFT JOIN (VALUES (1, 'a'), (2, 'b'), (1, 'a')) AS c(k, g)"
        " ON t.k = c.k",
    )
    lab.view("none", "SELECT k, max(v) AS m FROM t WHERE k IN (SELECT 1 WHERE 1 > 2) GROUP BY k")
    lab.step(joined="full", none="full")
    for row in ((1, 4), (3, 5), (2, 6)):
        lab.land("t", insert=[row])
        lab.step(joined="incremental")


def test_a_column_has_the_name_of_sparks_own_of_files(lab: Lab) -> None:
    lab.source("t", "_metadata STRING, v INT", ("a", 1))
    lab.view("summed", "SELECT _metadata AS m, sum(v) AS s FROM t GROUP BY _metadata")
    lab.step(summed="full")
    lab.land("t", insert=[("a", 2), ("b", None)])
    lab.step(summed="incremental")
    assert set(lab.read("summed")) == {("a", 3), ("b", None)}


def test_days_that_pythons_calendar_has_not_are_keys(lab: Lab) -> None:
    beyond = 2_932_897  # days since 1970: the first one of the year 10000
    lab.source("big", "day INT, v INT")
    lab.source("few", "day INT, v INT", (5, 1))
    lab.view("dated_big", "SELECT date_from_unix_date(day) AS day, v FROM big")
    lab.view("dated_few", "SELECT date_from_unix_date(day) AS day, v FROM few")
    lab.land_as("big", [("insert", (beyond - 15_000 + n, n)) for n in range(30_000)])
    lab.view("met", "SELECT b.v, f.v AS w FROM dated_big b JOIN dated_few f USING (day)")
    lab.refresh()
    lab.land("few", insert=[(beyond + 7, 2), (beyond - 7, 3)])
    assert lab.refresh().views["met"].method == "incremental"
    assert lab.ws.verify(lab.spark).equal
    assert set(lab.read("met")) == {(15_007, 2), (14_993, 3)}


def test_an_order_that_an_aggregate_looks_at_is_kept(lab: Lab) -> None:
    """States keep none: such a view is computed anew, and one whose aggregates look at no order is not."""
    lab.source("t", "k INT, at INT, v INT", (1, 1, 9), (1, 2, 3), (1, 3, 5))
    ordered = "FROM (SELECT * FROM t ORDER BY at) GROUP BY k"
    lab.view("listed", f"SELECT k, collect_list(v) AS vs {ordered}", policy="auto")
    lab.view("summed", f"SELECT k, sum(v) AS s, max(v) AS m {ordered}")
    lab.refresh()
    lab.land("t", insert=[(1, 0, 7)])
    report = lab.step(listed="full", summed="incremental")
    (why,) = report.views["listed"].reasons
    assert why.startswith("OPERATOR_NOT_INCREMENTAL(aggregate ")
    assert lab.read("listed") == [(1, [7, 9, 3, 5])]


def test_an_order_that_is_looked_at_from_further_above_is_kept(lab: Lab) -> None:
    """Limits, generators and grouping sets pass rows on as they come."""
    lab.source("t", "k INT, at INT, v INT", (1, 1, 9), (1, 2, 3), (2, 3, 5))
    texts = {
        "first_few": "SELECT first(v) AS f, collect_list(v) AS vs FROM (SELECT * FROM sorted LIMIT 10)",
        "rolled": "SELECT k, collect_list(v) AS vs FROM sorted GROUP BY ROLLUP (k)",
        "made": "SELECT collect_list(e) AS es FROM (SELECT explode(array(v, at)) AS e FROM sorted)",
        "united": "SELECT collect_list(v) AS vs FROM (SELECT v FROM sorted UNION ALL SELECT 0)",
        "few": "SELECT explode(array(v, at)) AS e FROM sorted LIMIT 3",
        "over": "SELECT k, first(v) OVER (PARTITION BY k) AS f FROM sorted",
        "running": "SELECT k, sum(v) OVER (PARTITION BY k ROWS UNBOUNDED PRECEDING) AS s FROM sorted",
    }
    for name, text in texts.items():
        lab.view(name, text.replace("sorted", "(SELECT * FROM t ORDER BY at)"), policy="auto")
    lab.view("least", "SELECT k, v FROM t ORDER BY at LIMIT 2")
    lab.view("middle", "SELECT k, median(v) FROM (SELECT * FROM t ORDER BY at LIMIT 9) GROUP BY k")
    lab.view(
        "shares", "SELECT k, v / sum(v) OVER (PARTITION BY k) FROM (SELECT * FROM t ORDER BY at)"
    )
    lab.refresh()
    lab.land("t", insert=[(1, 0, 7)], delete=[(1, 2, 3)])
    kept = dict.fromkeys(("least", "middle", "shares"), "incremental")
    report = lab.step(**dict.fromkeys(texts, "full"), **kept)
    for name in texts:
        (why,) = report.views[name].reasons
        assert why.startswith("OPERATOR_NOT_INCREMENTAL("), (name, why)
    assert lab.read("first_few") == [(7, [7, 9, 5])]


def test_a_set_of_doubles_has_each_nan_as_batch_does(lab: Lab) -> None:
    nan = float("nan")
    lab.source("t", "k INT, x DOUBLE, n INT", (1, nan, 1), (1, nan, 1), (1, 1.0, 1))
    lab.view("sets", "SELECT k, size(collect_set(x)) AS n, max(x) AS m FROM t GROUP BY k")
    lab.view(
        "whole", "SELECT k, sort_array(collect_set(n)) AS ns, max_by(n, n) AS m FROM t GROUP BY k"
    )
    lab.step()
    lab.land("t", insert=[(1, nan, 2)], delete=[(1, 1.0, 1)])
    lab.step(sets="incremental", whole="incremental")
    lab.verified()


def test_a_pivot_over_bytes_is_that_of_batch(lab: Lab) -> None:
    lab.source("t", "k INT, b BINARY, v INT", (1, b"\x01", 5), (1, b"\x02", 7))
    pivot = "SELECT * FROM t PIVOT (sum(v) FOR b IN (X'01' AS one, X'02' AS two))"
    lab.view("pivoted", pivot, policy="auto")
    lab.refresh()
    lab.verified()


def test_a_row_that_came_and_went_and_fails_without_a_condition(lab: Lab) -> None:
    lab.source("t", "id INT, n BIGINT", (1, 0))
    lab.view("at", "SELECT id, timestamp_seconds(n) AS at FROM t")
    lab.refresh()
    lab.land("t", insert=[(7, 1_700_000_000_000_000_000)])
    lab.land("t", delete=[(7, 1_700_000_000_000_000_000)], insert=[(2, 60)])
    lab.step(at="full")


@pytest.mark.parametrize(
    ("value", "bad", "good"),
    [
        ("sequence(n, m, 1)", (3, 1, ""), (1, 2, "")),
        ("map_from_arrays(array(1, 2), array_repeat(0, n))", (1, 0, ""), (2, 0, "")),
        ("s RLIKE s", (1, 1, "("), (1, 1, "a")),
        ("split('a,b', s)", (1, 1, "["), (1, 1, ",")),
        ("format_string(s, n)", (1, 1, "%q"), (1, 1, "%d")),
    ],
    ids=["sequence", "map", "rlike", "split", "format"],
)
def test_a_row_that_came_and_went_over_which_java_raises(
    lab: Lab, value: str, bad: tuple[Any, ...], good: tuple[Any, ...]
) -> None:
    lab.source("t", "n INT, m INT, s STRING", good)
    lab.view("made", f"SELECT CAST({value} AS STRING) AS v FROM t")  # noqa: S608
    lab.refresh()
    lab.land("t", insert=[bad])
    with pytest.raises(e.DataError, match="view made: a row fails in the query"):
        lab.ws.refresh(lab.spark)
    lab.land("t", delete=[bad], insert=[good])
    lab.step(made="full")

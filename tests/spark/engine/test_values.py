"""Values that are easily bent: every answer has them to the bit, with their types."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal, localcontext

import pyarrow as pa
import pytest

from slacktide.errors import SourceError, UnsupportedQueryError
from slacktide.spark.tasks.small import as_parquet
from tests.harness.lab import Lab, bag

pytestmark = pytest.mark.spark

NAN = math.nan
ROUND = Decimal("-12345678901234567890.000000000000000000")
LONG = Decimal("12345678901234567890.123456789012345678")


def test_decimals_of_many_digits(lab: Lab) -> None:
    lab.source("t", "k INT, d DECIMAL(38,18), e DECIMAL(30,0)", (1, LONG, Decimal(10**29)))
    lab.view("passed", "SELECT d, e + 1 AS f FROM t", passed)
    sums = "SELECT k, sum(d) AS s, sum(e) AS u, count(d) AS c FROM t GROUP BY k"
    lab.view("sums", sums, summed)
    lab.step()
    lab.land(
        "t",
        insert=[(1, ROUND, Decimal(7)), (2, LONG, None)],
    )
    lab.step(passed="incremental", sums="incremental")
    lab.land("t", delete=[(1, LONG, Decimal(10**29))])
    lab.step()


def passed(rows):
    with localcontext() as context:
        context.prec = 60
        return [(d, None if e is None else e + 1) for _, d, e in rows]


def summed(rows):
    with localcontext() as context:
        context.prec = 60
        return _summed(rows)


def _summed(rows):
    found = []
    for key in {k for k, *_ in rows}:
        group = [row for row in rows if row[0] == key]
        whole = [e for *_, e in group if e is not None]
        found.append((key, sum(d for _, d, _ in group), sum(whole) if whole else None, len(group)))
    return found


def test_averages_of_decimals_round_as_spark_does(lab: Lab) -> None:
    lab.source("t", "k INT, d DECIMAL(7,2)", *((1, Decimal(n) / 100) for n in (1, 2, 2, 100)))
    lab.view("means", "SELECT k, avg(d) AS a, sum(d) / count(*) AS q FROM t GROUP BY k")
    lab.step()
    for n in (3, 7, 99999):
        lab.land("t", insert=[(1, Decimal(n) / 100), (2, -Decimal(n) / 100)])
    lab.step(means="incremental")
    assert lab.bag("means").total() == 2


def test_sums_keep_every_digit_behind_the_point(lab: Lab) -> None:
    """Zero as a whole number has ten digits before the point, and would take eight of theirs."""
    least, most = Decimal("1E-38"), Decimal("0.12345678901234567890123456789012345678")
    lab.source("t", "k INT, d DECIMAL(38,30), h DECIMAL(38,38)", (1, Decimal("1E-30"), least))
    lab.view("sums", "SELECT k, sum(d) AS s, sum(h) AS u FROM t GROUP BY k")
    lab.view("total", "SELECT sum(h) AS u FROM t")
    lab.view("some", "SELECT k, sum(d) FILTER (WHERE d > 1.5) AS s FROM t GROUP BY k")
    lab.step()
    lab.land("t", insert=[(1, Decimal("2.000000000000000000000000000001"), most), (2, None, least)])
    lab.step(sums="incremental", total="incremental", some="incremental")
    lab.land("t", delete=[(1, Decimal("1E-30"), least)])
    lab.step(sums="incremental", total="incremental", some="incremental")


def test_averages_that_spark_counts_in_doubles(lab: Lab) -> None:
    """Of decimals of at most eleven digits; told exactly, the average of these seven ends in a 1."""
    cents = (93098346159, 92236605641, 95789813361, 97585813242, 93585103427, 98441112468)
    seven = [(1, Decimal(n) / 100, Decimal(n)) for n in (*cents, 99943590243)]
    lab.source("t", "k INT, d DECIMAL(11,2), e DECIMAL(11,0)", *seven[:-1])
    lab.view("means", "SELECT k, avg(d) AS a, avg(e) AS b FROM t GROUP BY k")
    lab.view("beside", "SELECT k, avg(d) AS a, max(d) AS b FROM t GROUP BY k")
    lab.view("mean", "SELECT avg(d) AS a FROM t")
    lab.step()
    lab.land("t", insert=seven[-1:])
    lab.step(means="incremental", beside="incremental", mean="incremental")
    assert lab.read("mean") == [(Decimal("958114835.058572"),)]
    lab.land("t", delete=seven[:1], insert=[(2, None, None)])
    lab.step(means="incremental", beside="incremental", mean="incremental")
    lab.verified()


def test_texts_that_name_a_variable_of_spark_pass_as_they_are(lab: Lab) -> None:
    lab.source("t", "id INT", (1,))
    text = "SELECT id, concat('$', '{spark.master}') AS a, '$' || '{env:HOME}' AS b FROM t"
    lab.view("named", text, lambda rows: [(*r, "${spark.master}", "${env:HOME}") for r in rows])
    lab.step()
    lab.land("t", insert=[(2,)])
    lab.step(named="incremental")


def test_zeros_of_both_signs_that_are_not_in_a_query(lab: Lab) -> None:
    """Spark looks NOT IN up by bits: 0.0 is not in a table of -0.0, though they are equal."""
    lab.source("t", "id INT, x DOUBLE", (1, 0.0), (2, -0.0), (3, 1.0))
    lab.source("u", "x DOUBLE", (5.0,))
    lab.view("outside", "SELECT id FROM t WHERE x NOT IN (SELECT x FROM u)", policy="auto")
    lab.view("without", "SELECT id FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE u.x = t.x)")
    lab.step()
    lab.land("u", insert=[(-0.0,)])
    report = lab.step(outside="full", without="incremental")
    assert [reason.partition("(")[0] for reason in report.views["outside"].reasons] == [
        "OPERATOR_NOT_INCREMENTAL"
    ]
    assert lab.bag("without") == bag([(3,)])


def test_zeros_of_both_signs_that_are_not_in_a_query_or_meet_something_else(lab: Lab) -> None:
    """There Spark compares by value, as it does not look NOT IN up: so do the joins that a change is made of."""
    lab.source("s", "id INT, x DOUBLE", (1, 0.0), (2, 5.0))
    lab.source("t", "y DOUBLE", (-0.0,))
    lab.view("either", "SELECT id FROM s WHERE id > 5 OR x NOT IN (SELECT y FROM t)")
    lab.view("told", "SELECT id, x NOT IN (SELECT y FROM t) AS outside FROM s")
    like = "t.y = s.x OR (t.y = s.x) IS NULL"
    lab.view("there", f"SELECT id FROM s WHERE EXISTS (SELECT * FROM t WHERE {like})")  # noqa: S608
    lab.view("padded", f"SELECT id, y FROM s LEFT JOIN t ON {like}")  # noqa: S608
    lab.refresh()
    for change in ({"insert": [(0.0,)]}, {"delete": [(-0.0,)]}, {"insert": [(None,), (math.nan,)]}):
        lab.land("t", **change)
        report = lab.refresh()
        assert {view.method for view in report.views.values()} == {"incremental"}
        assert lab.ws.verify(lab.spark).equal, change
    lab.land("t", delete=[(None,), (0.0,)], insert=[(-0.0,)])
    lab.land("s", insert=[(3, -0.0), (4, math.nan), (7, None)], delete=[(1, 0.0)])
    lab.refresh()
    assert lab.ws.verify(lab.spark).equal


NOT_IN = {
    "a subquery in it": "SELECT id FROM s WHERE x - (SELECT max(z) FROM w) NOT IN (SELECT y FROM t)",
    "a lambda in it": "SELECT id FROM s WHERE transform(array(x), e -> e + 0.0D) NOT IN (SELECT array(y) FROM t)",
    "written out": "SELECT id FROM s LEFT ANTI JOIN t ON x = y OR (y = x) IS NULL",
}


def test_zeros_that_are_not_in_a_query_however_that_is_written(lab: Lab) -> None:
    """What Spark takes for NOT IN has two copies of the comparison, which may differ in more than their looks."""
    lab.source("s", "id INT, x DOUBLE", (1, 5.0), (2, 0.0), (3, -0.0))
    lab.source("t", "y DOUBLE", (7.0,))
    lab.source("w", "z DOUBLE", (5.0,))
    for number, text in enumerate(NOT_IN.values()):
        lab.view(f"v{number}", text, policy="auto")
    like = "t.y = s.x OR (s.x = t.y) IS NULL"
    lab.view("padded", f"SELECT id, y FROM s LEFT JOIN t ON {like}")  # noqa: S608
    lab.refresh()
    for come, gone in (([(-0.0,)], []), ([(0.0,)], [(-0.0,)])):
        lab.land("t", insert=come, delete=gone)
        methods = {name: view.method for name, view in lab.refresh().views.items()}
        assert methods.pop("padded") == "incremental"
        assert set(methods.values()) == {"full"}
        assert lab.ws.verify(lab.spark).equal, come


def test_old_dates_in_small_files_are_of_the_calendar_they_were(lab: Lab) -> None:
    """Where a setting has Spark read files of unknown makers by the Julian calendar."""
    old = pa.table({"d": pa.array([dt.date(1500, 1, 1)], pa.date32())})
    path = lab.root / "old.parquet"
    path.write_bytes(as_parquet(old))
    session = lab.spark.newSession()
    session.conf.set("spark.sql.parquet.datetimeRebaseModeInRead", "LEGACY")
    assert session.read.parquet(str(path)).collect() == [(dt.date(1500, 1, 1),)]


def test_odd_doubles_pass_as_they_are(lab: Lab) -> None:
    rows = [(1, 0.0), (1, -0.0), (1, NAN), (1, NAN), (1, None), (2, math.inf), (2, 0.1)]
    lab.source("t", "k INT, x DOUBLE", *rows)
    lab.view("passed", "SELECT x, k FROM t WHERE k < 3", lambda rows: [(x, k) for k, x in rows])
    lab.view("met", "SELECT a.x FROM t a JOIN t b ON a.k = b.k WHERE b.x > 1", None)
    lab.step()
    lab.land("t", delete=[(1, 0.0), (1, NAN)], insert=[(2, -0.0), (2, 5e-324)])
    lab.step(passed="incremental", met="incremental")
    lab.land("t", delete=[(1, -0.0)])
    lab.step()


def test_sums_of_doubles_are_computed_anew(lab: Lab) -> None:
    lab.source("t", "k INT, x DOUBLE", *((n % 3, n / 7) for n in range(200)))
    lab.view("sums", "SELECT k, sum(x) AS s, avg(x) AS a FROM t GROUP BY k", policy="auto")
    lab.step(sums="full")
    lab.land("t", delete=[(0, 0.0), (1, 1 / 7)])
    lab.step(sums="incremental")
    lab.land("t", delete=[(1, n / 7) for n in range(4, 20, 3)], insert=[(0, 1e17), (2, -1e17)])
    lab.step(sums="incremental")


def test_texts_bytes_and_times(lab: Lab) -> None:
    ddl = "s STRING, b BINARY, day DATE, at TIMESTAMP, wall TIMESTAMP_NTZ, yes BOOLEAN"
    old = ("a'b\"c`d\\e\n\t%_{}", b"\x00\xff", dt.date(1, 1, 1), at(1900), wall(1582), True)
    new = ("", b"", dt.date(9999, 12, 31), at(2262), wall(9999), False)
    none = (None,) * 6
    lab.source("t", ddl, old, none, none)
    lab.view("passed", "SELECT * FROM t", lambda rows: rows)
    quoted = "SELECT s, yes FROM t WHERE s = 'a\\'b\"c`d\\\\e\\n\\t%_{}' OR NOT yes"
    lab.view("quoted", quoted, lambda rows: [(r[0], r[5]) for r in rows if r[0] is not None])
    days = "SELECT day, yes, count(*) AS n FROM t WHERE day > DATE '0001-01-01' GROUP BY day, yes"
    lab.view("days", days)
    lab.step()
    lab.land("t", insert=[new, new], delete=[none, old])
    lab.step(passed="incremental", quoted="incremental", days="incremental")
    assert lab.read("quoted") == [("", False)] * 2
    lab.land("t", insert=[old], delete=[new])
    lab.step()


def at(year: int) -> dt.datetime:
    return dt.datetime(year, 1, 2, 3, 4, 5, 678901)  # noqa: DTZ001 - wall clocks, and UTC


wall = at


def test_a_filter_keeps_rows_from_arguments_that_fail_on_them(lab: Lab) -> None:
    lab.source("t", "k INT, x INT", (1, 2), (1, 0), (2, 0))
    lab.view(
        "kept",
        "SELECT k, collect_list(12 DIV x) FILTER (WHERE x <> 0) AS l,"
        " max_by(k, 12 DIV x) FILTER (WHERE x <> 0) AS m,"
        " percentile(12 DIV x, 0.5) FILTER (WHERE x <> 0) AS p FROM t GROUP BY k",
    )
    lab.step()
    lab.land("t", insert=[(2, 3), (2, 0), (3, 0)], delete=[(1, 2)])
    lab.step(kept="incremental")
    assert lab.bag("kept").total() == 3


def test_nothing_has_a_type(lab: Lab) -> None:
    lab.source("t", "k INT", (1,), (2,))
    lab.view("nothing", "SELECT NULL AS x, k FROM t", lambda rows: [(None, k) for (k,) in rows])
    lab.view("twice", "SELECT k, k + 1 AS k FROM t", lambda rows: [(k, k + 1) for (k,) in rows])
    lab.step()
    assert lab.ws.read(lab.spark, "nothing").schema.simpleString() == "struct<x:void,k:int>"
    assert lab.ws.read(lab.spark, "twice").columns == ["k", "k"]
    lab.land("t", insert=[(3,)], delete=[(1,)])
    lab.step(nothing="incremental", twice="incremental")
    assert lab.changes("nothing", 1).total() == 0


def test_intervals_of_months_or_of_days(lab: Lab) -> None:
    lab.source("t", "k INT, m INT, s INT", (1, 1, 1), (1, 14, None), (2, None, -90_000), (2, 0, 0))
    lab.view(
        "made", "SELECT k, make_ym_interval(0, m) AS y, make_dt_interval(0, 0, 0, s) AS d FROM t"
    )
    lab.view("terms", "SELECT DISTINCT y, CAST(d AS INTERVAL DAY) AS days FROM made")
    lab.view("sums", "SELECT k, sum(y) AS y, avg(d) AS a, count(*) AS n FROM made GROUP BY k")
    lab.view("ends", "SELECT k, min(y) AS y, max(d) AS d FROM made GROUP BY k")
    lab.view("lists", "SELECT array(d) AS ds, struct(y) AS y FROM made")
    lab.view("met", "SELECT a.k, b.d FROM made a JOIN made b ON a.y = b.y")
    names = ("made", "terms", "sums", "ends", "lists", "met")
    lab.step()
    lab.land("t", insert=[(1, -3, 86_400), (3, 1, 1)], delete=[(2, 0, 0)])
    lab.step(**dict.fromkeys(names, "incremental"))
    lab.land("t", insert=[(2, 7, 7)], delete=[(1, 14, None), (1, -3, 86_400)])
    lab.step(**dict.fromkeys(names, "incremental"))
    made = lab.ws.read(lab.spark, "made").selectExpr("k", "CAST(y AS STRING) AS y", "d")
    assert bag(made.where("k = 3").collect()) == bag(
        [(3, "INTERVAL '0-1' YEAR TO MONTH", dt.timedelta(seconds=1))]
    )


@pytest.mark.parametrize("value", ["make_interval(1, k)", "array(make_interval(1, k))"])
def test_intervals_of_months_and_days_are_refused(lab: Lab, value: str) -> None:
    lab.source("t", "k INT", (1,))
    sql = f"SELECT k, {value} AS i FROM t"  # noqa: S608
    with pytest.raises(UnsupportedQueryError) as caught:
        lab.ws.add_view(lab.spark, "later", sql)
    assert caught.value.message.startswith("view later has the column i of type ")
    assert "make_dt_interval" in (caught.value.hint or "")
    lab.view("later", "SELECT k FROM t")
    with pytest.raises(UnsupportedQueryError, match="the column i of type"):
        lab.ws.replace_view(lab.spark, "later", sql)


def test_intervals_of_months_and_days_inside_of_a_view(lab: Lab) -> None:
    lab.source("t", "k INT, d DATE", *((k % 3, dt.date(2024, 1, 31)) for k in range(5)))
    lab.view("counted", "SELECT count(DISTINCT make_interval(0, k)) AS n FROM t", policy="auto")
    lab.view("later", "SELECT d + make_interval(0, k, 0, 1) AS day FROM t")
    lab.step()
    lab.land("t", insert=[(7, dt.date(2024, 2, 29))])
    report = lab.step(counted="full", later="incremental")
    assert report.views["counted"].reasons == ("UNSTORABLE_TYPE(INTERVAL)",)
    assert lab.read("counted") == [(4,)]


def test_names_that_need_quotes(lab: Lab) -> None:
    ddl = "`select` INT, `a b` STRING, `x.y` INT, `tick``s` STRING, `ünï` INT, `C0` INT"
    lab.source("t", ddl, (1, "u", 2, "v", 3, 4), (1, "w", 5, "z", 6, 7))
    lab.view("passed", "SELECT * FROM t WHERE `ünï` > 0", lambda rows: rows)
    sql = "SELECT `select` AS `group by`, sum(`x.y`) AS `from`, max(c0) AS `o'k` FROM t GROUP BY `select`"
    lab.view("sums", sql)
    plain = (
        "SELECT `select`, sum(`x.y`) AS `the sum`, count(`tick``s`) AS c0 FROM t GROUP BY `select`"
    )
    lab.view("plain", plain)
    lab.view("sorted", "SELECT `a b` FROM t ORDER BY `tick``s` DESC, `ünï`")
    lab.step()
    lab.land("t", insert=[(2, "n", None, "a", 1, 1)], delete=[(1, "u", 2, "v", 3, 4)])
    lab.step(passed="incremental", plain="incremental", sums="incremental", sorted="incremental")
    assert lab.ws.read(lab.spark, "sums").columns == ["group by", "from", "o'k"]
    assert lab.read("sorted") == [("w",), ("n",)]


def test_text_files(lab: Lab) -> None:
    folder = lab.root / "lines"
    folder.mkdir()
    (folder / "a.csv").write_text('id,name,price\n1,"x, ""y""",1.50\n2,,\n', encoding="utf-8")
    ddl = "id INT, name STRING, price DECIMAL(5,2)"
    given = {"path": str(folder), "format": "csv", "schema": ddl, "options": {"header": "true"}}
    lab.ws.add_source("lines", kind="files", **given)
    lab.view("names", "SELECT name, count(*) AS n, sum(price) AS p FROM lines GROUP BY name")
    lab.step(names="full")
    (folder / "b.csv").write_text("id,name,price\n3,z,2.25\n4,z,0.75\n", encoding="utf-8")
    lab.step(names="incremental")
    assert lab.bag("names")[("z", 2, "Decimal Decimal('3.00')")] == 1


@pytest.mark.parametrize("header", ["id,last,first", "id,first", "id,first,last,more"])
def test_a_header_of_other_columns_is_told(lab: Lab, header: str) -> None:
    """Spark goes by position where it is not asked to look: names would be swapped."""
    folder = lab.root / "people"
    folder.mkdir()
    (folder / "a.csv").write_text("id,first,LAST\n1,Ada,Byron\n", encoding="utf-8")
    ddl = "id INT, first STRING, last STRING"
    given = {"path": str(folder), "format": "csv", "schema": ddl, "options": {"header": True}}
    lab.ws.add_source("people", kind="files", **given)
    lab.view("names", "SELECT last, count(*) AS n FROM people GROUP BY last")
    lab.step()
    line = ",".join(str(n) for n in range(2, 2 + header.count(",") + 1))
    (folder / "b.csv").write_text(f"{header}\n{line}\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"b\.csv.*CSV header") as caught:
        lab.ws.refresh(lab.spark)
    assert "source skip" in str(caught.value.hint)
    lab.ws.skip("people", 2)
    lab.step()
    assert lab.bag("names") == {("Byron", 1): 1}


def test_feeds_of_json_lines(lab: Lab) -> None:
    folder = lab.root / "events"
    folder.mkdir()
    land_json(folder, "a", (1, "x", "insert"), (2, "y", "insert"), (2, "y", "insert"))
    ddl = "id INT, tag STRING"
    lab.ws.add_source("events", kind="change-feed", path=str(folder), format="json", schema=ddl)
    lab.view("tags", "SELECT tag, count(*) AS n FROM events GROUP BY tag")
    lab.view("listed", "SELECT id FROM events WHERE tag <> 'x'")
    lab.step()
    land_json(
        folder, "b", (2, "y", "delete"), (1, "x", "update_preimage"), (1, "z", "update_postimage")
    )
    lab.step(tags="incremental", listed="incremental")
    assert lab.bag("tags") == {("y", 1): 1, ("z", 1): 1}


def land_json(folder, name, *rows) -> None:
    lines = [json.dumps({"id": i, "tag": tag, "_change_type": kind}) for i, tag, kind in rows]
    (folder / f"{name}.json").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_pivots_that_spark_looks_up_otherwise(lab: Lab) -> None:
    lab.source("t", "k INT, x DOUBLE, s STRING", *[(1, float("nan"), "a"), (1, 1.0, "b")] * 20)
    nan = "SELECT * FROM t PIVOT (max(k) FOR x IN (double('NaN') AS n, 1D AS one))"
    lab.view("nan", nan, policy="auto")
    lower = (
        "SELECT * FROM (SELECT k, x, s COLLATE UTF8_LCASE AS s FROM t)"
        " PIVOT (max(x) FOR s IN ('a' AS y, 'b' AS z))"
    )
    lab.view("lower", lower, policy="auto")
    lab.view("plain", "SELECT * FROM t PIVOT (max(x) FOR s IN ('a' AS y, 'b' AS z))")
    lab.step(nan="full", lower="full", plain="full")
    lab.land("t", insert=[(1, float("nan"), "c"), (2, 1.0, "a")])
    report = lab.step(nan="full", lower="full", plain="incremental")
    assert report.views["nan"].reasons == ("UNREADABLE_EXPRESSION(PivotFirst for NaN)",)


def test_constants_that_are_counted_once(lab: Lab) -> None:
    """Spark moves them to where they are counted, whatever the text says."""
    lab.source("t", "k INT, v INT", (1, 1), (1, 2), (2, None))
    named = "SELECT k, count(DISTINCT src) AS n, sum(v) AS s FROM (SELECT *, 'web' AS src FROM t) GROUP BY k"
    lab.view("named", named, once)
    lab.view("pairs", "SELECT k, count(DISTINCT 1, 2) AS n, sum(v) AS s FROM t GROUP BY k", once)
    lab.step()
    lab.land("t", insert=[(1, 7), (2, 8), (3, None)])
    lab.step(named="incremental", pairs="incremental")
    lab.land("t", delete=[(3, None)])
    lab.step(named="incremental", pairs="incremental")


def once(rows):
    found: dict[int, list[int]] = {}
    for key, value in rows:
        found.setdefault(key, []).extend([] if value is None else [value])
    return [(key, 1, sum(values) if values else None) for key, values in found.items()]

"""Nasty histories: after every step each answer is what plain Python makes of all rows."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.harness.lab import Lab, Row, grouped

pytestmark = pytest.mark.spark

DDL = "k STRING, v INT, d DECIMAL(10,2)"
SUMMED = "SELECT k, count(*) AS n, count(v) AS c, sum(v) AS s, avg(v) AS a, sum(d) AS x FROM t GROUP BY k"


def _sum(values: list) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _avg(values: list) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def summed(rows: list[Row]) -> list[Row]:
    return [
        (
            k,
            len(group),
            sum(v is not None for _, v, _ in group),
            _sum([v for _, v, _ in group]),
            _avg([v for _, v, _ in group]),
            _sum([d for *_, d in group]),
        )
        for k, group in grouped(rows, lambda row: row[0]).items()
    ]


def dec(text: str) -> Decimal:
    return Decimal(text)


A, B, C = ("a", 1, dec("1.10")), ("b", 2, dec("2.20")), ("c", None, None)
NULL_KEY = (None, 7, dec("0.01"))


def test_rows_come_change_and_go(lab: Lab) -> None:
    lab.source("t", DDL, A, B, C, NULL_KEY, B)
    lab.view("summed", SUMMED, summed)
    lab.view("all_rows", "SELECT * FROM t", lambda rows: rows)
    lab.view("big", "SELECT k, v * 2 AS w FROM t WHERE v > 1", doubled)
    lab.step(summed="full", all_rows="full")
    lab.land("t", insert=[(None, None, None), ("d", 4, dec("4.00"))], delete=[B])
    lab.step(summed="incremental", all_rows="incremental", big="incremental")
    lab.land("t", update=[(A, ("a", 5, dec("1.10"))), (NULL_KEY, ("n", 7, None))])
    lab.step()
    lab.land("t", insert=[("x", 1, None)], delete=[("x", 1, None)])
    report = lab.step(summed="incremental")
    assert report.views["summed"].actual["rows_out"] == 0
    lab.land("t", delete=[("d", 4, dec("4.00")), B, (None, None, None)])
    lab.step()


def doubled(rows: list[Row]) -> list[Row]:
    return [(k, v * 2) for k, v, _ in rows if v is not None and v > 1]


def test_the_first_run_sees_a_history(lab: Lab) -> None:
    lab.source("t", DDL, A, A, B, C)
    lab.land("t", insert=[NULL_KEY], delete=[A, C])
    lab.view("all_rows", "SELECT * FROM t", lambda rows: rows)
    lab.view("narrow", "SELECT d FROM t WHERE v < 9", narrow)
    lab.view("summed", SUMMED, summed)
    lab.view(
        "both", "SELECT k FROM t UNION ALL SELECT k FROM t", lambda rows: [r[:1] for r in rows * 2]
    )
    lab.view("paired", "SELECT l.v FROM t l JOIN t r ON l.k <=> r.k", paired)
    lab.step(all_rows="full")
    lab.land("t", delete=[B], insert=[A])
    lab.step(all_rows="incremental")


def test_the_first_run_of_a_view_without_states_sees_a_history(lab: Lab) -> None:
    lab.source("t", DDL, A, A, B, C)
    lab.land("t", insert=[NULL_KEY], delete=[A, C])
    lab.view("all_rows", "SELECT * FROM t", lambda rows: rows)
    lab.step(all_rows="full")
    assert not lab.files("sources")


def narrow(rows: list[Row]) -> list[Row]:
    return [(d,) for _, v, d in rows if v is not None and v < 9]


def paired(rows: list[Row]) -> list[Row]:
    return [(left[1],) for left in rows for right in rows if left[0] == right[0]]


def test_everything_goes_and_comes_again(lab: Lab) -> None:
    lab.source("t", DDL, A, B, C)
    lab.view("summed", SUMMED, summed)
    lab.view("total", "SELECT count(*) AS n, sum(v) AS s, avg(d) AS a, count(k) AS c FROM t", total)
    lab.view("kinds", "SELECT DISTINCT k FROM t", lambda rows: {(row[0],) for row in rows})
    lab.step()
    lab.land("t", delete=[A, B, C])
    lab.step(summed="incremental", total="incremental", kinds="incremental")
    assert lab.read("total") == [(0, None, None, 0)]
    assert lab.read("summed") == []
    lab.land("t", insert=[C, C])
    lab.step()
    assert lab.read("total") == [(2, None, None, 2)]
    lab.land("t", insert=[A], delete=[C])
    lab.step()


def total(rows: list[Row]) -> list[Row]:
    prices = [d for *_, d in rows]
    average = _avg(prices)
    exact = None if average is None else average.quantize(dec("0.000001"))
    return [
        (len(rows), _sum([v for _, v, _ in rows]), exact, sum(k is not None for k, _, _ in rows))
    ]


def test_a_global_aggregate_over_nothing_has_a_row(lab: Lab) -> None:
    lab.source("t", DDL)
    lab.view("total", "SELECT count(*) AS n, sum(v) AS s, avg(d) AS a, count(k) AS c FROM t", total)
    lab.view("summed", SUMMED, summed)
    lab.step(total="full")
    assert lab.read("total") == [(0, None, None, 0)]
    lab.land("t", insert=[A])
    lab.step(total="incremental")
    assert lab.read("total") == [(1, 1, dec("1.100000"), 1)]


def test_empty_batches(lab: Lab) -> None:
    lab.source("t", DDL, A)
    lab.view("summed", SUMMED, summed)
    lab.view("joined", "SELECT l.k, r.v FROM t l JOIN t r ON l.k = r.k", None)
    lab.step()
    assert lab.refresh().run is None
    lab.land("t")
    report = lab.step()
    assert report.run == 2
    assert {view.actual["rows_out"] for view in report.views.values()} == {0}
    report = lab.refresh()
    assert (report.run, report.views["summed"].method) == (None, "unchanged")
    assert report.views["summed"].reasons == ("NO_CHANGE",)


def joined(left: list[Row], right: list[Row]) -> list[Row]:
    return [(a[0], a[1], b[1]) for a in left for b in right if a[0] is not None and a[0] == b[0]]


def test_both_sides_of_a_join_at_once(lab: Lab) -> None:
    lab.source("l", "k INT, x INT", (1, 10), (2, 20), (None, 30), (1, 10))
    lab.source("r", "k INT, y INT", (1, 100), (None, 200), (3, 300))
    lab.view("pairs", "SELECT l.k, x, y FROM l JOIN r ON l.k = r.k", joined, "l", "r")
    lab.view("crossed", "SELECT l.x, r.y FROM l CROSS JOIN r", crossed, "l", "r")
    lab.view(
        "sums",
        "SELECT r.y, count(*) AS n, sum(x) AS s FROM l, r WHERE l.k <=> r.k GROUP BY r.y",
        sums,
        "l",
        "r",
    )
    lab.step(pairs="full")
    lab.land("l", insert=[(3, 31), (1, 11)], delete=[(1, 10)])
    lab.land("r", insert=[(2, 101), (1, 102)], delete=[(1, 100), (None, 200)])
    lab.step(pairs="incremental", crossed="incremental", sums="incremental")
    lab.land("l", update=[((2, 20), (None, 20)), ((1, 10), (3, 10))])
    lab.land("r", insert=[(None, 200)], update=[((3, 300), (1, 300))])
    lab.step()
    lab.land("r", delete=list(lab.rows["r"]))
    lab.step()
    assert lab.read("pairs") == []


def crossed(left: list[Row], right: list[Row]) -> list[Row]:
    return [(a[1], b[1]) for a in left for b in right]


def sums(left: list[Row], right: list[Row]) -> list[Row]:
    met = [(b[1], a[1]) for a in left for b in right if a[0] == b[0]]
    return [
        (y, len(g), sum(x for _, x in g)) for y, g in grouped(met, lambda pair: pair[0]).items()
    ]


def test_a_source_joined_with_itself(lab: Lab) -> None:
    lab.source("t", "id INT, boss INT", (1, None), (2, 1), (3, 1))
    lab.view("bosses", "SELECT a.id, b.id AS boss FROM t a JOIN t b ON a.boss = b.id", bosses)
    lab.view(
        "sizes",
        "SELECT b.id, count(*) AS n FROM t a JOIN t b ON a.boss = b.id GROUP BY b.id",
        sizes,
    )
    lab.step()
    lab.land("t", insert=[(4, 2), (5, 4)], update=[((2, 1), (2, 3))])
    lab.step(bosses="incremental", sizes="incremental")
    lab.land("t", delete=[(1, None), (4, 2)])
    lab.step()


def bosses(rows: list[Row]) -> list[Row]:
    return [(a[0], b[0]) for a in rows for b in rows if a[1] == b[0]]


def sizes(rows: list[Row]) -> list[Row]:
    return [(boss, len(g)) for boss, g in grouped(bosses(rows), lambda pair: pair[1]).items()]


def test_shapes_over_one_source(lab: Lab) -> None:
    lab.source("t", DDL, A, B, C, NULL_KEY)
    both = "SELECT k FROM t WHERE v < 5 UNION ALL SELECT upper(k) FROM t"
    lab.view("both", both, both_of)
    filtered = (
        "SELECT count(*) FILTER (WHERE v > 1) AS n, sum(v) FILTER (WHERE k = 'a') AS s FROM t"
    )
    lab.view("filtered", filtered, filtered_of)
    having = "SELECT k, sum(v) AS s FROM t GROUP BY k HAVING count(*) > 1 AND sum(v) >= 3"
    lab.view("having", having, having_of)
    case = (
        "SELECT CASE WHEN v > 1 THEN 'many' WHEN v = 1 THEN 'one' END AS c, v IS NULL AS u FROM t"
    )
    lab.view("cases", case, cases_of)
    lab.step()
    lab.land("t", insert=[A, B, ("b", 1, None)], delete=[C])
    lab.step(both="incremental", filtered="incremental", having="incremental", cases="incremental")
    lab.land("t", insert=[(None, None, None)], delete=[A, B, B])
    lab.step()


def both_of(rows: list[Row]) -> list[Row]:
    small = [(k,) for k, v, _ in rows if v is not None and v < 5]
    return small + [(k and k.upper(),) for k, *_ in rows]


def filtered_of(rows: list[Row]) -> list[Row]:
    many = sum(1 for _, v, _ in rows if v is not None and v > 1)
    return [(many, _sum([v for k, v, _ in rows if k == "a"]))]


def having_of(rows: list[Row]) -> list[Row]:
    found = []
    for k, group in grouped(rows, lambda row: row[0]).items():
        total_of = _sum([v for _, v, _ in group])
        if len(group) > 1 and total_of is not None and total_of >= 3:
            found.append((k, total_of))
    return found


def cases_of(rows: list[Row]) -> list[Row]:
    words = {None: None, 1: "one"}
    return [(words.get(v, "many"), v is None) for _, v, _ in rows]


def test_order_is_kept_on_read(lab: Lab) -> None:
    lab.source("t", DDL, B, A, C, NULL_KEY)
    lab.view("visible", "SELECT k, v FROM t ORDER BY v DESC NULLS LAST, k", None)
    lab.view("hidden", "SELECT k FROM t ORDER BY v + 1 DESC, d", None)
    lab.step()
    assert lab.read("visible") == [(None, 7), ("b", 2), ("a", 1), ("c", None)]
    assert lab.ws.read(lab.spark, "hidden").columns == ["k"]
    assert lab.read("hidden") == [(None,), ("b",), ("a",), ("c",)]
    lab.land("t", insert=[("z", 9, None), ("y", 0, None)], delete=[B])
    lab.step(visible="incremental", hidden="incremental")
    assert lab.read("hidden") == [("z",), (None,), ("a",), ("y",), ("c",)]
    assert lab.read("visible")[0] == ("z", 9)
    assert sorted(lab.changes("hidden", 1).items()) == [(("b",), -1), (("y",), 1), (("z",), 1)]


def test_the_top_of_an_aggregate(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", *((k, v) for v, k in enumerate("abcde")))
    lab.view("top", "SELECT k, sum(v) AS s FROM t GROUP BY k ORDER BY s DESC, k LIMIT 2", top)
    lab.step()
    assert lab.read("top") == [("e", 4), ("d", 3)]
    lab.land("t", insert=[("a", 10)], delete=[("e", 4)])
    lab.step(top="incremental")
    assert lab.read("top") == [("a", 10), ("d", 3)]
    lab.land("t", delete=[("a", 10), ("a", 0), ("d", 3), ("c", 2)])
    lab.step()
    assert lab.read("top") == [("b", 1)]


def top(rows: list[Row]) -> list[Row]:
    totals = {k: sum(v for _, v in g) for k, g in grouped(rows, lambda row: row[0]).items()}
    return sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))[:2]

"""Keys that a collation equates are one group, one partner and one row, while their spellings come and go."""

from __future__ import annotations

import pytest

from tests.harness.lab import Lab, Row, bag, grouped

pytestmark = pytest.mark.spark

DDL = "s STRING, v INT"
# Which spelling stands for a group is Spark's to choose.
TEXTS = {
    "folded": "SELECT s COLLATE UTF8_LCASE AS c, v FROM t",
    "sums": "SELECT lower(c) AS low, count(*) AS n, sum(v) AS s FROM folded GROUP BY c",
    "tops": "SELECT lower(c) AS low, max(v) AS most FROM folded GROUP BY c",
    "kinds": "SELECT lower(c) AS low FROM (SELECT DISTINCT c FROM folded)",
    "ranks": "SELECT v, rank() OVER (PARTITION BY c ORDER BY v) AS r FROM folded",
    "pairs": "SELECT f.v, u.w FROM folded f JOIN u ON f.c = u.s COLLATE UTF8_LCASE",
    "lonely": "SELECT f.v FROM folded f LEFT ANTI JOIN u ON f.c = u.s COLLATE UTF8_LCASE",
}


def folded(rows: list[Row]) -> dict[str | None, list[int]]:
    groups = grouped(rows, lambda row: row[0] and row[0].lower())
    return {low: [v for _, v in group] for low, group in groups.items()}


def sums(rows: list[Row]) -> list[Row]:
    return [(low, len(values), sum(values)) for low, values in folded(rows).items()]


def tops(rows: list[Row]) -> list[Row]:
    return [(low, max(values)) for low, values in folded(rows).items()]


def kinds(rows: list[Row]) -> list[Row]:
    return [(low,) for low in folded(rows)]


def meet(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one.lower() == other.lower()


def pairs(rows: list[Row], others: list[Row]) -> list[Row]:
    return [(v, w) for s, v in rows for other, w in others if meet(s, other)]


def lonely(rows: list[Row], others: list[Row]) -> list[Row]:
    return [(v,) for s, v in rows if not any(meet(s, other) for other, _ in others)]


def ranks(rows: list[Row]) -> list[Row]:
    return [
        (v, 1 + sum(other < v for other in values))
        for values in folded(rows).values()
        for v in values
    ]


EXPECTED = {"sums": sums, "tops": tops, "kinds": kinds, "ranks": ranks}
OF_BOTH = {"pairs": pairs, "lonely": lonely}


def test_groups_of_equal_spellings_under_deletes(lab: Lab) -> None:
    lab.source("t", DDL, ("a", 1), ("A", 2), ("B", 3), ("b", 3), (None, 5), ("ä", 6))
    lab.source("u", "s STRING, w INT", ("A", 10), ("b", 20), ("Ä", 30), (None, 40))
    for name, text in TEXTS.items():
        of = ("t", "u") if name in OF_BOTH else ("t",)
        lab.view(name, text, EXPECTED.get(name) or OF_BOTH.get(name), *of)
    lab.step()
    every = dict.fromkeys(TEXTS, "incremental")
    lab.land("t", delete=[("a", 1)])  # the other spelling holds the group
    lab.step(**every)
    lab.land("t", delete=[("A", 2), ("B", 3)], insert=[("a", 7), ("C", 0)])
    lab.land("u", delete=[("A", 10), ("b", 20)], insert=[("B", 21)])
    lab.step(**every)
    assert lab.bag("sums") == bag(
        [("a", 1, 7), ("b", 1, 3), ("c", 1, 0), (None, 1, 5), ("ä", 1, 6)]
    )
    lab.land("t", update=[(("a", 7), ("A", 7)), (("ä", 6), ("Ä", 6))])  # nothing but the spelling
    report = lab.step(**every)
    assert {report.views[name].actual["rows_out"] for name in ("sums", "tops", "kinds")} == {0}
    lab.land("t", delete=[("A", 7), ("b", 3), ("C", 0), (None, 5), ("Ä", 6)])
    lab.step(**every)
    assert lab.read("sums") == []
    lab.land("t", insert=[("A", 1), ("a", 1)])
    lab.step(**every)


def test_spellings_that_are_not_in_a_query_or_meet_something_else(lab: Lab) -> None:
    """Batch looks at each pair there: the joins that a change is made of must not be looked up by bits."""
    lab.source("t", "id INT, s STRING", (1, "a"), (2, "B"), (3, None), (9, "x"))
    lab.source("u", "name STRING", ("A",))
    outside = "s COLLATE UTF8_LCASE NOT IN (SELECT name FROM u)"
    lab.view("either", f"SELECT id FROM t WHERE id > 5 OR {outside}")  # noqa: S608
    lab.view("told", f"SELECT id, {outside} AS outside FROM t")  # noqa: S608
    lab.refresh()
    for change in ({"insert": [("b",)]}, {"delete": [("A",)]}, {"insert": [(None,), ("X",)]}):
        lab.land("u", **change)
        report = lab.refresh()
        assert {view.method for view in report.views.values()} == {"incremental"}
        assert lab.ws.verify(lab.spark).equal, change


def extremes(rows: list[Row]) -> list[Row]:
    found = []
    for v, group in grouped(rows, lambda row: row[1]).items():
        lows = {s.lower() for s, _ in group}
        found.append((v, len(lows), min(lows), max(lows)))
    return found


def test_least_and_greatest_beside_distinct_ones(lab: Lab) -> None:
    """Interpreted, Spark would keep the least value of a collation where it writes the next ones."""
    spellings = ("a", "B", "c ", "aB", "b", "zz")
    lab.source("t", DDL, *((s, v) for s in spellings for v in range(3)))
    lab.view(
        "extremes",
        "SELECT v, count(DISTINCT c) AS n, lower(min(c)) AS least, lower(max(c)) AS most"
        " FROM (SELECT v, s COLLATE UTF8_LCASE AS c FROM t) GROUP BY v",
        extremes,
        "t",
    )
    lab.step()
    lab.land("t", delete=[("a", 0), ("zz", 1)], insert=[("y", 1), ("d", 2)])
    lab.step(extremes="incremental")
    lab.land("t", delete=[("aB", 0), ("b", 0), ("y", 1)])
    lab.step(extremes="incremental")

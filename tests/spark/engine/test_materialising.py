"""Few rows that meet a large table are worked out before, and sent to it: to the same answers, and gone afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from slacktide.program import lightness, materialising
from slacktide.spark.compile import joins
from slacktide.spark.tables import materialised
from slacktide.spark.tables.materialised import Materialised
from tests.harness.lab import Lab, Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SQL = """
SELECT c.g, sum(l.v) AS s, count(*) AS n
FROM customers c JOIN orders o ON c.k = o.c JOIN lines l ON o.k = l.o
WHERE l.v > 0 GROUP BY c.g
"""


def sums(customers: list[Row], orders: list[Row], lines: list[Row]) -> Iterator[Row]:
    met = [
        (g, v)
        for k, g in customers
        for number, c in orders
        for o, v in lines
        if k is not None and k == c and number is not None and number == o and v > 0
    ]
    for group in {g for g, _ in met}:
        values = [v for g, v in met if g == group]
        yield group, sum(values), len(values)


@pytest.fixture
def chain(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Tables of which each is large, and changes that are few whatever they are; no step is light."""
    monkeypatch.setattr(materialising, "LARGE_ROWS", 1)
    monkeypatch.setattr(materialising, "SHARE", 1e9)
    monkeypatch.setattr(lightness, "MOST_READ", -1)
    lab.source("customers", "k INT, g STRING", *((i or None, "ab"[i % 2]) for i in range(8)))
    lab.source("orders", "k INT, c INT", *((i or None, i % 8) for i in range(30)))
    lab.source("lines", "o INT, v INT", *((i % 30, i - 5) for i in range(90)))
    lab.view("sums", SQL, sums, "customers", "orders", "lines")
    lab.step(sums="full")
    return lab


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The bytes of what was worked out before."""
    seen: list[float] = []
    of = Materialised.of

    def told(*arguments: object) -> materialised.Held:
        held = of(*arguments)  # type: ignore[arg-type]
        seen.append(held.bytes)
        return held

    monkeypatch.setattr(Materialised, "of", told)
    return seen


def changes(lab: Lab) -> None:
    """Everything that may become of rows, of one table and of all of them at once."""
    lab.land("customers", update=[((1, "b"), (1, "a"))], delete=[(None, "a")])
    lab.step(sums="incremental")
    lab.land("orders", insert=[(40, 1), (40, 1), (None, 2)], delete=[(3, 3)])
    lab.land("lines", insert=[(40, 7), (None, 7), (4, -1)], delete=[(3, -2)])
    lab.land("customers", insert=[(9, "c")])
    lab.step(sums="incremental")
    lab.land("orders", delete=[(40, 1), (40, 1)], insert=[(41, 9)])
    lab.land("customers", delete=[(9, "c")], insert=[(9, "d")])
    lab.step(sums="incremental")
    lab.land("lines", delete=lab.rows["lines"])
    lab.land("customers", insert=[(1, "a")])
    lab.step(sums="incremental")
    lab.land("lines", insert=[(i % 30, i) for i in range(60)])
    lab.land("orders", delete=[(5, 5)])
    lab.step(sums="incremental")


def test_answers_are_those_of_batch(chain: Lab, sizes: list[float]) -> None:
    changes(chain)
    assert len(sizes) > 4
    assert any(sizes)


def test_answers_are_those_of_batch_where_nothing_is_sent(
    chain: Lab, sizes: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joins, "SENT", -1.0)
    changes(chain)
    assert any(sizes)


LISTED = """
SELECT o.w, count(*) AS n
FROM (VALUES (1), (2)) AS m(code) JOIN dim d ON d.code = m.code JOIN big b ON b.k = d.k
LEFT JOIN other o ON o.v = b.v
GROUP BY o.w
"""


def listed(dim: list[Row], big: list[Row], other: list[Row]) -> Iterator[Row]:
    met = [v for code, key in dim if code in (1, 2) for k, v in big if key is not None and k == key]
    padded = [[w for u, w in other if u is not None and u == v] or [None] for v in met]
    words = [w for found in padded for w in found]
    for w in set(words):
        yield w, words.count(w)


def test_values_of_a_query_have_not_changed(
    lab: Lab, sizes: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that came and went are in a snapshot, and none of them are in plain rows of it."""
    monkeypatch.setattr(materialising, "LARGE_ROWS", 1)
    monkeypatch.setattr(materialising, "SHARE", 1e9)
    monkeypatch.setattr(lightness, "MOST_READ", -1)
    lab.source("dim", "code INT, k INT", (1, 10), (2, 11), (3, 12))
    lab.source("big", "k INT, v INT", *((10 + i % 4, i % 7) for i in range(40)))
    lab.source("other", "v INT, w STRING", *((i, "ab"[i % 2]) for i in range(5)))
    lab.view("listed", LISTED, listed, "dim", "big", "other")
    lab.step(listed="full")
    lab.land("dim", update=[((1, 10), (1, 11))])
    lab.step(listed="incremental")
    assert any(sizes)
    lab.land("dim", update=[((1, 11), (1, 10))], delete=[(2, 11)])
    lab.land("other", update=[((3, "b"), (3, "c"))])
    lab.step(listed="incremental")
    lab.view("again", LISTED, listed, "dim", "big", "other", policy="incremental")
    lab.land("dim", update=[((1, 10), (1, 11))], insert=[(2, 13)])
    lab.step(listed="incremental", again="full")


def test_what_was_worked_out_is_let_go(chain: Lab, spark: SparkSession) -> None:
    def held() -> set[int]:
        return set(spark.sparkContext._jsc.getPersistentRDDs())

    before = held()
    changes(chain)
    # What other tests held before may be collected meanwhile.
    assert held() <= before


@pytest.fixture
def nothing_sent(spark: SparkSession) -> Iterator[None]:
    """Spark by itself sends no side of a join, as where all tables are large."""
    name = "spark.sql.autoBroadcastJoinThreshold"
    before = str(spark.conf.get(name))
    spark.conf.set(name, "-1")
    yield
    spark.conf.set(name, before)


@pytest.mark.usefixtures("nothing_sent")
def test_a_large_table_is_not_shuffled(chain: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def shuffled(number: int) -> int:
        chain.land("customers", insert=[(number, "a")])
        chain.land("orders", insert=[(number, number)])
        actual = chain.step(sums="incremental").views["sums"].actual
        assert actual["rows_read"] > len(chain.rows["lines"])
        return int(actual["rows_shuffled"])

    few = shuffled(100)
    monkeypatch.setattr(materialising, "SHARE", -1.0)
    assert shuffled(101) > few + len(chain.rows["lines"]) // 2

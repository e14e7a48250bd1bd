"""Few rows that meet a large table are worked out before, and sent to it: to the same answers, and gone afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from slacktide.program import lightness, materialising
from slacktide.spark import materialised
from slacktide.spark.materialised import Materialised
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
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of what was worked out before."""
    seen: list[int] = []
    of = Materialised.of

    def told(*arguments: object) -> materialised.Held:
        held = of(*arguments)  # type: ignore[arg-type]
        seen.append(held.rows)
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


def test_answers_are_those_of_batch(chain: Lab, counted: list[int]) -> None:
    changes(chain)
    assert len(counted) > 4
    assert any(counted)


def test_many_rows_are_not_sent(
    chain: Lab, counted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(materialised, "MOST_SENT", -1)
    changes(chain)
    assert any(counted)


def test_what_was_worked_out_is_let_go(chain: Lab, spark: SparkSession) -> None:
    def held() -> int:
        return int(spark.sparkContext._jsc.getPersistentRDDs().size())

    before = held()
    changes(chain)
    assert held() == before


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

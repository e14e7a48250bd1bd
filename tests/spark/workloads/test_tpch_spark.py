"""The 22 queries on a real Spark, against texts of others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slacktide.workloads import tpch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCALE = 0.01
Answer = Callable[[str], Counter]

# The parameters with which the texts in the wheel of pysail are written.
OTHER: Mapping[str, Mapping[str, Any]] = {
    "q1": {"delta": 68},
    "q2": {"size": 48, "type": "TIN", "region": "ASIA"},
    "q3": {},
    "q4": {"date": "1995-04-01"},
    "q5": {"region": "AFRICA"},
    "q6": {"discount": "0.04"},
    "q7": {"nation1": "GERMANY", "nation2": "IRAQ"},
    "q8": {"nation": "IRAQ", "region": "MIDDLE EAST", "type": "LARGE PLATED STEEL"},
    "q9": {"color": "moccasin"},
    "q10": {"date": "1993-07-01"},
    "q11": {"nation": "ALGERIA"},
    "q12": {"shipmodes": ("FOB", "SHIP"), "date": "1995-01-01"},
    "q13": {"word1": "express"},
    "q14": {"date": "1995-02-01"},
    "q15": {"date": "1996-08-01"},
    "q16": {"brand": "Brand#14", "type": "SMALL PLATED", "sizes": (14, 6, 5, 31, 49, 15, 41, 47)},
    "q17": {"brand": ("Brand#42", "Brand#43"), "container": "LG BAG"},
    "q18": {"quantity": 225},
    "q19": {
        "brand1": "Brand#21",
        "brand2": "Brand#13",
        "brand3": "Brand#52",
        "quantity1": 8,
        "quantity2": 20,
        "quantity3": 30,
    },
    "q20": {"color": "blanched", "date": "1993-01-01", "nation": "KENYA"},
    "q21": {"nation": "ARGENTINA"},
    "q22": {"codes": ("24", "34", "16", "30", "33", "14", "13")},
}

# What would select nothing at this scale.
WIDENED = {
    "q17": ("= 'Brand#42'", "in ('Brand#42', 'Brand#43')"),
    "q18": ("> 313", "> 225"),
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tpch") / "base"
    tpch.generate_base(root, scale=SCALE)
    return root


@pytest.fixture
def answer(spark: SparkSession) -> Iterator[Answer]:
    """Give the answer of a text as a bag, over the tables that `show` has made visible."""

    def answer(text: str) -> Counter:
        return Counter(tuple(row) for row in spark.sql(text).collect())

    yield answer
    for name in [*tpch.TABLES, "revenue0"]:
        spark.catalog.dropTempView(name)


def show(spark: SparkSession, paths: Mapping[str, Path]) -> None:
    for name, path in paths.items():
        spark.read.parquet(str(path)).drop("_change_type").createOrReplaceTempView(name)


def text_of_pysail(name: str) -> list[str]:
    """The statements of a query in pysail's wheel; Q15 is three there."""
    text = files("pysail").joinpath("data", "tpch", "queries", f"{name}.sql").read_text()
    if name in WIDENED:
        old, new = WIDENED[name]
        assert text.count(old) == 1
        text = text.replace(old, new)
    statements = re.sub(r"--.*", "", text).split(";")
    return [statement.replace("create view", "create temp view") for statement in statements]


@pytest.mark.parametrize("name", tpch.QUERIES)
def test_answers_are_those_of_other_texts(
    name: str, spark: SparkSession, base: Path, answer: Answer
) -> None:
    show(spark, {table: base / table for table in tpch.TABLES})
    answers = [answer(text) for text in text_of_pysail(name) if text.strip()]
    (expected,) = [found for found in answers if found]
    assert has_rows(expected)
    assert answer(tpch.query(name, **OTHER[name])) == expected


def has_rows(found: Counter) -> bool:
    """Whether an answer says anything: a row that is not all NULL."""
    return any(value is not None for row in found for value in row)

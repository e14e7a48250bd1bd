"""Some views at paces of their own against batch: a slice of `tests/campaigns/tpch_paces.py`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.campaigns.tpch_paces import play

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

# Q3, Q10 and Q18 join orders and lines, Q4 tests for existence; what they share is read at two paces.
PACES = {"q3": 1, "q4": 3, "q10": 2, "q18": 3}


def test_answers_equal_batch_at_every_pace(tmp_path: Path, spark: SparkSession) -> None:
    steps = [*play(tmp_path, spark, "scattered", PACES, scale=0.01, arrivals=3)]
    assert [(step["arrival"], step["compared"]) for step in steps] == [
        (1, ["q18", "q4"]),
        (2, ["q10", "q18", "q4"]),
        (3, ["q10", "q18", "q3", "q4"]),
    ]
    assert [step["different"] for step in steps] == [{}, {}, {}]
    methods = [method for step in steps for method in step["methods"].values()]
    assert {*methods} == {"incremental"}

"""What Spark is at work on ends once it has taken more CPU than it may, and nothing else does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import ArithmeticException

from slacktide.spark.failures.translation import is_cancelled
from slacktide.spark.tasks import bounded as module
from slacktide.spark.tasks.bounded import LEAST, Spent, bounded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MANY = "SELECT sum(hash(id)) FROM range(0, 100000000000, 1, 10000)"
# A stage that ends, and then one of which no task ever does.
LONG = """SELECT /*+ BROADCAST(b) */ sum(hash(a.id, b.id)) FROM (SELECT /*+ REPARTITION(2) */ id FROM range(1000000)) a
JOIN range(1000000) b ON a.id <> b.id"""
SOME = "SELECT sum(hash(id)) FROM range(0, 10000000, 1, 8)"


@pytest.mark.parametrize(("endless", "most"), [(MANY, -1.0), (LONG, 5.0)], ids=["many", "long"])
def test_what_would_never_end_does(spark: SparkSession, endless: str, most: float) -> None:
    with bounded(spark, most) as bound:  # noqa: SIM117 - the failure is seen inside
        with pytest.raises(Py4JJavaError) as failure:
            spark.sql(endless).collect()
    assert is_cancelled(failure.value)
    assert bound.seconds is not None
    assert bound.seconds > max(most, LEAST)
    assert not [*spark.sparkContext.getJobTags()]


@pytest.mark.parametrize("most", [None, 3600.0])
def test_what_takes_less_is_let_be(
    spark: SparkSession, most: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PERIOD", 0.001)
    with bounded(spark, most) as bound:
        (found,) = spark.sql(SOME).collect()
    assert found[0] is not None
    assert bound.seconds is None


def test_what_another_has_taken_is_not_counted(spark: SparkSession) -> None:
    context, mine, others = spark.sparkContext, Spent(spark, "mine"), Spent(spark, "others")
    try:
        context.addJobTag("mine")
        spark.sql(SOME).collect()
    finally:
        context.removeJobTag("mine")
    spark.sql(SOME).collect()
    context._jsc.sc().listenerBus().waitUntilEmpty()
    taken = mine.seconds()
    assert taken > 0.0
    assert taken == mine.seconds()
    assert others.seconds() == 0.0


def test_a_failure_of_another_kind_is_none_of_a_bound(spark: SparkSession) -> None:
    with bounded(spark, 3600.0) as bound:  # noqa: SIM117 - the failure is seen inside
        with pytest.raises(ArithmeticException) as failure:
            spark.sql("SELECT 1 / id FROM range(0, 10, 1, 2)").collect()
    assert not is_cancelled(failure.value)
    assert bound.seconds is None
    assert not [*spark.sparkContext.getJobTags()]

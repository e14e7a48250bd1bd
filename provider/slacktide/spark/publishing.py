"""Writing an answer as plain Parquet, for readers of any kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from slacktide.spark.failures.translation import translated
from slacktide.spark.files.parquet import PUBLISHED_COMPRESSION, SPARK_OPTIONS
from slacktide.store.address import Address

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def write_answer(
    session: SparkSession, name: str, read: Callable[[SparkSession], DataFrame], place: Address
) -> None:
    """Write the answer of a view into a directory of its own.

    Rows with an order lie in it within each file, and from file to file by name.

    Args:
        session: a working one.
        name: of the view.
        read: gives the answer in the session.
        place: the directory, where nothing is yet.
    """
    with translated(f"view {name}"):
        rows = read(session).write.options(**SPARK_OPTIONS)
        rows.parquet(place.spark, compression=PUBLISHED_COMPRESSION)

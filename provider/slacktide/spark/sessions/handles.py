"""Spark's classes under which other layers pass its objects on: for type checkers, and as a question."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as DataFrame
    from pyspark.sql import SparkSession as SparkSession


def is_session(value: object) -> bool:
    """Whether something is a session of Spark in this process that nobody has stopped; one of Spark Connect has no Java here."""
    known = sys.modules.get("pyspark.sql")  # whoever has a session has imported it
    if known is None or not isinstance(value, known.SparkSession):
        return False
    return getattr(value.sparkContext, "_jsc", None) is not None

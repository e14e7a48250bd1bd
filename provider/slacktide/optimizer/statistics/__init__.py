"""What is known of relations: of sources, of what is stored, and what follows for operators."""

from __future__ import annotations

from slacktide.optimizer.statistics.arrivals import Arrived, expected, foreseen
from slacktide.optimizer.statistics.estimate import Estimate
from slacktide.optimizer.statistics.facts import (
    ChangeFacts,
    ColumnFacts,
    Extension,
    Figure,
    Origin,
    SourceFacts,
    Statistics,
    StoredFacts,
)
from slacktide.optimizer.statistics.program import Sizes
from slacktide.optimizer.statistics.relation import Cardinality, with_columns
from slacktide.optimizer.statistics.selectivity import selectivity

__all__ = [
    "Arrived",
    "Cardinality",
    "ChangeFacts",
    "ColumnFacts",
    "Estimate",
    "Extension",
    "Figure",
    "Origin",
    "Sizes",
    "SourceFacts",
    "Statistics",
    "StoredFacts",
    "expected",
    "foreseen",
    "selectivity",
    "with_columns",
]

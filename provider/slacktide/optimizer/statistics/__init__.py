"""What is known of relations: of sources, of what is stored, and what follows for operators."""

from __future__ import annotations

from slacktide.optimizer.statistics.facts import (
    ColumnFacts,
    Figure,
    Origin,
    SourceFacts,
    Statistics,
    StoredFacts,
)
from slacktide.optimizer.statistics.program import Size, Sizes
from slacktide.optimizer.statistics.relation import Cardinality, Estimate
from slacktide.optimizer.statistics.selectivity import selectivity

__all__ = [
    "Cardinality",
    "ColumnFacts",
    "Estimate",
    "Figure",
    "Origin",
    "Size",
    "Sizes",
    "SourceFacts",
    "Statistics",
    "StoredFacts",
    "selectivity",
]

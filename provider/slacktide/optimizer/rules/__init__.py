"""The delta rules, in one explicit list: at most one per class of relations."""

from __future__ import annotations

from typing import Any

from slacktide.optimizer.rule import DeltaRule
from slacktide.optimizer.rules.aggregate import MAINTAIN_AGGREGATE
from slacktide.optimizer.rules.join import SPLIT_DELTA_OF_JOIN
from slacktide.optimizer.rules.linear import (
    ADD_CHANGES_OF_UNION,
    EXPAND_CHANGES,
    FILTER_CHANGES,
    FORGET_ORDER,
    GENERATE_FROM_CHANGES,
    PROJECT_CHANGES,
    READ_CHANGES_OF_SCAN,
)
from slacktide.optimizer.rules.recompute import RECOMPUTE_LIMIT, RECOMPUTE_TOUCHED_PARTITIONS

RULES: tuple[DeltaRule[Any], ...] = (
    READ_CHANGES_OF_SCAN,
    FILTER_CHANGES,
    PROJECT_CHANGES,
    ADD_CHANGES_OF_UNION,
    EXPAND_CHANGES,
    GENERATE_FROM_CHANGES,
    FORGET_ORDER,
    SPLIT_DELTA_OF_JOIN,
    MAINTAIN_AGGREGATE,
    RECOMPUTE_TOUCHED_PARTITIONS,
    RECOMPUTE_LIMIT,
)

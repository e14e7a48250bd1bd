"""The delta rules, in one explicit list: of several of a class the first that applies is taken."""

from __future__ import annotations

from typing import Any

from slacktide.optimizer.rule_parts.rule import DeltaRule
from slacktide.optimizer.rules.aggregate import MAINTAIN_AGGREGATE
from slacktide.optimizer.rules.foreign_key_join import GO_ALONG_FOREIGN_KEY
from slacktide.optimizer.rules.join import MARK_MET_ROWS, PAD_LONELY_ROWS, SPLIT_DELTA_OF_JOIN
from slacktide.optimizer.rules.linear import (
    ADD_CHANGES_OF_UNION,
    EXPAND_CHANGES,
    FILTER_CHANGES,
    FORGET_ORDER,
    GENERATE_FROM_CHANGES,
    PROJECT_CHANGES,
    READ_CHANGES_OF_SCAN,
)
from slacktide.optimizer.rules.recompute import (
    RECOMPUTE_LIMIT,
    RECOMPUTE_TOUCHED_GROUPS,
    RECOMPUTE_TOUCHED_PARTITIONS,
)
from slacktide.optimizer.rules.semi_join import RETEST_TOUCHED_ROWS

RULES: tuple[DeltaRule[Any], ...] = (
    READ_CHANGES_OF_SCAN,
    FILTER_CHANGES,
    PROJECT_CHANGES,
    ADD_CHANGES_OF_UNION,
    EXPAND_CHANGES,
    GENERATE_FROM_CHANGES,
    FORGET_ORDER,
    GO_ALONG_FOREIGN_KEY,
    SPLIT_DELTA_OF_JOIN,
    RETEST_TOUCHED_ROWS,
    PAD_LONELY_ROWS,
    MARK_MET_ROWS,
    MAINTAIN_AGGREGATE,
    RECOMPUTE_TOUCHED_GROUPS,
    RECOMPUTE_TOUCHED_PARTITIONS,
    RECOMPUTE_LIMIT,
)

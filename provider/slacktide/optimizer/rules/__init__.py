"""The delta rules, in one explicit list: at most one per class of relations."""

from __future__ import annotations

from typing import Any

from slacktide.optimizer.rule import DeltaRule
from slacktide.optimizer.rules.aggregate import MAINTAIN_AGGREGATE
from slacktide.optimizer.rules.join import SPLIT_DELTA_OF_JOIN
from slacktide.optimizer.rules.linear import (
    ADD_CHANGES_OF_UNION,
    FILTER_CHANGES,
    PROJECT_CHANGES,
    READ_CHANGES_OF_SCAN,
)

RULES: tuple[DeltaRule[Any], ...] = (
    READ_CHANGES_OF_SCAN,
    FILTER_CHANGES,
    PROJECT_CHANGES,
    ADD_CHANGES_OF_UNION,
    SPLIT_DELTA_OF_JOIN,
    MAINTAIN_AGGREGATE,
)

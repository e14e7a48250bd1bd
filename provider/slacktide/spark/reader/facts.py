"""What the analysed plan tells before the optimiser folds it: clocks, chance, recursion."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from slacktide.common.reasons import Reason

CLOCKS: Final[Mapping[str, str]] = {
    "CurDateExpressionBuilder": "curdate",
    "CurrentBatchTimestamp": "current_timestamp",
    "CurrentDate": "current_date",
    "CurrentTime": "current_time",
    "CurrentTimestamp": "current_timestamp",
    "LocalTimestamp": "localtimestamp",
    "Now": "now",
}
# Constant in one run, but another value for another user, catalogue or machine.
SURROUNDINGS: Final[Mapping[str, str]] = {
    "CurrentCatalog": "current_catalog",
    "CurrentDatabase": "current_database",
    "CurrentUser": "current_user",
    "SparkVersion": "version",
}
CHANCE: Final[Mapping[str, str]] = {
    "MonotonicallyIncreasingID": "monotonically_increasing_id",
    "AesEncrypt": "aes_encrypt",
    "Rand": "rand",
    "Randn": "randn",
    "PythonUDF": "function",
    "PythonUDAF": "function",
    "SparkPartitionID": "spark_partition_id",
    "InputFileName": "input_file_name",
    "Uuid": "uuid",
    "Sample": "TABLESAMPLE",
}
# Letters, then a zone, which Spark looks at and passes over; with an escape between them they may be any.
_MOMENTS = r"(?:now|today|tomorrow|yesterday)(?:[^\w'\"][^'\"]*?)?"
_BETWEEN = r"(?:\s|/\*.*?\*/|--[^\n]*\n)*"
_TYPED = re.compile(
    rf"\b(?:date|time|timestamp(?:_ltz|_ntz)?){_BETWEEN}r?(['\"])\s*({_MOMENTS})\s*\1",
    re.IGNORECASE | re.DOTALL,
)
_CAST = re.compile(rf"(?:DATE|TIMESTAMP(?:_NTZ)?|TIME\(\d\)) \s*({_MOMENTS})\s*", re.IGNORECASE)


def reasons_of(
    facts: Mapping[str, Any], texts: Sequence[str]
) -> tuple[tuple[Reason, ...], bool, bool]:
    """Give the reasons against reading, whether a query is deterministic, whether it asks for time.

    Args:
        facts: of its analysed plan.
        texts: its own, and those of the views that it reads.
    """
    classes = set(facts["classes"])
    times = sorted({CLOCKS[name] for name in classes & set(CLOCKS)} | _moments(facts, texts))
    chances = {CHANCE.get(name, name) for name in facts["random"]}
    chances |= {CHANCE[name] for name in classes & {"AesEncrypt", "Sample"}}
    chances |= {SURROUNDINGS[name] for name in classes & set(SURROUNDINGS)}
    reasons = [Reason("NON_DETERMINISTIC_EXPRESSION", name) for name in sorted(chances)]
    reasons += [Reason("CLOCK", name) for name in times]
    if classes & {"UnionLoop", "UnionLoopRef"}:
        reasons.append(Reason("RECURSIVE_QUERY"))
    return tuple(reasons), not chances, bool(times)


def _moments(facts: Mapping[str, Any], texts: Sequence[str]) -> set[str]:
    """Texts such as DATE 'today', which the parser turns into the date of the moment."""
    found = {moment.lower() for text in texts for _, moment in _TYPED.findall(text)}
    found |= {match[1].lower() for text in facts["special"] if (match := _CAST.fullmatch(text))}
    return {f"'{text.strip()}'" for text in found}

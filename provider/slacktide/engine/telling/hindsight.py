"""Whether what past runs chose was best, as far as anyone can tell afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from slacktide.common.reasons import code_of
from slacktide.engine.reports import Report, ViewReport, ways_without
from slacktide.optimizer.costs.evidence import LEAST_ROWS

NOISE: Final = 1.1
"""Up to this factor of what another way was expected to cost, or up to `LEAST` more, a choice was right."""
LEAST: Final = 0.1
"""Seconds of CPU that no run can be told from another one by."""

_MAY_BE_DEARER: Final = frozenset({"STATES_PAY", "ANSWER_UNTRIED", "INCREMENTS_UNTRIED", "POLICY"})
"""Why a run may be dearer than another way would be: it keeps states, finds out what it takes, or was asked for."""
LACKING: Final = frozenset({"STATES_LEFT", "STATE_MISSING"})
"""Why a run could not go by increments, whatever these were expected to cost."""


@dataclass(frozen=True, slots=True)
class Hindsight:
    """How often the way that runs took was right.

    Attributes:
        right: runs that took no more, beyond noise, than any other way was expected to.
        asked: runs in which there was a choice by cost.
    """

    right: int
    asked: int


def hindsight(reports: Iterable[Report], view: str | None = None) -> Hindsight:
    """Look back at runs: what was chosen by what it took, the others by what was expected.

    Args:
        reports: of the runs.
        view: whose choices; those of all views if None.
    """
    told = [one for report in reports for name, one in report.views.items() if view in {None, name}]
    judged = [_was_right(one) for one in told]
    asked = [one for one in judged if one is not None]
    return Hindsight(sum(asked), len(asked))


def _was_right(told: ViewReport) -> bool | None:
    """Whether no other way was expected to cost clearly less than this one took; None without a choice."""
    expected = told.predicted
    why = {code_of(reason) for reason in told.reasons}
    closed = {expected.get("way")} | ({"incremental"} if why & LACKING else set())
    others = [o["price"] for o in ways_without(expected) if o["way"] not in closed]
    is_meant = bool(why & _MAY_BE_DEARER)
    # Below that a fixed share decides, and what a run takes tells little.
    is_small = expected.get("source_rows", LEAST_ROWS) < LEAST_ROWS
    if not others or not told.actual or is_meant or is_small:
        return None
    price = told.actual["cpu_seconds"] + expected["outside_seconds"]
    return bool(price <= max(NOISE * min(others), min(others) + LEAST))


def expected_error(told: Iterable[tuple[int, Mapping[str, Any]]]) -> dict[str, float | None]:
    """By how much the CPU of half of the computations differed at most from what was expected before they ran.

    Of those that took long enough to tell, and did not turn back; not of first answers, which young Java takes.

    Args:
        told: by run, what reports say of views.
    """
    found = (_error(one) for _, views in told for one in views.values())
    errors = [error for error in found if error is not None]
    return {"expected_error": round(median(errors), 3) if errors else None}


def _error(told: Mapping[str, Any]) -> float | None:
    """The difference as a share of what a computation took; None where a report does not tell."""
    try:
        taken, expected = told["actual"]["cpu_seconds"], told["predicted"]["cpu_seconds"]
        is_told = taken > LEAST and not told.get("switched") and "FIRST_RUN" not in told["reasons"]
        return abs(expected - taken) / taken if is_told else None
    except (AttributeError, KeyError, TypeError):
        return None

"""What reports teach of refreshes of a period, and what they do not."""

from __future__ import annotations

from typing import Any

import pytest

from slacktide.engine.planning.lessons import off_by, sample_of
from slacktide.optimizer.costs import DEFAULTS, Vector

pytestmark = pytest.mark.unit


WORK = Vector(rows_read=1e6)
MODELLED = DEFAULTS.in_tasks(WORK)


def told(work: Any, taken: Any, method: str = "states-only", *, switched: bool = False) -> Any:
    return {
        "method": method,
        "switched": switched,
        "predicted": {"period": {"work": work}},
        "actual": {"cpu_seconds": taken},
    }


@pytest.mark.parametrize(
    ("method", "switched"),
    [("states-only", False), ("incremental", False), ("unchanged", True)],
)
def test_how_far_off_the_model_was(method: str, switched: bool) -> None:
    """But for what tasks take to start: a quarter of a short run, or 0.3 s."""
    seconds = 4 * MODELLED
    report = told(WORK.to_dict(), seconds, method, switched=switched)
    assert off_by(report, DEFAULTS) == pytest.approx(3.0)
    dearer = DEFAULTS.weighing(2.0)
    assert off_by(report, dearer) == pytest.approx(1.5), "at the prices of now"
    assert off_by(told(WORK.to_dict(), 100.3), DEFAULTS) == pytest.approx(100 / MODELLED)


@pytest.mark.parametrize(
    "report",
    [
        None,
        {},
        {"predicted": {}, "actual": {"cpu_seconds": 1.0}},
        {"predicted": {"period": {"planned": 1.0}}, "actual": {"cpu_seconds": 1.0}},
        {"predicted": {"period": {"work": WORK.to_dict()}}, "actual": {}},
        told({}, 1.0),
        told({"rows_read": -1.0}, 1.0),
        told(WORK.to_dict(), 0.0),
        told("x", 1.0),
        told(WORK.to_dict(), float("nan")),
        told(WORK.to_dict(), 1e300),
        told(WORK.to_dict(), [1]),
        told(WORK.to_dict(), 9.0, "full", switched=True),
    ],
)
def test_what_says_too_little_teaches_nothing(report: Any) -> None:
    """As one that turned back, of which the most part is its full run."""
    assert off_by(report, DEFAULTS) is None


def test_figures_that_spark_had_not_told_of_all_teach_nothing() -> None:
    actual = {**WORK.to_dict(), "rows_grouped": 0, "jobs": 2, "cpu_seconds": 1.0}
    assert sample_of({"actual": actual}) is not None
    assert sample_of({"actual": {**actual, "partial": True}}) is None

"""What reports teach of refreshes of a period, and what they do not."""

from __future__ import annotations

from typing import Any

import pytest

from slacktide.engine.planning.lessons import off_by

pytestmark = pytest.mark.unit


def told(modelled: Any, taken: Any, method: str = "states-only") -> dict[str, Any]:
    return {
        "method": method,
        "predicted": {"period": {"modelled": modelled}},
        "actual": {"cpu_seconds": taken},
    }


@pytest.mark.parametrize("method", ["states-only", "incremental", "unchanged"])
def test_how_far_off_the_model_was(method: str) -> None:
    assert off_by(told(0.5, 2.0, method)) == 4.0


@pytest.mark.parametrize(
    "report",
    [
        None,
        {},
        {"predicted": {}, "actual": {"cpu_seconds": 1.0}},
        {"predicted": {"period": {"planned": 1.0}}, "actual": {"cpu_seconds": 1.0}},
        {"predicted": {"period": {"modelled": 1.0}}, "actual": {}},
        told(0.0, 1.0),
        told(-1.0, 1.0),
        told(1.0, 0.0),
        told("x", 1.0),
        told(1.0, float("nan")),
        told(1e-300, 1e300),
        told(1.0, [1]),
    ],
)
def test_what_says_too_little_teaches_nothing(report: Any) -> None:
    assert off_by(report) is None

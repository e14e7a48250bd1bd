"""Prices that a workspace kept, read by a version with other kinds of work."""

from __future__ import annotations

import pytest

from slacktide.optimizer.costs import DEFAULTS, Coefficients
from slacktide.optimizer.costs.coefficients import TASKS

MEASURED = {kind: 2 * price for kind, price in DEFAULTS.to_dict().items()}


def test_prices_are_kept() -> None:
    assert Coefficients.from_dict(MEASURED).to_dict() == MEASURED


def test_a_kind_that_is_gone_tells_nothing() -> None:
    assert Coefficients.from_dict({**MEASURED, "tapes": 1.0}).to_dict() == MEASURED


@pytest.mark.parametrize("missing", TASKS)
def test_prices_that_stood_for_another_kind_are_not_taken(missing: str) -> None:
    told = {kind: price for kind, price in MEASURED.items() if kind != missing}
    read = Coefficients.from_dict(told)
    assert {kind: getattr(read, kind) for kind in TASKS} == {
        kind: getattr(DEFAULTS, kind) for kind in TASKS
    }
    assert read.jobs == MEASURED["jobs"]

"""Weights of refreshes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from slacktide.engine.definitions.goal_setting import check_goal, rounds_of, weights_of
from slacktide.errors import InvalidSettingError

pytestmark = pytest.mark.unit

BAD: list[Any] = [
    *([], [1], "1,1", [0.5, 0], [0.5, -1], [True, 1], [0.5, "1"], None, [1] * 101, {"a": 1}),
    [1, float("nan")],
    [1, float("inf")],
]


@pytest.mark.parametrize("weights", BAD)
def test_weights_that_are_none(weights: Any) -> None:
    with pytest.raises(InvalidSettingError, match="view v has the goal"):
        check_goal("v", {"weights": weights})
    assert weights_of({"goal": {"weights": weights}}) == (), "as an older version may have stored"


def test_nothing_stands_beside_weights() -> None:
    with pytest.raises(InvalidSettingError, match="nothing stands beside them"):
        check_goal("v", {"weights": [1, 1], "total": True})


@pytest.mark.parametrize("rounds", [0, -1, 10_001, 2.5, "2", True, None, [2]])
def test_rounds_that_are_none(rounds: Any) -> None:
    with pytest.raises(InvalidSettingError, match="view v has the goal"):
        check_goal("v", {"rounds": rounds})
    assert rounds_of({"goal": {"rounds": rounds}}) == 0, "as an older version may have stored"


def test_rounds_stand_alone() -> None:
    with pytest.raises(InvalidSettingError, match="view v has the goal"):
        check_goal("v", {"rounds": 2, "weights": [0.5, 1]})
    check_goal("v", {"rounds": 24})
    assert rounds_of({"goal": {"rounds": 24}}) == 24
    assert rounds_of({"goal": {"total": True}}) == rounds_of({}) == 0


def test_weights_are_taken_as_they_are_written() -> None:
    check_goal("v", {"weights": [0.25, 1]})
    assert weights_of({"goal": {"weights": [0.25, 1]}}) == (Fraction(1, 4), Fraction(1))
    assert weights_of({"goal": {"total": True}}) == weights_of({}) == ()

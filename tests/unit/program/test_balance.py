"""The table of balances: every kind of sum is told apart by the few that are asked for."""

from __future__ import annotations

from typing import get_args

import pytest

from slacktide.program.balance import BALANCES, Balance, balances_of, clamped_sql


def test_every_balance_has_its_sums() -> None:
    assert set(BALANCES) == set(get_args(Balance))


@pytest.mark.parametrize(
    ("total", "balances"),
    [
        (-3, {"gone"}),
        (-1, {"gone"}),
        (0, {"kept"}),
        (1, {"came"}),
        (2, {"came", "repeated"}),
        (9, {"came", "repeated"}),
    ],
)
def test_what_a_sum_says(total: int, balances: set[str]) -> None:
    assert balances_of(total) == balances
    assert balances_of(max(-1, min(2, total))) == balances


def test_in_sql() -> None:
    assert clamped_sql("t") == "greatest(-1, least(2, t))"
    conditions = {name: sums.sql("t") for name, sums in BALANCES.items()}
    assert conditions == {
        "gone": "t <= -1",
        "kept": "t = 0",
        "came": "t >= 1",
        "repeated": "t >= 2",
    }

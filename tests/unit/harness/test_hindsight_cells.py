"""What the campaign of choices in hindsight says of costs that were measured."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.campaigns.hindsight import CALIBRATING, NATURES, SHARES, cells, rounds, summary


def told(method: str, seconds: float, expected: float | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"method": method, "seconds": seconds, "rows": 1}
    return found if expected is None else {**found, "expected": expected}


def one(chosen: dict[str, Any], incremental: float, full: float) -> dict[str, Any]:
    return {
        "nature": "clustered",
        "share": 0.01,
        "chosen": {"v": chosen},
        "incremental": {"v": told("incremental", incremental)},
        "full": {"v": told("full", full)},
    }


def test_the_cheaper_way_is_right() -> None:
    found = [one(told("incremental", 1.0), 1.0, 3.0), one(told("incremental", 1.1), 1.1, 3.0)]
    (cell,) = cells(found)
    assert (cell.choice, cell.is_right, cell.is_cheap) == ("incremental", True, True)


def test_the_dearer_way_is_wrong_beyond_the_noise_of_both() -> None:
    dear = [one(told("full", 3.0), 1.0, full) for full in (3.0, 3.0, 3.1)]
    noisy = [one(told("full", 3.0), 1.0, full) for full in (1.2, 3.9, 1.2)]
    assert [cell.is_right for cell in [*cells(dear), *cells(noisy)]] == [False, True]
    assert summary(dear)["right"] == 0.0
    assert [cell["choice"] for cell in summary(dear)["not right"]] == ["full"]


def test_a_tenth_of_a_second_is_near_the_best() -> None:
    (cell,) = cells([one(told("full", 0.19), 0.1, 0.19)] * 2)
    assert (cell.is_right, cell.is_cheap) == (False, True)


def test_where_nothing_changes_there_is_no_choice() -> None:
    assert cells([one(told("unchanged", 0.0), 0.0, 0.0)]) == []


def test_errors_are_factors_of_what_is_not_next_to_nothing() -> None:
    found = [
        one(told("incremental", taken, expected), 1.0, 3.0)
        for taken, expected in ((1.0, 1.2), (2.0, 1.0), (0.01, 1.0))
    ]
    assert summary(found)["error of expected CPU"] == {"median": 1.0, "90th percentile": 1.0}


def test_every_cell_comes_as_often_after_ten_arrivals() -> None:
    planned = [*rounds(5)]
    assert tuple(planned[:10]) == CALIBRATING
    assert set(Counter(planned[10:]).values()) == {5}
    assert len(planned) == 10 + 5 * len(NATURES) * len(SHARES)

"""What the campaign of choices in hindsight says of costs that were measured."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

from tests.campaigns.hindsight import CALIBRATING, NATURES, SHARES, rounds
from tests.campaigns.hindsight_cells import cells, increments_beside_full, missed_by_noise, summary
from tests.campaigns.side_by_side import orders


def told(choice: str, seconds: float, expected: float | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"choice": choice, "switched": False, "seconds": seconds, "reasons": []}
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
    assert (cell.choice, cell.is_right, cell.are_runs_near) == ("incremental", True, True)


def test_the_dearer_way_is_wrong_beyond_the_noise_of_both() -> None:
    dear = [one(told("full", 3.0), 1.0, full) for full in (3.0, 3.0, 3.1)]
    noisy = [one(told("full", 3.0), 1.0, full) for full in (1.2, 3.9, 1.2)]
    assert [cell.is_right for cell in [*cells(dear), *cells(noisy)]] == [False, True]
    assert summary(dear)["right"] == 0.0
    assert [cell["choice"] for cell in summary(dear)["not right"]] == ["full"]


def test_a_tenth_of_a_second_is_near_the_best() -> None:
    (cell,) = cells([one(told("full", 0.19), 0.1, 0.19)] * 2)
    assert (cell.is_right, cell.are_runs_near) == (False, True)


def test_a_way_is_near_the_best_whatever_the_planner_spent_on_states_besides() -> None:
    keeping = [one(told("full", 2.0), 3.0, 1.0)] * 2
    (cell,) = cells(keeping)
    assert (cell.is_right, cell.is_way_near, cell.are_runs_near) == (True, True, False)
    (other,) = cells([one(told("incremental", 1.3), 1.3, 1.0)] * 2)
    assert (other.is_way_near, other.are_runs_near) == (False, False)
    assert summary(keeping)["way near the best"] == 1.0


def test_what_is_not_near_the_best_may_be_noise() -> None:
    steady = [one(told("full", 1.3), full, 1.0) for full in (3.0, 3.0, 3.0)]
    noisy = [one(told("full", 1.3), full, 1.0) for full in (3.0, 3.4, 3.0)]
    (of_steady, of_noisy) = [*cells(steady), *cells(noisy)]
    assert (of_steady.are_runs_near, of_steady.is_beyond_noise) == (False, True)
    assert (of_noisy.are_runs_near, of_noisy.is_beyond_noise) == (False, False)
    assert summary(steady)["beyond noise"] == 1


def test_noise_alone_misses_what_varies_and_nothing_else() -> None:
    steady = cells([one(told("full", 1.0), 3.0, 1.0)] * 5)
    varied = cells([one(told("full", 1.0), 9.0, full) for full in (1.0, 2.0, 1.0, 2.0, 1.5)])
    assert missed_by_noise(steady) == 0.0
    assert 0.1 < missed_by_noise(varied) < 0.9


def test_what_differs_less_than_its_noise_is_even() -> None:
    found = [one(told("full", 1.1), 1.0, full) for full in (1.1, 1.4, 1.1)]
    assert [cell.is_even for cell in cells(found)] == [True]


def test_where_one_workspace_has_nothing_to_do_nothing_is_compared() -> None:
    """A campaign that was killed goes on in the middle of a round."""
    done = one(told("incremental", 1.0), 1.0, 3.0)
    assert cells([{**done, "chosen": {"v": {"choice": "unchanged"}}}]) == []
    (cell,) = cells([done, {**done, "full": {"v": {"choice": "unchanged"}}}])
    assert cell.seconds == {"chosen": [1.0], "incremental": [1.0], "full": [3.0]}


def test_another_way_than_was_asked_for_says_nothing() -> None:
    rebuilt = {**one(told("full", 3.0), 1.0, 3.0), "incremental": {"v": told("full", 3.0)}}
    assert cells([rebuilt]) == []


def test_a_run_before_which_states_were_left_is_no_choice() -> None:
    after = told("full", 3.0) | {"reasons": ["STATES_LEFT"]}
    figures = summary([one(after, 1.0, 3.0)])
    assert (figures["cells"], figures["left"]) == (0, 1)
    (cell,) = cells([one(after, 0.5, 2.0), one(told("incremental", 1.2), 1.0, 3.0)])
    assert cell.choices == ["incremental"]
    assert cell.counted == {"chosen": [1.2], "incremental": [1.0], "full": [3.0]}
    assert cell.seconds["full"] == [2.0, 3.0]


def test_errors_are_factors_of_what_is_not_next_to_nothing() -> None:
    found = [
        one(told("incremental", taken, expected), 1.0, 3.0)
        for taken, expected in ((1.0, 1.2), (2.0, 1.0), (0.01, 1.0))
    ]
    assert summary(found)["error of expected CPU"] == {"median": 1.0, "90th percentile": 1.0}


def test_what_runs_by_increments_took_is_held_against_full_runs_beside_them() -> None:
    back = told("incremental", 6.0) | {"switched": True}
    found = [
        one(back, 4.0, 3.0),
        one(told("incremental", 1.0), 1.0, 3.0),
        one(told("full", 3.0), 1.0, 3.0),
    ]
    figures = {"runs": 2, "seconds": 7.0, "full": 6.0, "turned": 1, "median": 2.0, "most": 2.0}
    assert increments_beside_full(found) == figures


def test_every_cell_comes_as_often_after_ten_arrivals() -> None:
    planned = [*rounds(5)]
    assert tuple(planned[:10]) == CALIBRATING
    assert set(Counter(planned[10:]).values()) == {5}
    assert len(planned) == 10 + 5 * len(NATURES) * len(SHARES)


def test_of_all_turns_none_goes_before_another_one_more_often() -> None:
    turns = orders(["chosen", "incremental", "full"])
    for one, other in permutations(("chosen", "incremental", "full"), 2):
        assert sum(turn.index(one) < turn.index(other) for turn in turns) == len(turns) / 2

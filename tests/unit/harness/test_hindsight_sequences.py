"""What all runs of a view took beside the cheapest sequence of ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.campaigns.hindsight_sequences import histories, times_of_best


def run(seconds: float, way: str = "incremental") -> dict[str, Any]:
    return {"way": way, "switched": False, "seconds": seconds}


def rounds(*seconds: tuple[float, float, float, str]) -> Sequence[dict[str, Any]]:
    """Rounds of increments, full, what was chosen, and its way."""
    return [
        {
            "chosen": {"v": run(chosen, way)},
            "incremental": {"v": run(extended)},
            "full": {"v": run(full, "text")},
        }
        for extended, full, chosen, way in seconds
    ]


@pytest.mark.parametrize(("building", "best"), [(1.0, 6.0), (3.0, 8.0), (5.0, 9.0)])
def test_states_are_built_or_left_whichever_is_cheaper_in_the_end(
    building: float, best: float
) -> None:
    """After a large change two small ones follow: by increments once the states are built, or all in full."""
    small = [(1.0, 3.0, 1.0, "incremental")] * 2
    (told,) = histories(rounds((11.0, 3.0, 3.0 + building, "rebuild"), *small))
    assert (told.building, told.best) == (building, best)


def test_increments_go_on_through_a_large_change_where_that_is_cheapest() -> None:
    (told,) = histories(rounds((4.0, 3.0, 9.0, "rebuild"), *[(1.0, 3.0, 1.0, "incremental")] * 3))
    assert told.building == 6.0
    assert told.best == 7.0
    assert told.times_of_best == pytest.approx(12.0 / 7.0)


def test_what_had_nothing_to_do_is_left_out() -> None:
    (idle,) = rounds((1.0, 3.0, 1.0, "incremental"))
    idle["chosen"] = {"v": {"choice": "unchanged"}}
    assert histories([idle]) == []
    assert times_of_best([]) == 1.0

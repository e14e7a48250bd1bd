"""What all runs of a view took beside the cheapest sequence of ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.campaigns.hindsight_cells import cells
from tests.campaigns.hindsight_sequences import by_best_sequence, histories, times_of_best


def run(seconds: float, way: str = "incremental") -> dict[str, Any]:
    choice = "incremental" if way == "incremental" else "full"
    return {"choice": choice, "way": way, "switched": False, "reasons": [], "seconds": seconds}


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


def test_what_pays_in_all_may_be_dear_where_it_is_done() -> None:
    """States are built after a large change, for 2 s more than the full run beside, and save 2 s in each run to come."""
    small = [(1.0, 3.0, 1.0, "incremental")] * 3
    played = [
        {**one, "nature": "clustered", "share": share}
        for one, share in zip(
            rounds((11.0, 3.0, 5.0, "rebuild"), *small), (0.5, 0.1, 0.1, 0.1), strict=True
        )
    ]
    found = {cell.share: cell for cell in cells(by_best_sequence(played))}
    assert found[0.5].taken["chosen"] == 5.0
    assert not found[0.5].are_runs_near
    assert found[0.1].are_runs_near
    assert found[0.1].choices == ["incremental"] * 3


def test_who_has_left_the_states_had_none_to_choose() -> None:
    small = [(1.0, 3.0, 1.0, "incremental")] * 2
    played = [
        {**one, "nature": "clustered", "share": share}
        for one, share in zip(
            rounds((11.0, 3.0, 9.0, "rebuild"), *small), (0.5, 0.1, 0.1), strict=True
        )
    ]
    told = by_best_sequence(played)
    assert [one["chosen"]["v"]["seconds"] for one in told] == [3.0, 3.0, 3.0]
    assert [one["chosen"]["v"]["reasons"] for one in told] == [[], *[["STATE_MISSING"]] * 2]


def test_what_had_nothing_to_do_is_left_out() -> None:
    (idle,) = rounds((1.0, 3.0, 1.0, "incremental"))
    idle["chosen"] = {"v": {"choice": "unchanged"}}
    assert histories([idle]) == []
    assert times_of_best([]) == 1.0

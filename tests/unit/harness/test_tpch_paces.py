"""The refreshes of a pace lie evenly among arrivals, as the table of Appendix A1 has them."""

from __future__ import annotations

import pytest

from tests.campaigns.tpch_paces import ARRIVALS, is_due, paces_of


@pytest.mark.parametrize(
    ("pace", "arrivals", "refreshed"),
    [
        (3, 6, [2, 4, 6]),
        (2, 6, [3, 6]),
        (1, 6, [6]),
        (3, 10, [4, 7, 10]),
        (2, 10, [5, 10]),
        (7, 10, [2, 3, 5, 6, 8, 9, 10]),
        (7, 7, [1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_refreshes_lie_evenly(pace: int, arrivals: int, refreshed: list[int]) -> None:
    numbers = range(1, arrivals + 1)
    assert [number for number in numbers if is_due(pace, number, arrivals)] == refreshed


def test_paces_are_drawn_for_each_view() -> None:
    views = [f"q{number}" for number in range(1, 23)]
    drawn = [paces_of("drawn", nature, views, ARRIVALS) for nature in ("clustered", "gaps")]
    assert drawn[0] != drawn[1]
    for paces in drawn:
        assert {*paces.values()} <= {*range(1, ARRIVALS + 1)}
        assert len({*paces.values()}) > 3
    assert paces_of("one", "gaps", views, ARRIVALS) == dict.fromkeys(views, 1)
    assert paces_of("each", "gaps", views, ARRIVALS) == dict.fromkeys(views, ARRIVALS)

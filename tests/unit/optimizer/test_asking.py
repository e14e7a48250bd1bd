"""When it is asked what to remember, and what pays for a join."""

from __future__ import annotations

import pytest

from slacktide.optimizer.costs import Evidence, PastRun
from slacktide.optimizer.ways.asking import dear_runs, is_asked
from slacktide.optimizer.ways.savings import pays
from slacktide.optimizer.ways.weighing import LEAST_ROWS
from tests.unit.optimizer.weighed import WORK


@pytest.mark.parametrize(
    ("times", "run", "asked"),
    [
        (0, 1, False),
        (1, 1, False),
        (2, 1, True),
        (3, 3, False),
        (8, 9, True),
        (200, 201, False),
        (200, 224, True),
    ],
)
def test_when_to_ask(times: int, run: int, asked: bool) -> None:
    assert is_asked(times, run, LEAST_ROWS) == asked
    assert not is_asked(times, run, LEAST_ROWS - 1)


@pytest.mark.parametrize(
    ("others", "asked"), [(0, [2, 4, 8, 16]), (1, [1, 2, 4, 8]), (2, [1, 2, 3, 6])]
)
def test_dear_runs_of_a_size_ask_whatever_comes_between(others: int, asked: list[int]) -> None:
    """Small changes between large ones, of which no count may ever be a power of two, are dear, too."""
    full = {"text": 1.0, "rebuild": 1.0, "incremental": 5.0}
    runs: list[PastRun] = []
    found = []
    for number in range(1, 18):
        if dear_runs(Evidence(runs, changed=9000), "p"):
            found.append(number - 1)
        sizes = [9000] + [100] * others
        runs += [PastRun(number, "text", "t", WORK, WORK, 1.0, full, changed=n) for n in sizes]
    assert found[:4] == asked


def test_what_pays() -> None:
    assert pays(0.5, 1.0, 2, 3.0)
    assert not pays(0.5, 1.1, 2, 3.0), "not earned yet"
    assert not pays(0.2, 0.0, 9, 3.0), "less than a tenth of a run"
    assert not pays(0.05, 0.0, 9, 0.1), "less than what a write costs"

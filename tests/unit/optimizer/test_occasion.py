"""When it is asked what to remember."""

from __future__ import annotations

import pytest

from slacktide.optimizer.costs import Evidence, PastRun
from slacktide.optimizer.costs.evidence import LEAST_ROWS
from slacktide.optimizer.ways.occasion import asking_runs, dear_runs, is_steady
from tests.unit.optimizer.weighed import WORK


@pytest.mark.parametrize(
    ("times", "runs", "asked"),
    [
        (0, [1], False),
        (1, [1], False),
        (1, [32, 31], False),
        (2, [2, 1], True),
        (3, [3, 2], False),
        (8, [9, 8], True),
        (200, [201, 200], False),
        (200, [224, 223], True),
        (200, [225, 223], True),
        (200, [256 + 31, 256], False),
    ],
)
def test_when_to_ask(times: int, runs: list[int], asked: bool) -> None:
    assert is_steady(times, runs) == asked


@pytest.mark.parametrize(("rows", "asking"), [(LEAST_ROWS, 2), (LEAST_ROWS - 1, 0)])
def test_small_views_are_not_asked(rows: int, asking: int) -> None:
    runs = [PastRun(number, "incremental", "p", WORK, WORK, 1.0) for number in (1, 2)]
    assert asking_runs(Evidence(runs, rows=rows), "p", lambda: 1.0, full=9.0) == asking


@pytest.mark.parametrize(
    ("others", "asked"), [(0, [2, 4, 8, 16]), (1, [1, 2, 4, 8]), (2, [1, 2, 3, 6])]
)
def test_dear_runs_of_a_size_ask_whatever_comes_between(others: int, asked: list[int]) -> None:
    """Small changes between large ones, of which no count may ever be a power of two, are dear, too."""
    full = {"text": 1.0, "rebuild": 1.0, "incremental": 5.0}
    runs: list[PastRun] = []
    found = []
    for number in range(1, 18):
        if dear_runs(Evidence(runs, rows=LEAST_ROWS, changed=9000), "p"):
            found.append(number - 1)
        sizes = [9000] + [100] * others
        runs += [PastRun(number, "text", "t", WORK, WORK, 1.0, full, changed=n) for n in sizes]
    assert found[:4] == asked

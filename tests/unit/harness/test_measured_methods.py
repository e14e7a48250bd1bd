"""What the campaign of measured methods says of what plans took."""

from __future__ import annotations

from typing import Any

import pytest

from tests.campaigns.measured_methods import plans_of, ratio, summary
from tests.campaigns.planning import SINGLE


def cell(mixed: tuple[float, int], **single: tuple[float, int]) -> dict[str, Any]:
    taken = {
        name: {"seconds": [seconds, 9.0, seconds], "rows": [rows] * 3}
        for name, (seconds, rows) in {**single, "mixed": mixed}.items()
    }
    return {"rows out": 1, "different": [], "as": {}, "taken": taken}


def test_the_mixture_is_held_against_the_least_of_each_kind() -> None:
    found = cell((1.1, 90), full=(2.0, 80), touched=(1.0, 100))
    assert ratio(found, "seconds") == pytest.approx(1.1)
    assert ratio(found, "rows") == pytest.approx(90 / 80)


def test_a_mixture_that_is_a_single_method_is_held_against_the_others() -> None:
    found = cell((9.0, 9), full=(2.0, 80), touched=(1.0, 100))
    del found["taken"]["mixed"]
    found["as"] = {"mixed": "full"}
    assert ratio(found, "seconds") == pytest.approx(2.0)
    assert ratio(found, "rows") == 1.0


def test_a_cell_holds_beside_the_method_that_takes_the_least_cpu() -> None:
    cells = {
        "good": cell((1.1, 84), full=(1.0, 80)),
        "slow": cell((1.3, 80), full=(1.0, 80)),
        "wide": cell((1.0, 99), full=(1.0, 80)),
        "apart": cell((1.0, 80), full=(1.0, 80), touched=(2.0, 50)),
    }
    found = summary(cells)
    assert (found["hold"], found["hold in each"]) == (0.5, 0.25)
    assert [*found["do not"]] == ["slow", "wide"]
    assert found["do not in each"] == {"apart": 1.6}
    assert (found["different"], found["empty"]) == ([], [])
    wrong = cell((1.0, 80), full=(1.0, 80)) | {"different": ["mixed"], "rows out": 0}
    told = summary({"wrong": wrong})
    assert (told["different"], told["empty"]) == (["wrong"], ["wrong"])


def test_methods_with_the_same_programs_are_run_once() -> None:
    plans, same = plans_of("q1", "delta-small")
    assert {*plans, *same} == {*SINGLE, "mixed"}
    assert {*plans} == {"full", "IM-1"}
    assert {*same.values()} == {"IM-1"}
    assert all({*programs} == {1, 2} for programs in plans.values())

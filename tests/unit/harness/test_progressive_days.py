"""The campaign of progressive days plans a period as the engine does."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from tests.campaigns.progressive_days import REACHES, SCALES, SHARES, Day, cell, line
from tests.harness.planner.tpch_views import TPCH

pytestmark = pytest.mark.unit
FOUND = Path(__file__).parents[2] / "campaigns" / "progressive_days.json"


def test_what_half_of_the_rows_brings_early_is_worth_storing() -> None:
    found = cell(Day(0.5, 0.1, 0.02), views=("q6", "q11", "q12", "q22"))
    assert set(found["views"]) == {"q6", "q12", "q22"}, "q11 reads neither table"
    filtered = found["views"]["q6"]
    assert filtered["planned"] < 0.9 * filtered["waiting"]
    assert all(costs["planned"] <= costs["waiting"] for costs in found["views"].values())
    assert line(found).startswith("scale 1, 50%, 10%, reach 0.02: ")


def test_the_campaign_held_what_the_record_says() -> None:
    """ADR 13: no period is expected to cost more than waiting, and keys that reach less make less work."""
    cells = json.loads(FOUND.read_text())["cells"]
    days = [Day(c["early"], c["later"], c["reach"], c["scale"]) for c in cells]
    assert days == [
        Day(early, later, reach, scale)
        for scale, reach, (early, later) in product(SCALES, REACHES, SHARES)
    ]
    for found in cells:
        assert set(found["views"]) <= set(TPCH.queries)
        assert len(found["views"]) == 15, "nothing is stored of a LIMIT"
        for costs in found["views"].values():
            assert costs["planned"] <= costs["waiting"]
        assert sum(c["planned"] < c["waiting"] for c in found["views"].values()) >= 3

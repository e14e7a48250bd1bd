"""The command that measures."""

from __future__ import annotations

import pytest

from slacktide.spark.measures import probes
from tests.unit.cli.conftest import Program

pytestmark = pytest.mark.spark


def test_prints_what_work_costs(shop: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "ROWS", 60_000)
    monkeypatch.setattr(probes, "TIMES", 1)
    assert "calibrated" not in shop("status").out
    assert "a million rows read" in shop("calibrate").out
    assert shop("calibrate", "--json").document["cores"] >= 1
    assert "calibrated on Spark" in shop("status").out

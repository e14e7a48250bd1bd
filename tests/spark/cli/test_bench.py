"""The bench: pairs of refreshes and batch runs, all answers compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Program

pytestmark = pytest.mark.spark


def test_it_measures_pairs(program: Program, tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    options = ("--nature", "clustered", "--share", "0.02", "--arrivals", "2", "--views", "q1,q6")
    ran = program("bench", "--scale", "0.002", *options, "--out", str(out))
    assert (ran.code, ran.err) == (0, "")
    assert "clustered, 2.00% of the rows, 2 arrivals" in ran.out
    assert "rows read at most a tenth of batch: 2 of 2 views" in ran.out
    found = json.loads(out.read_text())
    assert [cell["order"][0] for cell in found["cells"]] == ["batch", "slacktide"]
    for cell in found["cells"]:
        assert cell["different"] == []
        for name in ("q1", "q6"):
            mine, batch = (cell[side]["views"][name] for side in ("slacktide", "batch"))
            assert mine["method"] == "incremental"
            assert 0 < mine["rows_read"] < batch["rows_read"] / 10
            assert min(mine["jobs"], mine["stages"], batch["jobs"], batch["stages"]) >= 1
            assert cell["batch"]["java_cpu_seconds"] >= batch["cpu_seconds"] > 0

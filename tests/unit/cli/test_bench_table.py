"""What the tables of the bench say of each view."""

from __future__ import annotations

from typing import Any

from slacktide.cli.bench_table import rows


def _cost(**figures: Any) -> dict[str, Any]:
    return {"rows_read": 0, "cpu_seconds": 1.0, "jobs": 1, "stages": 1, "writes": 1, **figures}


def test_increments_that_read_half_of_the_rows_are_not_called_incremental() -> None:
    mine = {
        "few": _cost(method="incremental", rows_read=499),
        "many": _cost(method="incremental", rows_read=500),
        "none": {"method": "unchanged"},
        "all": _cost(method="full", rows_read=1000),
    }
    batch = {name: _cost(rows_read=1000) for name in mine}
    cell = {"slacktide": {"views": mine}, "batch": {"views": batch}, "different": ["few"]}
    assert [line[:2] for line in rows([cell])] == [
        ("few", "incremental DIFFERENT"),
        ("many", "touched keys"),
        ("none", "unchanged"),
        ("all", "full"),
    ]

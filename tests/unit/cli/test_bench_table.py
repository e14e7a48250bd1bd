"""What the tables of the bench say of each view."""

from __future__ import annotations

from typing import Any

from slacktide.cli.bench_table import rows, whole


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


def test_the_whole_holds_what_belongs_to_no_view() -> None:
    side = {
        "views": {"a": _cost(jobs=2), "b": _cost(jobs=3)},
        "mirrors": {"t": _cost(jobs=5)},
        "compactions": {"states/x": _cost(jobs=7)},
        "asked": _cost(jobs=11),
    }
    cells = [{"slacktide": side}, {"slacktide": {"views": {"a": _cost(jobs=13)}}}]
    assert whole(cells, "slacktide")["jobs"] == 2 + 3 + 5 + 7 + 11 + 13

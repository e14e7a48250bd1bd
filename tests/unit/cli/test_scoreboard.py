"""The table at the end of the demo."""

from __future__ import annotations

import pytest

from slacktide.cli.scoreboard import Scoreboard


def report(method: str, rows: int | None = None, cpu: float | None = None, *reasons: str) -> dict:
    actual = {"rows_read": rows, "cpu_seconds": cpu} if method != "unchanged" else {}
    views = {"v": {"method": method, "reasons": list(reasons), "actual": actual}}
    return {"views": views, "mirrors": {}}


def checked(rows: int | None, cpu: float | None, *, equal: bool = True) -> dict:
    batch = {"rows_read": rows, "cpu_seconds": cpu}
    return {"views": {"v": {"equal": equal, "batch": batch}}}


def test_arrivals_are_added_up() -> None:
    board = Scoreboard()
    board.add([report("incremental", 10, 0.5)], checked(1000, 1.0))
    board.add([report("full", 1000, 1.0, "CHANGE_TOO_LARGE(12%)")], checked(1000, 1.0))
    score = board.to_dict()["views"]["v"]
    assert score["methods"] == {"incremental": 1, "full": 1}
    assert (score["rows_read"], score["rows_read_full"]) == (1010, 2000)
    assert (score["cpu_seconds"], score["cpu_seconds_full"]) == (1.5, 2.0)
    assert score["reasons"] == ["CHANGE_TOO_LARGE(12%)"]
    assert board.equal


def test_an_unchanged_view_costs_nothing() -> None:
    board = Scoreboard()
    board.add([report("unchanged", None, None, "NO_CHANGE")], checked(1000, 1.0))
    score = board.to_dict()["views"]["v"]
    assert (score["rows_read"], score["rows_read_full"], score["reasons"]) == (0, 1000, [])


def test_mirrors_cost_besides_the_views(capsys: pytest.CaptureFixture[str]) -> None:
    board = Scoreboard()
    mirror = {"piece": "base", "actual": {"rows_read": 7000, "cpu_seconds": 0.75}}
    for _ in range(2):
        made = report("incremental", 10, 0.5)
        board.add([{**made, "mirrors": {"t": mirror}}], checked(1000, 1.0))
    assert board.to_dict()["mirrors"] == {"rows_read": 14000, "cpu_seconds": 1.5}
    assert board.to_dict()["views"]["v"]["rows_read"] == 20, "no view is charged for what it shares"
    board.show()
    assert "14,000 rows read, CPU 1.5 s" in capsys.readouterr().out


def test_what_is_unknown_once_stays_unknown() -> None:
    board = Scoreboard()
    board.add([report("incremental", None, 0.5)], checked(1000, 1.0))
    board.add([report("incremental", 10, 0.5)], checked(1000, 1.0))
    assert board.to_dict()["views"]["v"]["rows_read"] is None


def test_one_difference_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    board = Scoreboard()
    board.add([report("incremental", 10, 0.5)], checked(1000, 1.0, equal=False))
    board.add([report("incremental", 10, 0.5)], checked(1000, 1.0))
    assert not board.equal
    board.show()
    assert " NO " in capsys.readouterr().out


def test_a_board_without_views_proves_nothing() -> None:
    assert not Scoreboard().equal


@pytest.mark.parametrize(
    ("rows", "full", "shown"),
    [(5, 1000, "0.5% of 1,000"), (600, 1000, "60% of 1,000"), (7, 0, "7"), (None, 9, "unknown")],
)
def test_shares_are_shown(
    rows: int | None, full: int, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    board = Scoreboard()
    board.add([report("incremental", rows, 1.0)], checked(full, 1.0))
    board.show()
    assert shown in capsys.readouterr().out

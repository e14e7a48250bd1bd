"""What is printed of the reports of runs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from slacktide import store as s
from slacktide.cli.cycle import show_report
from slacktide.engine.reports import MirrorReport, Report, ViewReport
from tests.unit.cli.conftest import Program

if TYPE_CHECKING:
    import pytest

MIRROR = MirrorReport("base", 3, 1200, 4096, {"rows_read": 1300, "cpu_seconds": 0.5})
VIEW = ViewReport("incremental", actual={"rows_read": 20, "rows_out": 2, "cpu_seconds": 0.25})
REPORT = Report(1, "p", {"t": 3}, "", "2026-01-01T00:00:00Z", {"v": VIEW}, mirrors={"t": MIRROR})


def test_a_refresh_tells_of_its_mirrors(capsys: pytest.CaptureFixture[str]) -> None:
    show_report(REPORT.to_dict())
    out = " ".join(capsys.readouterr().out.split())
    assert "mirror of t: its current rows are written, 1,200 rows" in out
    assert "1,300 rows read, 0.5 CPU s" in out


def test_history_tells_of_mirrors_beside_views(shop: Program) -> None:
    store = s.Store.open(str(shop.root), clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    older = {key: part for key, part in REPORT.to_dict().items() if key != "mirrors"}
    store.commit([s.RecordRun(1, "p", {**older, "run": 1}), s.RecordRun(2, "q", REPORT.to_dict())])
    newest, oldest = shop("history", "--json").document["runs"]
    assert newest["mirrors"]["t"]["actual"]["rows_read"] == 1300
    assert oldest["mirrors"] == {}
    assert "1300" in shop("history").out.replace(",", "")

"""Reports are read when they are looked at."""

from __future__ import annotations

from typing import Any

from slacktide.engine.reports import History, Report


def test_a_report_is_read_when_it_is_looked_at() -> None:
    read: list[int] = []

    def report(run: int) -> dict[str, Any]:
        read.append(run)
        return Report(run, f"p{run}", {}, "", "", {}).to_dict()

    history = History(range(1, 10_001), report)
    newest = history[-3:]
    assert (len(history), len(newest), read) == (10_000, 3, [])
    assert [found.run for found in reversed(newest)] == [10_000, 9_999, 9_998]
    assert history[0].run == 1
    assert read == [10_000, 9_999, 9_998, 1]

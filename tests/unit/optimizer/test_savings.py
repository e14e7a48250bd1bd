"""What pays for a join."""

from __future__ import annotations

from slacktide.optimizer.ways.savings import pays


def test_what_pays() -> None:
    assert pays(0.5, 1.0, 2, 3.0)
    assert not pays(0.5, 1.1, 2, 3.0), "not earned yet"
    assert not pays(0.2, 0.0, 9, 3.0), "less than a tenth of a run"
    assert not pays(0.05, 0.0, 9, 0.1), "less than what a write costs"

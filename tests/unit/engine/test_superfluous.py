"""A plan for which nothing is left to do when it is executed."""

from __future__ import annotations

from pathlib import Path

from tests.harness.priced import Priced
from tests.unit.optimizer.views import SUMMED, view


def test_what_others_made_superfluous_is_committed(tmp_path: Path) -> None:
    """Whoever waits for the report of the plan finds one."""
    priced = Priced(tmp_path, view(SUMMED), {"orders": 10, "lines": 10})
    late = priced.ws.plan()
    assert not late.is_empty
    priced.run(lambda _: 1.0)
    report = priced.ws.count(late)
    assert report.run == 2
    assert priced.ws.report(late.plan_id) == report
    assert {told.method for told in report.views.values()} == {"unchanged"}
    assert priced.ws.count(late).run == 2

"""A plan is executed where it was made, and as it was made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slacktide.engine.plan import Plan
from slacktide.engine.workspace import Workspace
from slacktide.errors import InvalidSettingError, NewerFormatError
from slacktide.optimizer.plan import ViewPlan
from tests.harness.priced import Priced
from tests.unit.optimizer.views import SUMMED, view

pytestmark = pytest.mark.unit

MADE = Plan("2026-01-02T00:00:00Z", (), {"s": 1}, (), {"s": 1}, workspace="here")


def read_again(plan: Plan, **edited: object) -> Plan:
    return Plan.from_dict(json.loads(json.dumps({**plan.to_dict(), **edited})))


def test_what_is_written_is_read() -> None:
    assert read_again(MADE) == MADE
    assert read_again(MADE).plan_id == MADE.plan_id


@pytest.mark.parametrize("again", [None, "0" * 64])
@pytest.mark.parametrize(
    "edited",
    [
        {"now": "2027"},
        {"mirrors": {"s": 2}},
        {"views": []},
        {"workspace": ""},
        {"more": 1},
        {"plan_id": "1" * 64},
        {"identity": "1" * 64},
        {"identity": "1" * 64, "plan_id": "1" * 64},
    ],
)
def test_an_edited_plan_is_refused(edited: dict[str, object], again: str | None) -> None:
    """With the id of a plan that was executed, it would seem to be done."""
    view = ViewPlan("v", "unchanged", (), None, {}, {"s": 1}, 3)
    plan = Plan(MADE.now, (view,), {"s": 1}, (), {"s": 1}, workspace="here", identity=again)
    assert read_again(plan) == plan
    named = edited.get("plan_id", plan.plan_id)
    with pytest.raises(InvalidSettingError, match=f"plan {named} is not as it was made"):
        read_again(plan, **edited)


@pytest.mark.parametrize("other", [1, 3, None])
def test_another_format_is_refused_first(other: object) -> None:
    with pytest.raises(NewerFormatError, match=f"has format {other}"):
        read_again(MADE, format=other)


def test_a_plan_of_another_workspace_is_refused(tmp_path: Path) -> None:
    here, there = (Workspace.create(str(tmp_path / name)) for name in ("here", "there"))
    plan = here.plan()
    assert here.count(plan).run is None
    with pytest.raises(InvalidSettingError, match="made for another workspace") as refused:
        there.count(plan)
    assert "slacktide plan" in str(refused.value)


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

"""Plans that waited while others went on: what they would set back, and what they still may do."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from slacktide import store as s
from slacktide.algebra.view import ReadView
from slacktide.common.chain_ids import is_state
from slacktide.common.reasons import Reason
from slacktide.engine.answers.instants import newest_instant
from slacktide.engine.plan import Declared, Registration
from slacktide.engine.planning.plan_making import make_plan
from slacktide.engine.planning.staleness import again, stale, still_due
from slacktide.engine.telling.arrivals import arrivals_of
from slacktide.errors import InvalidSettingError
from slacktide.optimizer.compaction import PRICES
from slacktide.store.record import RunRecord
from tests.unit.engine import test_apart
from tests.unit.engine.test_planning import NOW, view, world

LATER = "2026-01-02T00:00:00.000000Z"


def test_a_state_that_another_run_has_brought_further_is_not_set_back() -> None:
    """The plan builds it, at versions behind which it is now."""
    there = test_apart.world(test_apart.EXACT, 1)
    states = [chain for chain in there.chains.values() if is_state(chain.id)]
    lost = s.fold(there, [(2, [s.DropChain(chain.id) for chain in states])])
    plan = make_plan(lost, now=NOW)
    assert plan.views[0].chains_written == {chain.id for chain in states}
    assert stale(lost, plan) == ""
    built = [s.SetChain(s.Chain(one.id, (), s.Segment(2, (), 10, 100, {"a": 2}))) for one in states]
    assert stale(s.fold(lost, [(3, built)]), plan) == ""
    pin = s.PinnedFile("/in/a/2", 1, "m")
    more = s.AcceptArrivals("a", [s.Arrival((pin,), 1, 1, NOW, 0)])
    ahead = [s.SetChain(s.Chain(one.id, (), s.Segment(3, (), 10, 100, {"a": 3}))) for one in states]
    assert stale(s.fold(lost, [(3, [more, *ahead])]), plan).endswith(", which is ahead")


def test_views_that_a_run_only_registers_do_not_begin_behind_others() -> None:
    coming = Declared(register=(Registration("new", "SELECT 1", {}),))
    before = world(*view("v", at=2), arrivals=3)
    plan = make_plan(before, now=NOW, views=[], declared=coming)
    assert stale(before, plan) == ""
    assert stale(world(*view("v", at=3), arrivals=3), plan) == ""
    after = world(*view("v", at=4), arrivals=4)
    moved = stale(after, plan)
    assert moved
    fresh = again(after, plan, moved, PRICES)
    assert (fresh.versions, fresh.register, fresh.plan_id) == (
        {"t": 4},
        plan.register,
        plan.plan_id,
    )


def test_a_source_that_is_held_by_now_is_not_taken_in_further() -> None:
    before = world(*view("v", at=2), arrivals=5)
    plan = make_plan(before, now=NOW)
    assert plan.views[0].end == {"t": 5}
    held = s.fold(before, [(before.number + 1, [s.HoldSource("t", held=True)])])
    assert stale(held, plan) == "source t, which is held"
    assert again(held, plan, "source t, which is held", PRICES).views[0].program is None


def test_views_may_stay_behind_others_for_good() -> None:
    """Where nothing more of a source is taken in, a plan that is made again would go no further."""
    coming = Declared(register=(Registration("new", "SELECT 1", {}),))
    ahead = [*view("v", at=5), s.PauseView("v", paused=True), *view("w", at=2)]
    there = world(*ahead, s.HoldSource("t", held=True))
    plan = make_plan(there, now=NOW, declared=coming)
    assert (plan.versions, stale(there, plan)) == ({"t": 2}, "")
    limited = world(*ahead, max_backlog=1)
    plan = make_plan(limited, now=NOW, declared=coming)
    assert (plan.versions, stale(limited, plan)) == ({"t": 3}, "")


def test_a_mirror_is_not_set_back() -> None:
    """By a plan that waited, while others wrote it anew past where the plan goes."""
    base, more = s.Segment(6, (), 120, 10, {"t": 4}), s.Segment(7, (), 40, 10, {"t": 5})
    there = world(s.SetChain(s.Chain("sources/t", (), base, (more,))))
    assert still_due(there, {"t": 3}) == still_due(there, {"t": 4}) == {}
    assert still_due(there, {"t": 5}) == {"t": 5}


def test_answers_of_an_instant_do_not_go_back_to_an_earlier_one() -> None:
    plan = make_plan(world(*view("v", at=2)), now=NOW)
    there = world(*view("v", at=3))
    assert again(there, plan, "view v", PRICES, LATER).now == LATER
    assert again(there, plan, "view v", PRICES).now == NOW
    late = make_plan(there, now=LATER)
    assert again(there, late, "view v", PRICES, NOW).now == LATER


def clocked(name: str, run: int) -> list[s.Update]:
    """A view that asks for the time, with an answer of a run."""
    reasons = (Reason("CLOCK", "now"),)
    definition = ReadView(None, (), sources=("t",), clock=True, reasons=reasons).to_dict()
    added = s.AddView(name, "SELECT now()", {}, {}, definition)
    return [added, s.AdvanceView(name, {"t": 2}, run)]


def test_the_newest_instant_is_that_of_views_that_ask_for_the_time() -> None:
    views = [*view("v", at=2, run=3), *clocked("early", 1), *clocked("late", 2), *clocked("old", 9)]
    runs = {number: RunRecord(number, f"p{number}", {}, number) for number in (1, 2, 3)}
    there = replace(world(*views), runs=runs)
    plans = {"p1": {"now": NOW}, "p2": {"now": LATER}, "p3": {"now": "2027"}}
    store: Any = SimpleNamespace(get_plan=plans.get)
    assert newest_instant(store, there, ["v", "early", "old", "gone"]) == NOW
    assert newest_instant(store, there, ["early", "late"]) == LATER
    assert newest_instant(store, there, ["v"]) == ""


def test_arrivals_say_which_files_no_run_reads_any_more() -> None:
    base = s.Segment(1, (), 100, 10, {"t": 2})
    there = world(s.SetChain(s.Chain("sources/t", (), base)), *view("v", at=3))
    told = [(one["version"], one["needed"]) for one in arrivals_of(there, "t", 4)]
    assert told == [(5, True), (4, True), (3, True), (2, False)]
    with pytest.raises(InvalidSettingError, match="limit is 0"):
        arrivals_of(there, "t", 0)


def test_the_source_of_a_former_text_may_be_gone() -> None:
    """Its answer stays readable, and names versions of a source that nobody has any more."""
    base, more = (s.Segment(n, (), 10, 100, {"gone": n}) for n in (1, 2))
    kept = [
        s.SetChain(s.Chain(f"{kind}/v@2", (), base, (more,), origin=1))
        for kind in ("views", "changes")
    ]
    there = world(*view("v", at=5), *kept, *clocked("w", 1))
    assert [one.view for one in make_plan(there, now=NOW).views] == ["v", "w"]

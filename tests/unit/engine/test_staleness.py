"""Plans that waited while others went on: what they would set back, and what they still may do."""

from __future__ import annotations

from slacktide import store as s
from slacktide.algebra.view import ReadView
from slacktide.common.chain_ids import is_state
from slacktide.common.reasons import Reason
from slacktide.engine.plan import Declared, Registration
from slacktide.engine.planning.plan_making import make_plan
from slacktide.engine.planning.staleness import again, stale
from slacktide.optimizer.compaction import PRICES
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


def test_answers_of_an_instant_do_not_go_back_to_an_earlier_one() -> None:
    plan = make_plan(world(*view("v", at=2)), now=NOW)
    there = world(*view("v", at=3))
    assert again(there, plan, "view v", PRICES, LATER).now == LATER
    assert again(there, plan, "view v", PRICES).now == NOW
    late = make_plan(there, now=LATER)
    assert again(there, late, "view v", PRICES, NOW).now == LATER


def test_the_source_of_a_former_text_may_be_gone() -> None:
    """Its answer stays readable, and names versions of a source that nobody has any more."""
    base, more = (s.Segment(n, (), 10, 100, {"gone": n}) for n in (1, 2))
    kept = [
        s.SetChain(s.Chain(f"{kind}/v@2", (), base, (more,), origin=1))
        for kind in ("views", "changes")
    ]
    clocked = ReadView(
        None, (), sources=("t",), clock=True, reasons=(Reason("CLOCK", "now"),)
    ).to_dict()
    added = s.AddView("w", "SELECT now()", {}, {}, clocked)
    there = world(*view("v", at=5), *kept, added)
    assert [one.view for one in make_plan(there, now=NOW).views] == ["v", "w"]

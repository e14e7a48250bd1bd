"""States that no view keeps any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from slacktide import store as s
from slacktide.common.chain_ids import state_id
from slacktide.common.clock import system_clock
from slacktide.engine.definitions.forgetting import forget_states

pytestmark = pytest.mark.unit
STATE = state_id("ab" * 16)


def test_a_state_that_two_views_leave_at_once_is_dropped_by_the_next_writer(tmp_path: Path) -> None:
    store = s.Store.create(str(tmp_path), settings={}, clock=system_clock)
    column = {"name": "a", "type": "INT", "nullable": True}
    store.commit([s.AddSource("t", "files", {"path": "/t"}, (column,))])
    for name in ("one", "other", "third"):
        definition = {"sources": ["t"], "views": []}
        states = () if name == "third" else (STATE,)
        store.commit([s.AddView(name, "SELECT a FROM t", {}, {}, definition, (), states)])
    store.commit([s.SetChain(s.Chain(STATE, (), s.Segment(1, (), 10, 100, {"t": 0})))])
    world = store.world()
    assert forget_states(world, {"one": ()}) == forget_states(world, {"other": ()}) == []
    store.commit([s.DropView("one"), s.DropView("other")])
    assert forget_states(store.world(), {"third": ()}) == [s.DropChain(STATE)]

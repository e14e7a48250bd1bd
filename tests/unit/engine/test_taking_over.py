"""Another engine takes over a log in which others go on meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from slacktide import store as s
from slacktide.common.chain_ids import answer_id, mirror_id, state_id
from slacktide.engine.running.taking_over import taken_over
from slacktide.errors import InvariantError
from tests.harness.objects import TickingClock, segment

OLD, NEW = "Spark 3 on Java 11", "Spark 4 on Java 17"
STATE, MIRROR, ANSWER = state_id("x"), mirror_id("orders"), answer_id("answered")
ADVANCED = s.AdvanceView("answered", {"orders": 1}, 1)


def opened(root: str) -> s.Store:
    """A workspace as a process of its own sees it."""
    return s.Store.open(root, clock=TickingClock())


@pytest.fixture
def root(tmp_path: Path) -> str:
    """A workspace in which one view has an answer, by the old engine, and another has none."""
    address = str(tmp_path / "workspace")
    chains = [s.SetChain(s.Chain(one, (), segment(1))) for one in (STATE, MIRROR, ANSWER)]
    views = [
        s.AddView(name, "SELECT 1", {}, {}, {}, states=(STATE,)) for name in ("answered", "new")
    ]
    store = s.Store.create(address, settings={}, clock=TickingClock())
    store.commit([s.NoteEngine(OLD), s.AddSource("orders", "files", {}, ()), *views, *chains])
    store.commit([ADVANCED, s.RecordRun(1, "p", {})])
    return address


def test_answers_are_doubted_and_states_go(root: str) -> None:
    store = opened(root)
    before = store.world()
    after = taken_over(store, before, NEW)
    assert after.engine == NEW
    assert (after.views["answered"].versions, after.views["answered"].outlived) == (None, OLD)
    assert after.views["new"] == before.views["new"]
    assert after.chains == {one: before.chains[one] for one in (MIRROR, ANSWER)}
    assert taken_over(store, after, NEW) is after


@pytest.mark.parametrize(
    "entry",
    [
        [s.RecordRun(2, "q", {})],
        [s.DropChain(STATE)],
        [s.AdvanceView("new", {"orders": 1}, 2), s.RecordRun(2, "q", {})],
        [s.DropView("answered")],
        [s.NoteEngine("Spark 5 on Java 25")],
    ],
    ids=["run", "state", "answer", "view", "engine"],
)
def test_what_others_have_written_meanwhile_is_looked_at(root: str, entry: list[s.Update]) -> None:
    store = opened(root)
    seen = store.world()
    opened(root).commit(entry)
    after = taken_over(store, seen, NEW)
    assert (after.engine, STATE in after.chains) == (NEW, False)
    former = entry[0].engine if isinstance(entry[0], s.NoteEngine) else OLD
    told = {view.name: (view.versions, view.outlived) for view in after.views.values()}
    answered = {"answered", "new"} if isinstance(entry[0], s.AdvanceView) else {"answered"}
    assert told == {name: (None, former if name in answered else "") for name in told}


def test_where_no_engine_was_noted_nothing_is_doubted(root: str) -> None:
    store = opened(root)
    store.commit([s.NoteEngine("")])
    after = taken_over(store, store.world(), NEW)
    assert (after.engine, after.views["answered"].versions) == (NEW, {"orders": 1})
    assert STATE in after.chains


def test_a_view_restated_meanwhile_is_still_made_anew(root: str) -> None:
    store = opened(root)
    taken_over(store, store.world(), NEW)
    store.commit([s.RestateView("answered", "SELECT 1 + 0", {}, {}, {}, states=(STATE,))])
    assert store.world().views["answered"].outlived == OLD


@pytest.mark.parametrize("doubt", [s.DoubtAnswer("answered"), s.DoubtAnswer("answered", "k", OLD)])
def test_an_answer_is_doubted_for_one_reason(root: str, doubt: s.DoubtAnswer) -> None:
    with pytest.raises(InvariantError, match="for no reason, or two"):
        opened(root).commit([doubt])

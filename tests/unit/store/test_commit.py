"""Commits: one winner per number, nothing lost, conflicts only where they matter."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import get_args

import pytest

from slacktide import store as s
from slacktide.common.clock import system_clock
from slacktide.errors import CommitConflictError, InvariantError, StorageError
from slacktide.store.checkpoint import EVERY
from slacktide.store.entry import entry_key
from tests.harness.objects import FaultyObjects, Killed, TickingClock, arrival, lost, segment

Reopen = Callable[[], s.Store]
MINE = "mine"
ORDERS = s.AddSource("orders", "files", {}, ())
VIEW = s.AddView("q1", "SELECT 1", {}, {}, {})
PRICE = s.FunctionRecord("price", "m:price", "INT", {})
FUNCTION = s.AddFunction(PRICE)
CHAIN = s.SetChain(s.Chain("states/x", (), segment(1)))


def test_numbers_follow_each_other(store: s.Store, reopen: Reopen) -> None:
    assert [store.commit([ORDERS]), store.commit([VIEW]), reopen().commit([CHAIN])] == [1, 2, 3]
    world = store.world()
    assert (world.number, set(world.sources), set(world.views)) == (3, {"orders"}, {"q1"})
    assert world == reopen().world()


def test_what_is_in_memory_is_what_was_written(store: s.Store, reopen: Reopen) -> None:
    arguments = {"options": ("a", "b"), "nested": {"x": [1, (2,)]}}
    store.commit([s.AddSource("orders", "files", arguments, ())])
    arguments["nested"] = {}
    kept = store.world().sources["orders"].arguments
    assert kept == {"options": ["a", "b"], "nested": {"x": [1, [2]]}}
    assert kept == reopen().world().sources["orders"].arguments


@pytest.mark.parametrize("bad", [object(), float("nan"), {1: "x"}, b"x"])
def test_what_json_cannot_hold_is_refused(store: s.Store, bad: object) -> None:
    with pytest.raises(InvariantError):
        store.commit([s.AddSource("orders", "files", {"x": bad}, ())])
    assert store.world().number == 0


def test_an_update_that_does_not_fit_writes_nothing(store: s.Store, objects: s.Objects) -> None:
    with pytest.raises(InvariantError, match="states/x"):
        store.commit([ORDERS, s.ExtendChain("states/x", segment(1))])
    assert objects.get(entry_key(1)) is None
    assert store.commit([ORDERS]) == 1


def test_an_update_that_another_writer_made_impossible_is_a_conflict(
    store: s.Store, reopen: Reopen
) -> None:
    store.commit([CHAIN])
    reopen().commit([s.DropChain("states/x")])
    with pytest.raises(CommitConflictError, match="states/x"):
        store.commit([s.ExtendChain("states/x", segment(2))])


def test_without_updates_only_the_requirements_are_checked(store: s.Store) -> None:
    store.commit([CHAIN])
    assert store.commit([], [s.ChainIs("states/x", 1)]) == 1
    with pytest.raises(CommitConflictError):
        store.commit([], [s.ChainIs("states/x", 7)])


BROKEN: list[tuple[s.Requirement, s.Update, str]] = [
    (s.NameFree("source", "q9"), s.AddView("Q9", "", {}, {}, {}), "taken by view Q9"),
    (s.NameFree("view", "Fresh"), s.AddSource("fresh", "files", {}, ()), "taken by source fresh"),
    (
        s.NameFree("function", "PRICE2"),
        s.AddFunction(s.FunctionRecord("price2", "m:f", "INT", {})),
        "taken by function price2",
    ),
    (s.SourceIs("orders", 1), s.ResetSource("orders"), "source orders was changed by entry 2"),
    (s.SourceIs("orders", 1), s.DropSource("orders"), "source orders is gone"),
    (
        s.SourceArrivals("orders", 0),
        s.AcceptArrivals("orders", [arrival("a")]),
        "source orders has 1 arrivals now",
    ),
    (s.SourceArrivals("orders", 0), s.DropSource("orders"), "source orders is gone"),
    (s.SkippedAre("orders", ()), s.DropSource("orders"), "source orders is gone"),
    (s.ViewIs("q1", 1), s.AdvanceView("q1", {}, 1), "view q1 was changed by entry 2"),
    (s.ViewIs("q1", 1), s.ReplaceView("q1", "", {}, {}, {}), "view q1 was changed by entry 2"),
    (s.ViewIs("q1", 1), s.DropView("q1"), "view q1 is gone"),
    (s.ViewIs("q2", None), s.AddView("q2", "", {}, {}, {}), "view q2 was made by entry 2"),
    (
        s.DefinedBy("source", "orders", 1),
        s.AlterSource("orders", {}, ({"name": "a", "type": "INT"}, {"name": "b", "type": "INT"})),
        "source orders was changed by entry 2",
    ),
    (
        s.DefinedBy("view", "q1", 1),
        s.ReplaceView("q1", "", {}, {}, {}),
        "view q1 was changed by entry 2",
    ),
    (s.NonePlaced(1), s.AddSource("other", "files", {}, ()), "source other was defined"),
    (
        s.NonePlaced(1, read=False),
        s.AddSource("other", "files", {"quarantine": "/bad"}, ()),
        "source other was defined",
    ),
    (
        s.NonePlaced(1),
        s.AddView("q2", "", {"sink": {"parquet": "/x"}}, {}, {}),
        "the sink of view q2 was defined",
    ),
    (
        s.ReadersAre("orders", ()),
        s.AddView("q2", "", {}, {}, {"sources": ["orders"]}),
        "orders is read by q2",
    ),
    (s.ChainIs("states/x", 1), s.ExtendChain("states/x", segment(2)), "changed by entry 2"),
    (s.ChainIs("states/x", 1), s.DropChain("states/x"), "chain states/x is gone"),
    (
        s.ChainIs("states/y", None),
        s.SetChain(s.Chain("states/y", (), None)),
        "chain states/y was made by entry 2",
    ),
    (
        s.ForeignKeyIs("r", None),
        s.NoteForeignKeys((s.ForeignKeyRecord("r", "orders", ("b",), "orders", ("a",), {}),)),
        "foreign key r was made by entry 2",
    ),
    (
        s.EngineIs(""),
        s.NoteEngine("Spark 9 on Java 99"),
        "Spark 9 on Java 99 has taken the place of what made no answer yet",
    ),
    (s.PlanOpen("p"), s.RecordRun(1, "p", {}), "plan p was committed as run 1"),
    (s.RunFree(1), s.RecordRun(1, "p", {}), "run 1 was committed by another writer"),
    (s.FunctionIs(PRICE), s.DropFunction("price"), "function price is gone"),
    (
        s.Uncalled("price"),
        s.AddView("q2", "SELECT `PRICE` (a) FROM orders", {}, {}, {}),
        "function price is called by q2",
    ),
    (
        s.Uncalled("price"),
        s.AddView("q2", "SELECT IDENTIFIER('pri' || 'ce')(a) FROM orders", {}, {}, {}),
        "function price is called by q2",
    ),
    (s.NotCollected(0), s.Collect(1), "the run began at entry 0, and a collection has passed that"),
]


def test_every_requirement_is_broken_here() -> None:
    assert {type(case[0]) for case in BROKEN} == set(get_args(s.Requirement))


@pytest.mark.parametrize(("requirement", "update", "reason"), BROKEN)
def test_a_requirement_that_another_writer_broke_is_named(
    store: s.Store, reopen: Reopen, requirement: s.Requirement, update: s.Update, reason: str
) -> None:
    store.commit([ORDERS, VIEW, FUNCTION, CHAIN], [])
    unused = [s.SetChain(s.Chain("states/new", (), None))]
    assert store.commit([], [requirement]) == 1, "it held before"
    reopen().commit([update])
    with pytest.raises(CommitConflictError, match=reason) as caught:
        store.commit(unused, [requirement])
    assert caught.value.message.startswith("nothing is committed, as meanwhile ")
    assert type(requirement).__name__ not in caught.value.message
    assert store.world().number == 2


HARMLESS: list[s.Update] = [
    s.AcceptArrivals("orders", [arrival("a")]),
    s.HoldSource("orders", held=True),
    s.MarkComplete("orders", "d"),
    s.PauseView("q1", paused=True),
    s.AddView("q2", "", {}, {}, {}),
    s.SetChain(s.Chain("states/other", (), None)),
    s.RecordRun(9, "other", {}),
    s.Collect(1),
]


@pytest.mark.parametrize("update", HARMLESS, ids=lambda update: type(update).__name__)
def test_what_a_refresh_did_not_use_does_not_disturb_it(
    store: s.Store, reopen: Reopen, update: s.Update
) -> None:
    store.commit([ORDERS, VIEW, FUNCTION, CHAIN])
    reopen().commit([update])
    assert store.commit(*refresh()) == 3


def refresh() -> tuple[list[s.Update], list[s.Requirement]]:
    """A refresh as the engine commits it, of the world after one entry."""
    updates: list[s.Update] = [
        s.ExtendChain("states/x", segment(1, orders=0)),
        s.AdvanceView("q1", {"orders": 0}, 1),
        s.RecordRun(1, "plan", {"rows": 1}),
    ]
    requirements: list[s.Requirement] = [
        s.SourceIs("orders", 1),
        s.ViewIs("q1", 1),
        s.ChainIs("states/x", 1),
        s.PlanOpen("plan"),
        s.RunFree(1),
        s.NotCollected(1),
    ]
    return updates, requirements


def test_a_hundred_discoveries_do_not_disturb_a_refresh(
    store: s.Store, objects: s.Objects, reopen: Reopen, clock: TickingClock
) -> None:
    store.commit([ORDERS, VIEW, CHAIN])
    sensor = reopen()
    left = [60, 20, 10, 5, 3, 1, 1]

    def discover(name: str, key: str) -> None:
        if name == "put_if_absent" and left:
            for _ in range(left.pop(0)):
                count = sensor.world().sources["orders"].version
                accept = s.AcceptArrivals("orders", [arrival(str(count))])
                sensor.commit([accept], [s.SourceArrivals("orders", count)])

    faulty = FaultyObjects(objects, hook=discover)
    driver = s.Store.open("unused", clock=clock, objects=faulty)
    assert driver.commit(*refresh()) == 102
    attempts = [key for name, key in faulty.calls if name == "put_if_absent"]
    assert len(attempts) == 8, "each time the sensor was faster, the refresh took the next number"
    world = reopen().world()
    assert world.sources["orders"].version == 100
    assert world.views["q1"].run == 1


def test_two_refreshes_at_once_commit_one(store: s.Store, reopen: Reopen) -> None:
    store.commit([ORDERS, VIEW, CHAIN])
    first, second = reopen(), reopen()
    assert first.commit(*refresh()) == 2
    with pytest.raises(CommitConflictError):
        second.commit(*refresh())
    assert len(store.world().chains["states/x"].segments) == 1


@pytest.mark.parametrize("shared", [True, False], ids=["one store", "a store each"])
def test_racing_writers_lose_nothing(store: s.Store, reopen: Reopen, shared: bool) -> None:
    store.commit([ORDERS])
    writers, each = 4, 25
    numbers: list[list[int]] = [[] for _ in range(writers)]
    start = threading.Barrier(writers)

    def write(writer: int) -> None:
        mine = store if shared else reopen()
        start.wait()
        for i in range(each):
            accept = s.AcceptArrivals("orders", [arrival(f"{writer}-{i}")])
            numbers[writer].append(mine.commit([accept]))

    threads = [threading.Thread(target=write, args=(n,)) for n in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(n for mine in numbers for n in mine) == list(range(2, 2 + writers * each))
    world = reopen().world()
    paths = {file.path for _, file in world.sources["orders"].arrivals.pins()}
    assert paths == {f"/in/{n}-{i} 0" for n in range(writers) for i in range(each)}
    for writer, own in enumerate(numbers):
        brought = [world.sources["orders"].arrivals[number - 2] for number in own]
        assert brought == [arrival(f"{writer}-{i}") for i in range(each)]


def test_an_answer_that_was_lost_is_found_again(
    store: s.Store, objects: s.Objects, clock: TickingClock
) -> None:
    store.commit([ORDERS])

    class Deaf(FaultyObjects):
        def put_if_absent(self, key: str, data: bytes) -> bool:
            super().put_if_absent(key, data)
            return False

    deaf = s.Store.open("unused", clock=clock, objects=Deaf(objects))
    assert deaf.commit([VIEW], [s.NameFree("view", "q1")]) == 2
    assert deaf.commit([CHAIN]) == 3


def test_the_same_token_is_one_commit(store: s.Store, reopen: Reopen) -> None:
    assert store.commit([ORDERS], token=MINE) == 1
    reopen().commit([VIEW])
    assert store.commit([ORDERS], [s.NameFree("source", "orders")], token=MINE) == 1
    assert store.world().number == 2


def test_a_store_that_contradicts_itself_is_not_asked_for_ever(
    store: s.Store, objects: s.Objects, clock: TickingClock
) -> None:
    class Liar(FaultyObjects):
        def put_if_absent(self, key: str, data: bytes) -> bool:
            return False

    liar = s.Store.open("unused", clock=clock, objects=Liar(objects))
    with pytest.raises(StorageError, match="says that entry 1 exists"):
        liar.commit([ORDERS])


def prepared(objects: s.Objects, clock: TickingClock) -> s.Store:
    """A workspace whose next commit is round, so that it writes a checkpoint too."""
    store = s.Store.create("unused", settings={}, clock=clock, objects=objects)
    store.commit([ORDERS, VIEW, CHAIN])
    for i in range(EVERY - 2):
        store.commit([s.AcceptArrivals("orders", [arrival(str(i))])])
    return store


CALLS = 8


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("call", range(CALLS))
def test_a_writer_killed_at_any_call_is_retried(
    objects: s.Objects, reopen: Reopen, clock: TickingClock, call: int, before: bool
) -> None:
    prepared(objects, clock)
    faulty = FaultyObjects(objects)
    killed = s.Store.open("unused", clock=clock, objects=faulty)
    faulty.calls.clear()
    faulty.fail_at, faulty.before = call, before
    try:
        killed.commit(*refresh())
    except Killed:
        assert len(faulty.calls) == call + 1
    else:
        assert len(faulty.calls) <= call, "the failure was swallowed"
    retry = reopen()
    if retry.world().number == EVERY:
        with pytest.raises(CommitConflictError, match="q1 was changed"):
            retry.commit(*refresh())
    else:
        assert retry.commit(*refresh()) == EVERY
    for known in (retry, reopen()):
        world = known.world()
        assert (world.number, dict(world.plans), world.views["q1"].run) == (EVERY, {"plan": 1}, 1)
        assert world.sources["orders"].version == EVERY - 2


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("call", range(CALLS))
def test_a_failure_at_any_call_is_repeated_with_the_same_token(
    objects: s.Objects, reopen: Reopen, clock: TickingClock, call: int, before: bool
) -> None:
    prepared(objects, clock)
    faulty = FaultyObjects(objects, error=lost)
    store = s.Store.open("unused", clock=clock, objects=faulty)
    faulty.calls.clear()
    faulty.fail_at, faulty.before = call, before
    try:
        number = store.commit(*refresh(), token=MINE)
    except StorageError:
        number = store.commit(*refresh(), token=MINE)
    assert number == EVERY
    world = reopen().world()
    assert (world.number, dict(world.plans)) == (EVERY, {"plan": 1})


def test_a_commit_makes_that_many_calls(objects: s.Objects, clock: TickingClock) -> None:
    prepared(objects, clock)
    faulty = FaultyObjects(objects)
    store = s.Store.open("unused", clock=clock, objects=faulty)
    faulty.calls.clear()
    store.commit(*refresh())
    names = [name for name, _ in faulty.calls]
    assert names == ["get", "put_if_absent", "put", "get", "put", "delete"]
    assert len(names) < CALLS, "the tests above reach past the last call"


WRITER = """
import sys
from slacktide.common.clock import system_clock
from slacktide.store import AcceptArrivals, Arrival, Store
store = Store.open(sys.argv[1], clock=system_clock)
while True:
    number = store.world().number + 1
    accept = AcceptArrivals("orders", [Arrival((), number, 0, "")])
    print(store.commit([accept]), flush=True)
"""


def test_a_process_that_is_killed_leaves_whole_entries(tmp_path: Path) -> None:
    root = str(tmp_path / "ws")
    s.Store.create(root, settings={}, clock=system_clock).commit([ORDERS])
    committed = 1
    for lines in (1, 7, 48, 51, 20):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, root],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        ) as writer:
            for _ in range(lines):
                committed = int((writer.stdout or StringIO()).readline())
            writer.kill()
        world = s.Store.open(root, clock=system_clock).world()
        assert world.number >= committed
        rows = [arrival.rows for arrival in world.sources["orders"].arrivals]
        assert rows == list(range(2, world.number + 1))


def test_a_skip_meanwhile_is_a_conflict(store: s.Store, reopen: Reopen) -> None:
    store.commit([ORDERS, CHAIN, s.AcceptArrivals("orders", [arrival("a"), arrival("b")])])
    reopen().commit([s.SkipArrival("orders", 2)])
    unused = [s.SetChain(s.Chain("states/new", (), None))]
    with pytest.raises(CommitConflictError, match=r"versions \[2\] of source orders"):
        store.commit(unused, [s.SkippedAre("orders", ())])
    assert store.commit(unused, [s.SkippedAre("orders", (2,))]) == 3


def reader(name: str, *, sources: list[str], views: list[str]) -> s.AddView:
    return s.AddView(name, "", {}, {}, {"sources": sources, "views": views})


def test_a_view_and_what_it_reads_hang_together(store: s.Store, reopen: Reopen) -> None:
    store.commit([ORDERS, reader("low", sources=["orders"], views=[])])
    with pytest.raises(InvariantError, match="drops source orders, which view low reads"):
        store.commit([s.DropSource("orders")])
    with pytest.raises(InvariantError, match="the view gone"):
        store.commit([reader("high", sources=[], views=["gone"])])
    reopen().commit([s.DropView("low")])
    with pytest.raises(CommitConflictError, match="the view low"):
        store.commit([reader("high", sources=["orders"], views=["low"])])


def test_sources_that_are_only_read_may_come_at_once(store: s.Store, reopen: Reopen) -> None:
    store.commit([ORDERS])
    reopen().commit([s.AddSource("other", "files", {"path": "/in"}, ())])
    late = s.AddSource("late", "files", {"path": "/in"}, ())
    assert store.commit([late], [s.NonePlaced(1, read=False)]) == 3

"""What goes, what stays, and when: by a clock that the objects go by, too."""

from __future__ import annotations

from datetime import timedelta

import pytest
from obstore.store import MemoryStore

from slacktide import store as s
from slacktide.errors import CommitConflictError
from slacktide.store.checkpoint import EVERY, checkpoint_key
from slacktide.store.garbage import GRACE, OPEN_PLANS, Removed, collect
from slacktide.store.naming import named
from tests.harness.objects import SetClock, StampedObjects, arrival

LATER = GRACE + timedelta(minutes=1)
SOON = timedelta(minutes=1)

DEAD = "d" * 32


class Shelf:
    """A workspace with one view, whose runs write one file each."""

    def __init__(self) -> None:
        self.clock = SetClock()
        memory = s.ObjectStore(MemoryStore(), s.parse_address("s3://b/ws"))
        self.objects = StampedObjects(memory, self.clock)
        self.store = s.Store.create("unused", settings={}, clock=self.clock, objects=self.objects)
        self.store.commit([s.AddView("v", "SELECT 1", {}, {}, {})])

    def write(self, path: str) -> s.Segment:
        self.store.write_bytes(path, b"1234")
        return s.Segment(1, (s.StoredFile(path, 4),), 1, 4, {"t": 1})

    def run(self, *, is_base: bool) -> str:
        """Commit a run; give the file of its answer."""
        run = self.store.world().next_run
        path = f"views/v/{run:032x}/base/part.parquet"
        segment = self.write(path)
        answer: s.Update = s.ExtendChain("views/v", segment)
        if is_base:
            answer = s.SetChain(s.Chain("views/v", (), segment))
        changes = s.Segment(run, (), 1, 4, {"t": run})
        known = "changes/v" in self.store.world().chains
        self.store.commit(
            [
                answer,
                s.ExtendChain("changes/v", changes)
                if known
                else s.SetChain(s.Chain("changes/v", (), None, (changes,))),
                s.RecordRun(run, f"plan-{run}", {}),
            ]
        )
        self.clock.now += SOON
        return path

    def has(self, path: str) -> bool:
        return self.objects.head(path) is not None

    def wait(self, span: timedelta = LATER) -> None:
        self.clock.now += span

    def collect(self, keep_runs: int | None = None) -> Removed:
        return collect(self.store, self.clock.now, keep_runs=keep_runs)


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def test_an_old_base_stays_for_whoever_opened_before_it_was_replaced(shelf: Shelf) -> None:
    old = shelf.run(is_base=True)
    shelf.wait()
    reader = shelf.store.world()
    shelf.run(is_base=True)
    assert shelf.collect() == Removed()
    assert all(shelf.has(path) for path in named(reader))
    shelf.wait(GRACE - 2 * SOON)
    assert shelf.collect() == Removed(), "the grace counts from when it was replaced"
    shelf.wait()
    assert shelf.collect() == Removed(files=1, bytes=4)
    assert not shelf.has(old)
    assert all(shelf.has(path) for path in named(shelf.store.world()))


def test_what_is_named_again_and_again_stays(shelf: Shelf) -> None:
    paths = [shelf.run(is_base=True), *(shelf.run(is_base=False) for _ in range(3))]
    for _ in range(3):
        shelf.wait()
        assert shelf.collect() == Removed()
    assert all(map(shelf.has, paths))


def test_nothing_is_written_where_there_is_nothing_to_do(shelf: Shelf) -> None:
    shelf.run(is_base=True)
    shelf.wait()
    before = shelf.store.world().number
    shelf.collect(keep_runs=5)
    assert shelf.store.world().number == before


def test_a_run_that_takes_longer_than_the_grace_may_not_name_what_was_removed(shelf: Shelf) -> None:
    began = shelf.store.world().number
    segment = shelf.write(f"views/v/{DEAD}/base/part.parquet")
    shelf.wait(SOON)
    shelf.run(is_base=True)
    shelf.wait()
    assert shelf.collect().files == 1
    chain = s.SetChain(s.Chain("states/x", (), segment))
    with pytest.raises(CommitConflictError, match="a collection has passed that"):
        shelf.store.commit([chain], [s.NotCollected(began)])
    assert shelf.store.commit([chain], [s.NotCollected(shelf.store.world().number)])


def test_what_came_after_the_last_entry_waits_for_a_second_collection(shelf: Shelf) -> None:
    """Whoever wrote it opened the newest world, and may commit as long as that is the newest."""
    shelf.run(is_base=True)
    began = shelf.store.world().number
    shelf.write(f"views/v/{DEAD}/base/part.parquet")
    shelf.wait()
    assert shelf.collect() == Removed()
    assert shelf.store.commit([], [s.NotCollected(began)]), "it may still commit"
    shelf.wait()
    assert shelf.collect().files == 1
    shelf.wait()
    number = shelf.store.world().number
    assert shelf.collect() == Removed()
    assert shelf.store.world().number == number, "nothing is left to wait for"


def test_left_overs_of_a_dead_attempt_go_and_data_files_are_counted(shelf: Shelf) -> None:
    for name in (".part.parquet.crc", "_temporary/0/x/part.parquet", "_SUCCESS", "part.parquet"):
        shelf.write(f"states/s/{DEAD}/base/{name}")
    shelf.wait(SOON)
    shelf.run(is_base=True)
    shelf.wait()
    assert shelf.collect() == Removed(files=2, bytes=16)
    assert list(shelf.objects.list("states")) == []


def test_what_is_not_ours_stays(shelf: Shelf) -> None:
    """A user may let files land in a folder that has the name of ours."""
    landing = shelf.store.path("sources/t/landing")
    shelf.store.commit([s.AddSource("t", "files", {"path": landing}, ())])
    theirs = [
        "sources/t/landing/2026/01/a.csv",
        "sources/dropped/2026/01/a.csv",
        "views/notes.txt",
        "mine/a/b/c/d.csv",
    ]
    for path in theirs:
        shelf.write(path)
    shelf.wait(SOON)
    shelf.run(is_base=True)
    shelf.wait()
    assert shelf.collect() == Removed()
    assert all(map(shelf.has, theirs))


def test_changes_of_the_last_runs_stay(shelf: Shelf) -> None:
    for _ in range(5):
        shelf.run(is_base=True)
    assert shelf.collect(keep_runs=2).changes == 3
    chain = shelf.store.world().chains["changes/v"]
    assert [segment.run for segment in chain.segments] == [4, 5]
    assert chain.base is not None
    assert (chain.base.run, chain.base.files) == (3, ())
    assert shelf.collect(keep_runs=2).changes == 0


def test_plans_that_ran_lately_or_may_still_run_stay(shelf: Shelf) -> None:
    for run in range(1, 4):
        shelf.store.put_plan(f"plan-{run}", {})
        shelf.run(is_base=True)
    shelf.store.put_plan("open", {})
    assert shelf.collect(keep_runs=1).plans == 0
    shelf.wait()
    shelf.store.put_plan("new", {})
    assert shelf.collect(keep_runs=1).plans == 2
    there = {plan.path for plan in shelf.objects.list("plans")}
    assert there == {"plans/plan-3.json", "plans/open.json", "plans/new.json"}
    shelf.wait(OPEN_PLANS - GRACE)
    assert shelf.collect().plans == 1
    assert shelf.store.get_plan("open") is None
    assert shelf.store.get_plan("plan-3") is not None


def test_the_plan_of_an_answer_stays_however_old_it_is(shelf: Shelf) -> None:
    """It says of which instant the answer is."""
    for run in range(1, 5):
        shelf.store.put_plan(f"plan-{run}", {})
        shelf.run(is_base=True)
        if run == 2:
            shelf.store.commit([s.AdvanceView("v", {"t": run}, run)])
    shelf.wait()
    assert shelf.collect(keep_runs=1).plans == 2
    there = {plan.path for plan in shelf.objects.list("plans")}
    assert there == {"plans/plan-2.json", "plans/plan-4.json"}


def test_lost_checkpoints_and_chunks_go(shelf: Shelf) -> None:
    shelf.store.commit([s.AddSource("t", "files", {}, ())])
    shelf.store.commit([s.AcceptArrivals("t", [arrival("a", files=2000)])])
    for _ in range(EVERY):
        shelf.store.commit([s.PauseView("v", paused=True)])
    dead = [checkpoint_key(7), f"log/checkpoint/arrivals/{'0' * 32}.json"]
    for key in dead:
        shelf.objects.put(key, b"torn")
    assert shelf.collect().checkpoints == 0, "they may be just being written"
    shelf.wait()
    assert shelf.collect().checkpoints == 2
    assert not any(map(shelf.has, dead))
    assert shelf.has(checkpoint_key(EVERY))
    reopened = s.Store.open("unused", clock=shelf.clock, objects=shelf.objects)
    assert reopened.world() == shelf.store.world()


def test_without_a_hint_no_checkpoint_is_removed(shelf: Shelf) -> None:
    shelf.objects.put(checkpoint_key(50), b"whatever it is")
    shelf.wait()
    assert shelf.collect() == Removed()


def test_files_that_were_named_long_ago_are_found_without_checkpoints(shelf: Shelf) -> None:
    """What an entry of the past named is read from the log, whatever became of checkpoints."""
    first = shelf.run(is_base=True)
    for _ in range(2 * EVERY):
        shelf.run(is_base=False)
    shelf.wait()
    reader = shelf.store.world()
    shelf.run(is_base=True)
    for meta in list(shelf.objects.list("log/checkpoint")):
        shelf.objects.delete([meta.path])
    assert shelf.collect().files == 0
    assert shelf.has(first)
    assert all(shelf.has(path) for path in named(reader))

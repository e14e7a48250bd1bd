"""Checkpoints save time, and nothing else hangs on them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import pytest

from slacktide import store as s
from slacktide.store.arrivals import Totals
from slacktide.store.checkpoint import (
    EVERY,
    checkpoint_key,
    decode_checkpoint,
    encode_checkpoint,
    thinned,
)
from slacktide.store.entry import entry_key
from tests.harness.objects import FaultyObjects, RandomHistory, TickingClock, arrival, lost, no_part

HINT = "log/checkpoint/latest.json"
Open = Callable[[], tuple[s.Store, list[str]]]


@pytest.fixture
def long_store(store: s.Store) -> s.Store:
    """A workspace of two checkpoints and some entries."""
    history = RandomHistory(7)
    while store.world().number < 2 * EVERY + 10:
        store.commit(history.updates(store.world()))
    return store


@pytest.fixture
def opened(objects: s.Objects, clock: TickingClock) -> Open:
    """Open the workspace anew and tell which objects were read."""

    def open_it() -> tuple[s.Store, list[str]]:
        faulty = FaultyObjects(objects)
        store = s.Store.open("unused", clock=clock, objects=faulty)
        return store, [key for name, key in faulty.calls if name == "get"]

    return open_it


def test_reads_the_newest_and_the_entries_since(long_store: s.Store, opened: Open) -> None:
    store, read = opened()
    assert store.world() == long_store.world()
    assert read[:3] == [HINT, checkpoint_key(2 * EVERY), entry_key(2 * EVERY + 1)]
    assert entry_key(2 * EVERY) not in read
    assert entry_key(0) not in read


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[: len(data) // 2], id="torn"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: b"\x00" * len(data), id="zeros"),
        pytest.param(lambda data: data.replace(b'"format":1', b'"format":2', 1), id="newer"),
        pytest.param(lambda data: data.replace(b"plan-", b"plot-", 1), id="altered"),
        pytest.param(lambda data: b'{"format":1}\n{}', id="odd"),
        pytest.param(lambda data: None, id="lost"),
    ],
)
@pytest.mark.parametrize("which", [HINT, checkpoint_key(2 * EVERY)])
def test_a_damaged_one_costs_time_only(
    long_store: s.Store,
    objects: s.Objects,
    opened: Open,
    which: str,
    damage: Callable[[bytes], bytes | None],
) -> None:
    data = objects.get(which)
    assert data is not None
    put_or_delete(objects, which, damage(data))
    store, read = opened()
    assert store.world() == long_store.world()
    assert entry_key(0) not in read, "another checkpoint was found"


def put_or_delete(objects: s.Objects, key: str, data: bytes | None) -> None:
    """Put damaged bytes in the place of an object."""
    if data is None:
        objects.delete([key])
    else:
        objects.put(key, data)


def test_without_any_the_log_is_replayed(
    long_store: s.Store, objects: s.Objects, opened: Open
) -> None:
    objects.delete([meta.path for meta in objects.list("log/checkpoint")])
    store, read = opened()
    assert store.world() == long_store.world()
    assert entry_key(0) in read


@pytest.mark.parametrize(
    "hint",
    [
        b"[]",
        b'{"checkpoints":7}',
        b'{"checkpoints":[["x",[]],[-1,[]],[5,"x"],[6,["../x"]]]}',
        b'{"checkpoints":[[999,[]]]}',
    ],
)
def test_an_odd_hint_is_passed_over(
    long_store: s.Store, objects: s.Objects, opened: Open, hint: bytes
) -> None:
    objects.put(HINT, hint)
    assert opened()[0].world() == long_store.world()


def test_a_stale_hint_still_leads_to_the_end(
    long_store: s.Store, objects: s.Objects, opened: Open
) -> None:
    objects.put(HINT, json.dumps({"format": 1, "checkpoints": [[EVERY, []]]}).encode())
    store, read = opened()
    assert store.world() == long_store.world()
    assert checkpoint_key(2 * EVERY) not in read


def test_a_checkpoint_under_another_name_is_still_one(
    long_store: s.Store, objects: s.Objects, opened: Open
) -> None:
    data = objects.get(checkpoint_key(EVERY))
    assert data is not None
    objects.put(checkpoint_key(2 * EVERY), data)
    assert opened()[0].world() == long_store.world()


def test_keeps_the_newest_and_ever_fewer_of_the_older(store: s.Store, objects: s.Objects) -> None:
    store.commit([s.AddSource("orders", "files", {}, ())])
    for i in range(8 * EVERY):
        store.commit([s.AcceptArrivals("orders", [arrival(str(i))])])
    names = sorted(meta.path for meta in objects.list("log/checkpoint"))
    kept = [checkpoint_key(n * EVERY) for n in (1, 3, 5, 6, 7, 8)]
    assert names == [*kept, HINT]


def test_the_way_back_to_a_checkpoint_is_as_long_as_the_way_to_the_end() -> None:
    kept: list[tuple[int, list[str]]] = []
    for number in range(1, 1000):
        kept = thinned([(number, []), *kept])
        numbers = [n for n, _ in kept]
        assert numbers[:2] == list(range(number, 0, -1))[:2]
        assert numbers[-1] == 1
        assert len(numbers) <= 3 + 2 * number.bit_length()
        for newer, older in itertools.pairwise(numbers):
            assert newer - older <= max(1, 2 * (number - newer))


def test_one_that_could_not_be_written_is_written_by_the_next_writer(
    store: s.Store, objects: s.Objects, clock: TickingClock, opened: Open
) -> None:
    class Full(FaultyObjects):
        def put(self, key: str, data: bytes) -> None:
            raise lost()

    poor = s.Store.open("unused", clock=clock, objects=Full(objects))
    poor.commit([s.AddSource("orders", "files", {}, ())])
    for i in range(EVERY + 5):
        poor.commit([s.AcceptArrivals("orders", [arrival(str(i))])])
    assert list(objects.list("log/checkpoint")) == []
    opened()[0].commit([s.HoldSource("orders", held=True)])
    assert objects.head(checkpoint_key(EVERY + 7)) is not None
    assert entry_key(EVERY) not in opened()[1]


def test_one_writer_of_two_writes_it(store: s.Store, objects: s.Objects, opened: Open) -> None:
    other = opened()[0]
    store.commit([s.AddSource("orders", "files", {}, ())])
    for i in range(EVERY):
        (store if i % 2 else other).commit([s.AcceptArrivals("orders", [arrival(str(i))])])
    names = sorted(meta.path for meta in objects.list("log/checkpoint"))
    assert names == [checkpoint_key(EVERY), HINT]


def in_line(_: object) -> None:
    """Keep every chunk in the checkpoint itself."""


def test_chunks_go_from_one_checkpoint_to_the_next_as_they_are() -> None:
    source = s.Source("orders", "files", {}, (), s.Arrivals.of([arrival("a", files=3)]))
    world = s.World(number=7, sources={"orders": source})
    data = encode_checkpoint(world, in_line)
    lines = data.split(b"\n")
    assert len(lines) == 3, "header, world, one chunk"
    read = decode_checkpoint(data, "here", no_part)
    assert encode_checkpoint(read, in_line) == data
    arrivals = read.sources["orders"].arrivals
    assert (len(arrivals), arrivals.file_count, arrivals.chunks[0].text) == (1, 3, lines[2])
    assert read == world


SOME = 40
FULL = 66_000


@pytest.fixture
def large_store(store: s.Store) -> s.Store:
    """A workspace with two checkpoints, a chunk that is full and some that still grow."""
    store.commit([s.AddSource("orders", "files", {}, ())])
    store.commit([s.AcceptArrivals("orders", [arrival("first", files=FULL)])])
    for i in range(2 * EVERY):
        store.commit([s.AcceptArrivals("orders", [arrival(str(i), files=SOME)])])
    return store


def chunk_objects(objects: s.Objects) -> dict[str, s.ObjectMeta]:
    """The objects of large chunks."""
    return {meta.path: meta for meta in objects.list("log/checkpoint/arrivals")}


def test_a_large_chunk_is_written_once(large_store: s.Store, objects: s.Objects) -> None:
    before = chunk_objects(objects)
    for i in range(6 * EVERY):
        large_store.commit([s.AcceptArrivals("orders", [arrival(f"x{i}", files=SOME)])])
    after = chunk_objects(objects)
    full = max(before, key=lambda key: before[key].size)
    assert after[full] == before[full], "the full one was not written again"
    assert set(before) - set(after), "what no checkpoint needs is gone"


def test_large_chunks_are_read_back(
    large_store: s.Store, objects: s.Objects, clock: TickingClock, opened: Open
) -> None:
    assert not [key for key in opened()[1] if "/arrivals/" in key], (
        "they are read when they are needed"
    )
    faulty = FaultyObjects(objects)
    source = s.Store.open("unused", clock=clock, objects=faulty).world().sources["orders"]
    whole = large_store.world().sources["orders"]
    assert source.version == whole.version
    assert source.arrivals.totals(0, source.version) == Totals(None, None, 10 * (FULL + 4000))
    assert not [key for _, key in faulty.calls if "/arrivals/" in key], "sums need no reading"
    assert source.arrivals == whole.arrivals
    assert [key for _, key in faulty.calls if "/arrivals/" in key]
    assert ("get", entry_key(1)) not in faulty.calls


@pytest.mark.parametrize("data", [None, b"", b"[]"])
def test_a_lost_chunk_costs_time_only(
    large_store: s.Store, objects: s.Objects, opened: Open, data: bytes | None
) -> None:
    for key in chunk_objects(objects):
        put_or_delete(objects, key, data)
    assert entry_key(1) not in opened()[1]
    faulty = FaultyObjects(objects)
    world = s.Store.open("unused", clock=TickingClock(), objects=faulty).world()
    assert world == large_store.world()
    assert ("get", entry_key(1)) in faulty.calls, "the parts were made from the entries"


def test_a_chunk_that_another_writer_removed_is_written_again(
    large_store: s.Store, objects: s.Objects, opened: Open
) -> None:
    objects.delete(list(chunk_objects(objects)))
    for i in range(EVERY):
        large_store.commit([s.AcceptArrivals("orders", [arrival(f"x{i}")])])
    store, read = opened()
    assert store.world() == large_store.world()
    assert entry_key(1) not in read

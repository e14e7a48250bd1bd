"""A world is the same however it was reached."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given, settings
from obstore.store import MemoryStore

from slacktide import store as s
from slacktide.store.checkpoint import EVERY, decode_checkpoint, encode_checkpoint
from slacktide.store.log import Log
from tests.harness.objects import FaultyObjects, RandomHistory, TickingClock, no_part


def replayed(objects: s.Objects) -> s.World:
    """Fold the whole log, without any checkpoint."""
    return s.fold(s.World(), ((n, entry.updates) for n, entry in Log(objects).since(0)))


def through_checkpoint(world: s.World) -> s.World:
    """Write a world and read it back, large chunks in line."""
    return decode_checkpoint(encode_checkpoint(world, lambda _: None), "here", no_part)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 2 * EVERY + 20))
def test_step_by_step_by_replay_and_by_checkpoint(seed: int, length: int) -> None:
    clock, history = TickingClock(), RandomHistory(seed)
    objects = FaultyObjects(s.ObjectStore(MemoryStore(), s.parse_address("s3://b/ws")))
    store = s.Store.create("unused", settings={}, clock=clock, objects=objects)
    stepped = store.world()
    for number in range(1, length + 1):
        updates = history.updates(stepped)
        assert store.commit(updates) == number
        for update in updates:
            stepped = s.apply(stepped, number, update)
    whole = replayed(objects)
    assert store.world() == whole
    assert s.Store.open("unused", clock=clock, objects=objects).world() == whole
    assert through_checkpoint(whole) == whole
    assert (stepped.number, set(stepped.chains), set(stepped.runs)) == (
        whole.number,
        set(whole.chains),
        set(whole.runs),
    )
    for name, source in stepped.sources.items():
        assert source == whole.sources[name]


@given(st.integers(0, 30))
def test_the_end_is_found_with_few_requests(length: int) -> None:
    objects = FaultyObjects(s.ObjectStore(MemoryStore(), s.parse_address("s3://b/ws")))
    store = s.Store.create("unused", settings={}, clock=TickingClock(), objects=objects)
    for run in range(length):
        store.commit([s.RecordRun(run, f"p{run}", {})])
    objects.calls.clear()
    assert Log(objects).end() == length
    assert len(objects.calls) <= 2 + 2 * (length + 1).bit_length()

"""What opening a workspace reads does not grow with its arrivals.

The same at full size, by the clock: ``python -m tests.campaigns.log_scale``.
"""

from __future__ import annotations

from obstore.store import MemoryStore

from slacktide import store as s
from slacktide.store.checkpoint import EVERY
from slacktide.store.entry import entry_key
from tests.harness.long_log import build
from tests.harness.objects import FaultyObjects, TickingClock


def opened(entries: int, files: int) -> tuple[s.World, list[str], int]:
    """Open a workspace of a size: its world, what was read, and the bytes of that."""
    objects = s.ObjectStore(MemoryStore(), s.parse_address("s3://b/ws"))
    build(objects, entries=entries, files=files)
    counted = FaultyObjects(objects)
    world = s.Store.open("unused", clock=TickingClock(), objects=counted).world()
    read = [key for name, key in counted.calls if name == "get"]
    return world, read, sum(len(objects.get(key) or b"") for key in read)


def test_opening_reads_one_checkpoint_and_the_entries_since() -> None:
    small, few, few_bytes = opened(3 * EVERY + 10, 3 * 4000)
    large, many, many_bytes = opened(3 * EVERY + 10, 30 * 4000)
    assert small.number == large.number
    assert large.sources["orders"].version > 9 * small.sources["orders"].version
    assert len(many) == len(few) < 20
    assert not [key for key in many if "/arrivals/" in key]
    assert min(key for key in many if key.startswith("log/0")) == entry_key(3 * EVERY + 1)
    # Ten entries of arrivals are ten times as large; all that came before them is not read.
    assert many_bytes < few_bytes + 11 * large.sources["orders"].version // (3 * EVERY) * 400


def test_sums_and_versions_need_no_arrival() -> None:
    objects = s.ObjectStore(MemoryStore(), s.parse_address("s3://b/ws"))
    build(objects, entries=2 * EVERY, files=20_000)
    counted = FaultyObjects(objects)
    source = s.Store.open("unused", clock=TickingClock(), objects=counted).world().sources["orders"]
    counted.calls.clear()
    assert source.version > 19_000
    assert source.rows_at(source.version) == 100 * source.version
    assert counted.calls == []
    assert source.arrivals[source.version - 1].rows == 100
    assert len(counted.calls) <= 1, "one chunk for one file"

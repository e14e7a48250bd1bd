"""Workspaces with a long log and many pinned files, written through the store's own code."""

from __future__ import annotations

import math
from itertools import count, islice

from slacktide import store as s
from tests.harness.objects import TickingClock

VIEWS = tuple(f"v{i}" for i in range(5))
RUN_EVERY = 5
"""Of that many entries, one is a run."""
NEW_BASE_EVERY = 50


def build(objects: s.Objects, *, entries: int, files: int) -> s.Store:
    """Write a log up to an entry, whose arrivals pin at least that many files."""
    store = s.Store.create("unused", settings={}, clock=TickingClock(), objects=objects)
    columns = ({"name": "id", "type": "BIGINT", "nullable": True},)
    store.commit([s.AddSource("orders", "change-feed", {"path": "/lake/orders"}, columns)])
    definition = {"sources": ["orders"]}
    store.commit([s.AddView(view, "SELECT 1", {}, {}, definition) for view in VIEWS])
    numbers = count(1)
    pinning = sum(1 for number in range(store.world().number, entries) if number % RUN_EVERY)
    each = math.ceil(files / pinning)
    while store.world().number < entries:
        if store.world().number % RUN_EVERY:
            arrivals = [_arrival(number) for number in islice(numbers, each)]
            store.commit([s.AcceptArrivals("orders", arrivals)])
        else:
            store.commit(_run(store.world()))
    return store


def _arrival(number: int) -> s.Arrival:
    path = f"/lake/orders/day={number // 1000:05d}/part-{number:08d}.parquet"
    at = "2026-01-01T00:00:00.000000Z"
    pin = s.PinnedFile(path, 10_000 + number, at, f'"{number:016x}"', 100)
    return s.Arrival((pin,), 100, pin.size, at, 0)


def _run(world: s.World) -> list[s.Update]:
    run, versions = world.next_run, {"orders": world.sources["orders"].version}
    updates: list[s.Update] = []
    for view in VIEWS:
        is_base = run % NEW_BASE_EVERY == 1
        answer, changes = (_segment(kind, view, run, versions) for kind in ("views", "changes"))
        updates += [
            s.SetChain(s.Chain(f"views/{view}", (), answer))
            if is_base
            else s.ExtendChain(f"views/{view}", answer),
            s.SetChain(s.Chain(f"changes/{view}", (), None, (changes,)))
            if run == 1
            else s.ExtendChain(f"changes/{view}", changes),
            s.AdvanceView(view, versions, run),
        ]
    views = {view: {"method": "incremental", "versions": versions} for view in VIEWS}
    return [*updates, s.RecordRun(run, f"{run:064x}", {"run": run, "views": views})]


def _segment(kind: str, view: str, run: int, versions: dict[str, int]) -> s.Segment:
    path = f"{kind}/{view}/{run:032x}/segment/part-00000-{run:032x}-c000.zstd.parquet"
    return s.Segment(run, (s.StoredFile(path, 1234, 10),), 10, 1234, versions)

"""Whatever call to the object store is the last one: the workspace opens, and a retry succeeds.

Commits stand in ``tests/unit/store/test_commit.py``, runs on Spark in ``tests/spark/crash``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from obstore.store import MemoryStore

from slacktide import store as s
from slacktide.engine.workspace import Workspace
from slacktide.errors import StorageError
from slacktide.store.checkpoint import Checkpoints
from slacktide.store.garbage import GRACE
from slacktide.store.layout import FOLDERS
from tests.harness.objects import (
    FaultyObjects,
    Killed,
    SetClock,
    StampedObjects,
    arrival,
    lost,
)

CREATED = s.AddView("v", "SELECT 1", {}, {}, {})


class Bucket:
    """Objects in memory that can be copied, with a clock."""

    def __init__(self) -> None:
        self.clock = SetClock()
        self.objects = StampedObjects(
            s.ObjectStore(MemoryStore(), s.parse_address("s3://b/ws")), self.clock
        )

    def copy(self) -> Bucket:
        other = Bucket()
        other.clock.now = self.clock.now
        for meta in self.objects.list(""):
            other.objects.put(meta.path, self.objects.get(meta.path) or b"")
        other.objects.written = dict(self.objects.written)
        return other

    def opened(self, objects: s.Objects | None = None) -> s.Store:
        return s.Store.open("unused", clock=self.clock, objects=objects or self.objects)

    def observed(self) -> Any:
        """All that a user may notice."""
        world = self.opened().world()
        there = sorted(meta.path for folder in (*FOLDERS, "plans") for meta in self.list(folder))
        arrivals = {name: list(source.arrivals) for name, source in world.sources.items()}
        chains = {name: replace(chain, token=0) for name, chain in world.chains.items()}
        return arrivals, dict(world.views), chains, dict(world.runs), there

    def list(self, folder: str) -> list[s.ObjectMeta]:
        return list(self.objects.list(folder))


Act = Callable[[Bucket, s.Objects], object]


@dataclass(frozen=True)
class Scenario:
    """Something that a workspace does, from a workspace in some state.

    Attributes:
        calls: the calls to the object store that it cannot do without.
    """

    prepare: Callable[[Bucket, Path], None]
    act: Act
    calls: frozenset[str]


def workspace(bucket: Bucket, objects: s.Objects) -> Workspace:
    return Workspace(bucket.opened(objects), bucket.clock)


def with_a_source(bucket: Bucket, landing: Path) -> None:
    s.Store.create("unused", settings={}, clock=bucket.clock, objects=bucket.objects)
    workspace(bucket, bucket.objects).add_source(
        "t", kind="files", path=str(landing), format="csv", schema="a INT"
    )


def with_landed_files(bucket: Bucket, landing: Path) -> None:
    with_a_source(bucket, landing)
    for name in ("a", "b"):
        (landing / f"{name}.csv").write_text("1\n", encoding="utf-8")


def with_garbage(bucket: Bucket, landing: Path) -> None:
    with_a_source(bucket, landing)
    store = bucket.opened()
    store.commit([CREATED])
    for run in range(1, 4):
        files = []
        for name in ("states/s", "views/v"):
            path = f"{name}/{run}/base/part.parquet"
            store.write_bytes(path, b"1234")
            store.write_bytes(f"{name}/dead {run}/base/part.parquet", b"1")
            base = s.Segment(run, (s.StoredFile(path, 4),), 1, 4, {"t": run})
            files.append(s.SetChain(s.Chain(name, (), base)))
        changes = s.Segment(run, (), 0, 0, {"t": run})
        chain = store.world().chains.get("changes/v") or s.Chain("changes/v", (), None)
        added = s.SetChain(replace(chain, segments=(*chain.segments, changes)))
        store.put_plan(f"plan-{run}", {})
        store.commit([*files, added, s.RecordRun(run, f"plan-{run}", {})])
        bucket.clock.now += timedelta(minutes=1)
    Checkpoints(bucket.objects).write(store.world())
    bucket.objects.put("log/checkpoint/00000000000000000003.jsonl", b"torn")
    store.write_bytes("views/v/dead last/base/part.parquet", b"1")
    bucket.clock.now += 2 * GRACE


def with_checkpoints(bucket: Bucket, landing: Path) -> None:
    with_a_source(bucket, landing)
    store = bucket.opened()
    for number in range(9):
        store.commit([s.AcceptArrivals("t", [arrival(f"{number}", files=400)])])
        Checkpoints(bucket.objects).write(store.world())
    for number in range(3):
        store.commit([s.AcceptArrivals("t", [arrival(f"last {number}", files=700)])])


def collect_twice(bucket: Bucket, objects: s.Objects) -> None:
    workspace(bucket, objects).gc(keep_runs=2)
    bucket.clock.now += 2 * GRACE
    workspace(bucket, objects).gc(keep_runs=2)


SCENARIOS = {
    "discover": Scenario(
        with_landed_files,
        lambda bucket, objects: workspace(bucket, objects).discover(),
        frozenset({"get", "put_if_absent"}),
    ),
    "plan": Scenario(
        with_landed_files,
        lambda bucket, objects: workspace(bucket, objects).plan(now=bucket.clock.now),
        frozenset({"get", "put_if_absent", "put"}),
    ),
    "skip": Scenario(
        with_landed_files,
        lambda bucket, objects: workspace(bucket, objects).skip("t", "a.csv"),
        frozenset({"get", "put_if_absent"}),
    ),
    "collect": Scenario(
        with_garbage, collect_twice, frozenset({"get", "put_if_absent", "head", "list", "delete"})
    ),
    "checkpoint": Scenario(
        with_checkpoints,
        lambda bucket, objects: Checkpoints(objects).write(bucket.opened(objects).world()),
        frozenset({"get", "put", "delete"}),
    ),
    "open and read": Scenario(
        with_checkpoints,
        lambda bucket, objects: list(bucket.opened(objects).world().sources["t"].arrivals),
        frozenset({"get"}),
    ),
}


@pytest.fixture(params=SCENARIOS)
def scenario(request: pytest.FixtureRequest) -> Scenario:
    return SCENARIOS[request.param]


@pytest.fixture
def prepared(scenario: Scenario, tmp_path: Path) -> Bucket:
    bucket = Bucket()
    scenario.prepare(bucket, tmp_path)
    return bucket


def test_every_call_may_be_the_last(scenario: Scenario, prepared: Bucket) -> None:
    whole = prepared.copy()
    counted = FaultyObjects(whole.objects)
    scenario.act(whole, counted)
    assert {name for name, _ in counted.calls} >= scenario.calls
    for call in range(len(counted.calls)):
        for is_before in (True, False):
            for error in (Killed, lost):
                bucket = prepared.copy()
                disturb(scenario, bucket, call, is_before, error)
                bucket.clock.now = prepared.clock.now
                bucket.opened()
                scenario.act(bucket, bucket.objects)
                assert bucket.observed() == whole.observed(), (counted.calls[call], is_before)


def disturb(
    scenario: Scenario,
    bucket: Bucket,
    call: int,
    is_before: bool,
    error: Callable[[], BaseException],
) -> None:
    """Let a call fail, which ends the process or what it does, or is made good at once."""
    faulty = FaultyObjects(bucket.objects, fail_at=call, before=is_before, error=error)
    with contextlib.suppress(Killed, StorageError):
        scenario.act(bucket, faulty)

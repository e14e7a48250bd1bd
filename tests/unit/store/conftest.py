"""Every behaviour of the store is shown on a local disk, in memory, and on a store that speaks S3."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from obstore.store import MemoryStore

from slacktide.store import Objects, ObjectStore, Store, connect, parse_address
from tests.harness.objects import TickingClock


@pytest.fixture(params=["local", "memory", pytest.param("s3", marks=pytest.mark.s3)])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    """An empty root whose name has signs that URLs treat in their own way."""
    if request.param == "local":
        return connect(parse_address(str(tmp_path / "a b%20c#d é")), create=True)
    if request.param == "s3":
        bucket = request.getfixturevalue("bucket")
        return connect(bucket.address("a b%20c#d é"), bucket.options, create=True)
    return ObjectStore(MemoryStore(), parse_address("s3://bucket/a b%20c#d é"))


@pytest.fixture
def clock() -> TickingClock:
    return TickingClock()


@pytest.fixture
def store(objects: Objects, clock: TickingClock) -> Store:
    """A new workspace."""
    return Store.create("unused", settings={"goal": "cost"}, clock=clock, objects=objects)


@pytest.fixture
def reopen(objects: Objects, clock: TickingClock) -> Callable[[], Store]:
    """Open the same workspace as another process would."""
    return lambda: Store.open("unused", clock=clock, objects=objects)

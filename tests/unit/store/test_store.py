"""Making and opening workspaces, and the objects beside the log."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from slacktide import store as s
from slacktide.common.clock import system_clock
from slacktide.errors import (
    InvariantError,
    NewerFormatError,
    StorageError,
    UnknownObjectError,
    WorkspaceError,
    WorkspaceExistsError,
    WorkspaceMissingError,
)
from slacktide.store.entry import entry_key, with_digest
from slacktide.store.fold import KEPT_REPORTS
from tests.harness.objects import FaultyObjects, TickingClock, lost

Reopen = Callable[[], s.Store]


@pytest.mark.parametrize("name", ["ws", "my ws%20x", "deep/er/ws"])
def test_a_workspace_on_a_local_path(tmp_path: Path, name: str) -> None:
    root = str(tmp_path / name)
    made = s.Store.create(root, settings={"a": 1}, clock=system_clock)
    assert made.root == root
    first = json.loads((tmp_path / name / entry_key(0)).read_text())
    assert (first["format"], first["updates"]) == (
        1,
        [{"tag": "create-workspace", "settings": {"a": 1}}],
    )
    for spelling in (root, (tmp_path / name).as_uri()):
        again = s.Store.open(spelling, clock=system_clock)
        assert (again.root, dict(again.world().settings)) == (root, {"a": 1})


def test_there_is_one_workspace_per_root(
    store: s.Store, objects: s.Objects, clock: TickingClock
) -> None:
    with pytest.raises(WorkspaceExistsError) as caught:
        s.Store.create("unused", settings={"goal": "time"}, clock=clock, objects=objects)
    assert store.root in caught.value.message
    assert store.world().settings == {"goal": "cost"}


class Careless(FaultyObjects):
    """A store that ignores the condition of a write."""

    def put_if_absent(self, key: str, data: bytes) -> bool:
        self.inner.put(key, data)
        return True


def test_a_store_without_conditional_writes_is_refused(
    objects: s.Objects, clock: TickingClock
) -> None:
    with pytest.raises(WorkspaceError, match="ignores the condition"):
        s.Store.create("unused", settings={}, clock=clock, objects=Careless(objects))
    assert list(objects.list("")) == []


def test_an_answer_lost_while_making_one(objects: s.Objects, clock: TickingClock) -> None:
    faulty = FaultyObjects(objects, fail_at=1, before=False, error=lost)
    made = s.Store.create("unused", settings={"a": 1}, clock=clock, objects=faulty)
    assert made.world().settings == {"a": 1}


def test_a_repeated_write_while_making_one(objects: s.Objects, clock: TickingClock) -> None:
    """Clients of object stores repeat a lost put by themselves, and then find their own object."""

    class Repeating(FaultyObjects):
        def put_if_absent(self, key: str, data: bytes) -> bool:
            super().put_if_absent(key, data)
            return super().put_if_absent(key, data)

    made = s.Store.create("unused", settings={}, clock=clock, objects=Repeating(objects))
    assert made.commit([s.AddSource("orders", "files", {}, ())]) == 1


def test_where_there_is_no_workspace(
    objects: s.Objects, clock: TickingClock, tmp_path: Path
) -> None:
    objects.put("something/else", b"")
    with pytest.raises(WorkspaceMissingError, match="slacktide init"):
        s.Store.open("unused", clock=clock, objects=objects)
    with pytest.raises(WorkspaceMissingError, match="slacktide init"):
        s.Store.open(str(tmp_path / "none"), clock=clock)
    assert not (tmp_path / "none").exists()


def entry(**changes: object) -> bytes:
    """An entry as another version could have written it."""
    document = {"format": 1, "writer": "w", "at": "t", "updates": [], "requirements": []}
    return with_digest(json.dumps({**document, **changes}).encode())


NEWER = [
    entry(format=2),
    entry(colour="blue"),
    entry(updates=[{"tag": "paint-view", "name": "q1"}]),
    entry(updates=[{"tag": "drop-view", "name": "q1", "colour": "blue"}]),
    entry(requirements=[{"tag": "moon-is", "phase": "full"}]),
]
CORRUPT = [
    b"",
    b"\x00\x00",
    b"[]",
    b"{}",
    b'{"format":"1"}',
    b'{"format":0}',
    b"[" * 100_000,
    entry(writer=None),
    entry(updates={}),
    entry(updates=["drop-view"]),
    entry(updates=[{"tag": "drop-view"}]),
    entry(updates=[{"tag": "drop-view", "name": 7}]),
    entry(updates=[{"tag": "pause-view", "name": "q1", "paused": 1}]),
    entry(updates=[{"tag": "set-chain", "chain": []}]),
    entry(updates=[{"tag": "add-source", "name": "a", "kind": "b", "arguments": [], "schema": []}]),
    entry(updates=[{"tag": "add-source", "name": "a", "kind": "b", "arguments": {}, "schema": 1}]),
    entry(updates=[{"tag": "accept-arrivals", "source": "a", "arrivals": [1]}]),
    entry(requirements=[{"tag": "view-is", "name": "a", "token": "b"}]),
    entry().replace(b'"w"', b'"v"'),  # by hand
]


@pytest.mark.parametrize(
    ("data", "kind"),
    [*((data, NewerFormatError) for data in NEWER), *((data, WorkspaceError) for data in CORRUPT)],
)
def test_an_entry_that_cannot_be_read_is_named(
    store: s.Store,
    objects: s.Objects,
    reopen: Reopen,
    data: bytes,
    kind: type[WorkspaceError],
) -> None:
    objects.put(entry_key(1), data)
    for use in (reopen, store.world, lambda: store.commit([s.DropView("x")])):
        with pytest.raises(kind) as caught:
            use()
        assert type(caught.value) is kind
        assert caught.value.message.startswith(store.path(entry_key(1)))
        assert caught.value.hint


def test_a_log_that_lost_its_first_entry_is_not_begun_anew(
    store: s.Store, objects: s.Objects, clock: TickingClock
) -> None:
    store.commit([s.AddSource("orders", "files", {}, ())])
    objects.delete([entry_key(0)])
    listed = list(objects.list(""))
    with pytest.raises(WorkspaceError, match="the first entry of the log, is missing") as caught:
        s.Store.create("unused", settings={}, clock=clock, objects=objects)
    assert "restore" in caught.value.hint
    with pytest.raises(WorkspaceError, match="the first entry of the log, is missing"):
        s.Store.open("unused", clock=clock, objects=objects)
    assert list(objects.list("")) == listed


def test_an_entry_that_is_lost_between_others_is_named(
    store: s.Store, objects: s.Objects, reopen: Reopen
) -> None:
    for name in ("a", "b", "c"):
        store.commit([s.AddFunction(s.FunctionRecord(name, "m:f", "int", {}))])
    objects.delete([entry_key(2)])
    with pytest.raises(WorkspaceError, match="is missing, and later entries") as caught:
        reopen()
    assert caught.value.message.startswith(store.path(entry_key(2)))
    assert objects.get(entry_key(2)) is None


def test_plans(store: s.Store, objects: s.Objects) -> None:
    assert store.get_plan("p1") is None
    store.put_plan("p1", {"views": ["q1"]})
    store.put_plan("p1", {"views": ["q1"]})
    assert store.get_plan("p1") == {"views": ["q1"]}
    for data, kind in (
        (b"{", WorkspaceError),
        (b'{"format":1,"plan":[]}', WorkspaceError),
        (b'{"format":2,"plan":{}}', NewerFormatError),
    ):
        objects.put("plans/p1.json", data)
        with pytest.raises(kind, match=r"plans/p1\.json"):
            store.get_plan("p1")
    with pytest.raises(InvariantError):
        store.put_plan("../log/x", {})


def test_files(store: s.Store) -> None:
    for name in ("a/2.parquet", "a/1.parquet", "a/_SUCCESS", "a/.1.crc", "a/b/3.parquet", "ab/4"):
        store.write_bytes(f"states/{name}", b"xyz")
    assert [(file.path, file.size) for file in store.list_files("states/a")] == [
        ("states/a/1.parquet", 3),
        ("states/a/2.parquet", 3),
        ("states/a/b/3.parquet", 3),
    ]
    assert len(store.list_files("states", hidden=True)) == 6
    store.delete(["states/a/1.parquet", "states/a/none"])
    (left,) = store.list_files("states/ab")
    assert (left.path, left.size) == ("states/ab/4", 3)
    assert store.read_ends([(left, 2)]) == [b"yz"]
    assert [file.path for file in store.list_files("states/a")][:1] == ["states/a/2.parquet"]
    assert store.path("states/ab/4") == f"{store.root}/states/ab/4"
    assert store.spark_path("states/ab/4") == s.parse_address(store.root).child("states/ab/4").spark
    for bad in ("", "/etc/passwd", "../x"):
        with pytest.raises(InvariantError):
            store.delete([bad])


def test_a_report_is_kept_for_good(store: s.Store, reopen: Reopen) -> None:
    for run in range(1, KEPT_REPORTS + 3):
        store.commit([s.RecordRun(run, f"p{run}", {"n": run})])
    for known in (store, reopen()):
        assert known.world().runs[1].report == {}
        assert known.report(1) == {"n": 1}
        assert known.report(KEPT_REPORTS) == {"n": KEPT_REPORTS}
        with pytest.raises(UnknownObjectError, match="run 999"):
            known.report(999)


def test_a_store_that_cannot_be_read_says_so(
    store: s.Store, objects: s.Objects, clock: TickingClock
) -> None:
    with pytest.raises(StorageError):
        s.Store.open("unused", clock=clock, objects=FaultyObjects(objects, 0, error=lost))
    assert store.world().number == 0

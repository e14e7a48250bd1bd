"""Editions and pointers, in an object store in memory and on a disk: one behaviour for both."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from obstore.store import MemoryStore

from slacktide import store as s
from slacktide.errors import SinkError, StorageError
from slacktide.store.objects import connect
from slacktide.store.pointers import PointerLink, PointerObject, open_publication
from slacktide.store.publication import MARKER, Edition, Publication

OWNER, OTHER = "a" * 32, "b" * 32
ABOUT = {"view": "v"}


@dataclass
class Place:
    """Somewhere to publish: `objects` are those at the address, `editions` lie where the pointer leads."""

    publication: Publication
    write: Callable[[str, bytes], None]
    pointer: type

    def put(self, number: int, token: str, owner: str = OWNER) -> bool:
        """Write an edition and publish it."""
        edition = Edition.of(number, owner, token * 16)
        self.write(f"{edition.folder}/part-0.parquet", token.encode())
        self.write(f"{edition.folder}/.part-0.parquet.crc", b"")
        return self.publication.publish(edition, ABOUT)

    def seen(self, owner: str = OWNER) -> str | None:
        """The token of the edition that readers see."""
        newest = self.publication.newest(owner)
        return None if newest is None else newest.token[0]


@pytest.fixture(params=["disk", "objects"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "disk":
        address = s.parse_address(str(tmp_path / "out"))
        folder = s.parse_address(str(tmp_path / ".out.slacktide"))

        def write(key: str, data: bytes) -> None:
            connect(folder, create=True).put(key, data)

        return Place(open_publication(address), write, PointerLink)
    client = MemoryStore()
    address = s.parse_address("s3://b/out")
    editions = s.ObjectStore(client, address.child("_slacktide"))
    pointer = PointerObject(s.ObjectStore(client, address))
    publication = Publication(address, pointer, editions.address, lambda: editions)
    return Place(publication, editions.put, PointerObject)


def test_the_pointer_only_moves_on(place: Place) -> None:
    place.publication.check(OWNER)
    assert place.seen() is None
    assert place.put(5, "1")
    assert place.seen() == "1"
    assert not place.put(5, "2"), "the same answer"
    assert not place.put(4, "3"), "an older one"
    assert place.seen() == "1"
    assert place.put(9, "4")
    assert place.seen() == "4"
    place.publication.check(OWNER)


def test_publishing_again_is_no_loss(place: Place) -> None:
    assert place.put(5, "1")
    assert place.publication.publish(Edition.of(5, OWNER, "1" * 16), ABOUT), "its answer was lost"


def test_another_workspace_keeps_off(place: Place) -> None:
    place.put(5, "1")
    for act in (place.publication.newest, place.publication.check):
        with pytest.raises(SinkError, match="is published by another workspace"):
            act(OTHER)
    with pytest.raises(SinkError, match="is published by another workspace"):
        place.put(9, "2", OTHER)
    assert place.seen() == "1"


def test_editions_without_a_pointer_are_told_apart(place: Place) -> None:
    place.write(f"{Edition.of(3, OWNER, '1' * 16).folder}/part", b"left by a crash")
    place.publication.check(OWNER)
    with pytest.raises(SinkError, match="which Slacktide did not publish"):
        place.publication.check(OTHER)


def test_who_is_overtaken_looks_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at the pointer and its switch, others publish an older and a newer answer."""
    place.put(1, "1")
    switch = place.pointer.switch  # type: ignore[attr-defined]
    between = [(2, "2"), (9, "9")]

    def overtaken(self, edition, document, seen):
        if between and edition.token[0] == "5":
            number, token = between.pop(0)
            place.put(number, token)
        return switch(self, edition, document, seen)

    monkeypatch.setattr(place.pointer, "switch", overtaken)
    assert not place.put(5, "5")
    assert (place.seen(), between) == ("9", [])


def test_old_editions_go_when_readers_were_led_away_long_ago(place: Place) -> None:
    for number, token in ((1, "1"), (2, "2"), (3, "3")):
        place.put(number, token)
    place.write(f"{Edition.of(3, OWNER, 'f' * 16).folder}/part", b"lost the race")
    place.write(f"{Edition.of(7, OWNER, 'e' * 16).folder}/part", b"is about to be published")
    place.write(f"{Edition.of(1, OTHER, 'd' * 16).folder}/part", b"of another workspace")
    far, now = datetime(2100, 1, 1, tzinfo=UTC), datetime(2000, 1, 1, tzinfo=UTC)
    assert place.publication.collect(OWNER, now) == (0, 0)
    count, size = place.publication.collect(OWNER, far)
    assert (count, size > 0) == (3, True)
    assert place.seen() == "3"
    left = {meta.path.partition("/")[0][-1] for meta in place.publication._editions.list("")}
    assert {"3", "e", "d"} <= left
    assert left.isdisjoint({"1", "2", "f"})
    assert place.publication.collect(OWNER, far + timedelta(1)) == (0, 0)


def test_the_object_names_folder_and_files() -> None:
    client = MemoryStore()
    address = s.parse_address("s3://b/out")
    editions = s.ObjectStore(client, address.child("_slacktide"))
    objects = s.ObjectStore(client, address)
    publication = Publication(address, PointerObject(objects), editions.address, lambda: editions)
    edition = Edition.of(5, OWNER, "1" * 16)
    editions.put(f"{edition.folder}/part-1.parquet", b"")
    editions.put(f"{edition.folder}/part-0.parquet", b"")
    publication.publish(edition, ABOUT)
    latest = json.loads(objects.get("_latest.json") or b"")
    assert latest == {
        "folder": f"_slacktide/{edition.folder}",
        "format": 1,
        "view": "v",
        "files": ["part-0.parquet", "part-1.parquet"],
        "previous": None,
    }
    assert editions.get(f"{edition.folder}/{MARKER}") is not None
    assert publication.place(edition).spark == f"s3a://b/out/_slacktide/{edition.folder}"
    objects.put("_latest.json", b"{}")
    with pytest.raises(SinkError, match="Slacktide did not write"):
        publication.newest(OWNER)


class Careless(s.ObjectStore):
    """A store that does not heed the condition of an overwrite, as some that speak S3 do not."""

    def put_if_same(self, key: str, data: bytes, tag: object) -> bool:
        self.put(key, data)
        return True


def test_a_store_must_heed_the_condition_of_an_overwrite(place: Place) -> None:
    place.publication.check_overwrites("1")
    place.publication.check(OTHER)
    client = MemoryStore()
    address = s.parse_address("s3://b/out")
    careless = PointerObject(Careless(client, address))
    with pytest.raises(SinkError, match="s3://b/out ignores the condition of an overwrite") as e:
        careless.check_overwrites("1")
    assert "If-Match" in e.value.hint
    objects = s.ObjectStore(client, address)
    assert list(objects.list("")) == []
    objects.put("_slacktide/_probe-2", b"of a check that was killed")
    assert careless.foreign(OWNER) is None


def test_objects_of_others_are_left_alone() -> None:
    client = MemoryStore()
    address = s.parse_address("s3://b/out")
    objects = s.ObjectStore(client, address)
    publication = Publication(address, PointerObject(objects), address, lambda: objects)
    objects.put("theirs.parquet", b"")
    with pytest.raises(SinkError, match=r"s3://b/out holds theirs\.parquet"):
        publication.check(OWNER)


def test_a_disk_that_fails_may_be_tried_again(tmp_path: Path, monkeypatch) -> None:
    publication = open_publication(s.parse_address(str(tmp_path / "out")))

    def fail(_: Path) -> Path:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "readlink", fail)
    with pytest.raises(StorageError, match="Input/output error"):
        publication.newest(OWNER)

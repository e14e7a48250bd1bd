"""Objects under a root, and obstore's errors as ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from obstore.exceptions import GenericError

from slacktide.errors import (
    InvalidSettingError,
    RetryableError,
    SetupError,
    StorageError,
    WorkspaceError,
    WorkspaceMissingError,
)
from slacktide.store import Objects, connect, parse_address
from slacktide.store.failures import GIVE_CREDENTIALS, translated_failure

NAMES = ["plain", "a b.txt", "p%20q", "day=2026-01-01/é#x.parquet", 'q"?*[x]{y}~|^`']


@pytest.mark.parametrize("name", NAMES)
def test_keeps_any_name_to_the_letter(objects: Objects, name: str) -> None:
    assert objects.put_if_absent(name, b"one")
    assert not objects.put_if_absent(name, b"two")
    assert objects.get(name) == b"one"
    objects.put(name, b"three")
    meta = objects.head(name)
    assert meta is not None
    assert (meta.path, meta.size) == (name, 5)
    assert [found.path for found in objects.list("")] == [name]
    if objects.address.is_local:
        assert Path(objects.address.child(name).spelling).read_bytes() == b"three"
    objects.delete([name, name])
    assert objects.get(name) is None
    assert objects.head(name) is None


def test_lists_a_directory_and_what_is_below(objects: Objects) -> None:
    for name in ("d/a", "d/e/b", "da", "x"):
        objects.put(name, b"")
    assert sorted(meta.path for meta in objects.list("d")) == ["d/a", "d/e/b"]
    assert list(objects.list("none")) == []


def test_reads_many_in_their_order(objects: Objects) -> None:
    for i in range(40):
        objects.put(f"k{i}", str(i).encode())
    found = objects.get_many([f"k{i}" for i in range(41)])
    assert list(found) == [*(str(i).encode() for i in range(40)), None]
    assert list(objects.get_many([])) == []


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceMissingError, match="slacktide init"):
        connect(parse_address(str(tmp_path / "none")))


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("below", ["", "/below"])
def test_a_file_is_no_root(tmp_path: Path, create: bool, below: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(WorkspaceError, match="file"):
        connect(parse_address(f"{tmp_path}/file{below}"), create=create)


def test_a_directory_in_the_way_is_a_failure_of_the_store(tmp_path: Path) -> None:
    objects = connect(parse_address(str(tmp_path)))
    objects.put("taken", b"")
    with pytest.raises(StorageError, match="taken/below"):
        objects.put("taken/below", b"")


def test_options_that_are_not_known_are_named() -> None:
    with pytest.raises(InvalidSettingError, match="nonsense"):
        connect(parse_address("s3://bucket/x"), {"nonsense": "1"})


def test_options_reach_the_client() -> None:
    options = {"region": "eu-west-1", "client_options": {"timeout": "1s"}}
    assert connect(parse_address("s3://bucket/a b"), options).address.path == "a b"


NO_ACCESS = """
import os, sys
from slacktide.common.clock import system_clock
from slacktide.errors import WorkspaceError
from slacktide.store import MarkComplete, Store, connect, parse_address
if os.geteuid() == 0:
    os.setuid(65534)
objects = connect(parse_address(sys.argv[1]))
for call in (
    lambda: objects.put_if_absent("log/x", b""),
    lambda: objects.get("log/secret"),
    lambda: Store.create(sys.argv[1] + "/below", settings={}, clock=system_clock),
):
    try:
        call()
    except WorkspaceError as error:
        print(error)
"""


def test_a_root_without_access_is_told_plainly(tmp_path: Path) -> None:
    log = tmp_path / "ws" / "log"
    log.mkdir(parents=True)
    (log / "secret").write_text("x")
    (log / "secret").chmod(0)
    for place in (log, log.parent):
        place.chmod(0o555)
    for place in tmp_path.parents:
        if place != Path(place.root) and place.stat().st_uid == os.geteuid():
            place.chmod(place.stat().st_mode | 0o011)
    tmp_path.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", NO_ACCESS, str(log.parent)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [
        f"{log}/x",
        f"{log}/secret",
        f"{log.parent}/below",
    ]
    assert all("may not be read or written by this user" in line for line in lines)


def test_directories_of_an_attempt_go_with_their_last_file(tmp_path: Path) -> None:
    objects = connect(parse_address(str(tmp_path)))
    for name in ("dead/base/a", "dead/base/b", "dead/segment/a", "other/base/a"):
        objects.put(f"views/v/{name}", b"")
    objects.delete(["views/v/dead/base/a"])
    assert (tmp_path / "views/v/dead/base/b").exists()
    objects.delete(["views/v/dead/base/b", "views/v/dead/segment/a", "views/v/dead/gone/a"])
    assert [path.name for path in (tmp_path / "views/v").iterdir()] == ["other"]
    objects.delete(["views/v/other/base/a"])
    assert list((tmp_path / "views/v").iterdir()) == []


@pytest.mark.parametrize("sign", ["No space left on device (os error 28)", "Disk quota exceeded"])
def test_a_full_disk_is_told_from_other_failures(sign: str) -> None:
    told = translated_failure(OSError(f"Unable to copy data: {sign}"), "/w/log/1", denied=False)
    assert type(told) is StorageError
    assert told.message == "no space is left at /w/log/1"
    assert "make room" in told.hint


def test_who_has_no_credentials_is_told_how_to_give_some() -> None:
    """A machine may have a role, and its service may be slow: the call can be repeated."""
    address = "http://169.254.169.254/latest/api/token"
    told = translated_failure(
        GenericError(f"Error performing PUT {address}"), "s3://b/w", denied=False
    )
    assert isinstance(told, RetryableError)
    assert "AWS_ACCESS_KEY_ID" in told.hint
    other = translated_failure(
        GenericError("Error performing PUT http://s3"), "s3://b/w", denied=False
    )
    assert other.hint == "the same call may succeed when repeated"


def test_reads_parts_of_many_in_their_order(objects: Objects) -> None:
    for i in range(40):
        objects.put(f"k{i}", f"{i:08}".encode())
    found = objects.get_ranges([(f"k{i}", 4, 8) for i in range(41)])
    assert list(found) == [*(f"{i:04}".encode() for i in range(40)), None]
    assert list(objects.get_ranges([("k7", 0, 2), ("k7", 7, 8)])) == [b"00", b"7"]


@pytest.mark.parametrize(
    ("code", "way_out"),
    [
        ("ExpiredToken", GIVE_CREDENTIALS),
        ("PermanentRedirect", "region"),
        ("NoSuchBucket", "create it"),
    ],
)
def test_what_s3_says_in_xml_is_told_and_is_no_matter_of_trying_again(
    code: str, way_out: str
) -> None:
    body = f'<?xml version="1.0"?>\n<Error><Code>{code}</Code><Message>so it is</Message></Error>'
    error = GenericError(f"Error performing GET http://s3 in 1.2ms: 400 Bad Request: {body}")
    told = translated_failure(error, "s3://b/w", denied=False)
    assert isinstance(told, SetupError)
    assert f"{code}: so it is" in str(told)
    assert way_out in (told.hint or "")
    busy = GenericError(f"503: {body.replace(code, 'SlowDown')}")
    assert isinstance(translated_failure(busy, "s3://b/w", denied=False), StorageError)

"""Spark's connectors are what the lock says, or are not used."""

from __future__ import annotations

import re
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tools import jars
from tools.bootstrap import ROOT, Unprepared


@pytest.fixture
def brought(tmp_path: Path) -> Path:
    """A folder as Spark leaves it, and its lock."""
    (tmp_path / "jars").mkdir()
    for name in ("a.jar", "b.jar"):
        (tmp_path / "jars" / name).write_text(name)
    lock = tmp_path / "lock"
    lock.write_text(jars.written(jars.digests(tmp_path / "jars")))
    return tmp_path


def test_what_is_there_is_used(brought: Path) -> None:
    (brought / "jars" / "more.jar").touch()
    found = jars.connector_jars(brought, brought / "lock")
    assert [jar.name for jar in found] == ["a.jar", "b.jar"]


def test_another_content_is_refused(brought: Path) -> None:
    (brought / "jars" / "b.jar").write_text("other")
    with pytest.raises(Unprepared, match=r"not what lock says: b\.jar"):
        jars.connector_jars(brought, brought / "lock")


def test_the_lock_holds_what_is_asked_for_and_no_addresses() -> None:
    lines = jars.LOCK.read_text(encoding="utf-8").splitlines()
    assert [
        line for line in lines if not re.fullmatch(r"[\w.-]+\.jar sha256:[0-9a-f]{64}", line)
    ] == []
    locked = jars.read(jars.LOCK)
    for package in (*jars.PACKAGES, jars.AVRO):
        group, name, version = package.split(":")
        assert f"{group}_{name}-{version}.jar" in locked
    for package in jars.EXCLUDED:
        assert not any(name.startswith(package.replace(":", "_")) for name in locked)


def test_the_readme_names_the_package_of_avro() -> None:
    assert jars.AVRO in (ROOT / "README.md").read_text(encoding="utf-8")


def test_a_folder_where_spark_can_resolve_nothing(
    tmp_path: Path, brought: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jars, "find_java", lambda _: None)
    with pytest.raises(Unprepared, match="Java"):
        jars.connector_jars(tmp_path / "new", brought / "lock")


def test_who_comes_at_the_same_time_waits(
    tmp_path: Path, brought: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Barrier(2)
    resolved = []

    def resolve(folder: Path) -> Path:
        resolved.append(folder)
        return Path(shutil.copytree(brought / "jars", folder / "jars"))

    def bring() -> list[Path]:
        asked.wait(timeout=10)
        return jars.connector_jars(tmp_path / "new", brought / "lock")

    monkeypatch.setattr(jars, "resolved", resolve)
    with ThreadPoolExecutor(2) as pool:
        first, second = [
            made.result(timeout=10) for made in [pool.submit(bring), pool.submit(bring)]
        ]
    assert first == second
    assert len(resolved) == 1

"""Finding Java: where it is looked for, which versions do, and what is said when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from slacktide.errors import SetupError
from slacktide.spark.sessions.session import find_java


def install(home: Path, version: str) -> Path:
    """Put a program into a home that prints a version as Java does."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    program.chmod(0o755)
    return home


@pytest.mark.parametrize("version", ["17.0.15", "21.0.2", "21"])
def test_is_where_java_home_says(tmp_path: Path, version: str) -> None:
    home = install(tmp_path / "jdk", version)
    assert find_java({"JAVA_HOME": str(home)}, ()) == home


def test_is_on_the_path(tmp_path: Path) -> None:
    home = install(tmp_path / "jdk", "17.0.1")
    assert find_java({"PATH": str(home / "bin")}, ()) == home


def test_is_in_a_usual_place(tmp_path: Path) -> None:
    install(tmp_path / "jvm" / "java-11", "11.0.2")
    home = install(tmp_path / "jvm" / "java-17", "17.0.1")
    assert find_java({}, (str(tmp_path / "jvm"),)) == home


def test_is_inside_a_bundle(tmp_path: Path) -> None:
    home = install(tmp_path / "jvm" / "x.jdk" / "Contents" / "Home", "21.0.1")
    assert find_java({}, (str(tmp_path / "jvm"),)) == home


def test_an_unusable_one_is_passed_over(tmp_path: Path) -> None:
    old = install(tmp_path / "old", "1.8.0_292")
    home = install(tmp_path / "jdk", "17.0.1")
    environment = {"JAVA_HOME": str(old), "PATH": str(home / "bin")}
    assert find_java(environment, ()) == home


def test_none_is_one_error_with_the_way_out(tmp_path: Path) -> None:
    old = install(tmp_path / "old", "11.0.2")
    with pytest.raises(SetupError, match=r"Java 17 or 21.*11 in") as raised:
        find_java({"JAVA_HOME": str(old)}, ())
    assert "openjdk-17-jre-headless" in raised.value.hint

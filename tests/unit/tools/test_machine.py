"""Java and the browser are found where they are, and only where they fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.machine import find_browser, find_java, java_version


def put_program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def put_java(home: Path, version: str, *, release: bool = True) -> Path:
    """Make a folder that looks like a Java, with a release file or with a program that answers."""
    put_program(home / "bin" / "java", f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    if release:
        (home / "release").write_text(
            f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n', encoding="utf-8"
        )
    return home


@pytest.mark.parametrize("release", [True, False])
@pytest.mark.parametrize(("text", "major"), [("17.0.15", 17), ("21", 21), ("1.8.0_402", 1)])
def test_reads_the_version(tmp_path: Path, text: str, major: int, release: bool) -> None:
    assert java_version(put_java(tmp_path / "jdk", text, release=release)) == major


def test_a_folder_without_java_has_no_version(tmp_path: Path) -> None:
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.1"\n', encoding="utf-8")
    assert java_version(tmp_path) is None


def test_what_the_user_says_comes_first(tmp_path: Path) -> None:
    said, other = put_java(tmp_path / "said", "21.0.1"), put_java(tmp_path / "other", "17.0.1")
    environ = {"JAVA_HOME": str(said), "PATH": str(other / "bin")}
    assert find_java(environ, [str(tmp_path / "*")]) == said


def test_an_unfit_java_is_passed_over(tmp_path: Path) -> None:
    unfit, fit = put_java(tmp_path / "a25", "25"), put_java(tmp_path / "b17", "17.0.2")
    environ = {"JAVA_HOME": str(unfit), "PATH": str(unfit / "bin")}
    assert find_java(environ, [str(tmp_path / "*")]) == fit


def test_a_link_on_the_path_leads_to_its_home(tmp_path: Path) -> None:
    home = put_java(tmp_path / "jvm" / "java-17", "17.0.2")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "bin")}, []) == home


def test_places_in_the_home_folder(tmp_path: Path) -> None:
    home = put_java(tmp_path / "me" / ".sdkman" / "candidates" / "java" / "17.0.9-tem", "17.0.9")
    environ = {"PATH": str(tmp_path), "HOME": str(tmp_path / "me")}
    assert find_java(environ, ["~/.sdkman/candidates/java/*"]) == home


def test_none_where_there_is_none(tmp_path: Path) -> None:
    put_java(tmp_path / "jdk", "11.0.2")
    assert (
        find_java({"PATH": str(tmp_path)}, [str(tmp_path / "*"), str(tmp_path / "gone" / "*")])
        is None
    )


def test_the_browser_by_any_of_its_names(tmp_path: Path) -> None:
    assert find_browser({"PATH": str(tmp_path)}) is None
    program = put_program(tmp_path / "google-chrome")
    assert find_browser({"PATH": str(tmp_path)}) == str(program)
    program = put_program(tmp_path / "chromium")
    assert find_browser({"PATH": str(tmp_path)}) == str(program)

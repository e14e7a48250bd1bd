"""What the machine offers: Java 17 or 21, a browser, and packages of the system where we may install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

JAVA_VERSIONS = (17, 21)
JAVA_PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless")
JAVA_ADVICE = """\
Slacktide needs Java 17 or 21, and found neither in JAVA_HOME, on PATH, nor in the usual places.
  Debian, Ubuntu   sudo apt-get install openjdk-17-jre-headless   (or openjdk-21-jre-headless)
  Fedora, RHEL     sudo dnf install java-21-openjdk-headless
  macOS            brew install openjdk@17
  elsewhere        unpack any JDK 17 or 21 and set JAVA_HOME to its folder"""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_USUAL_PLACES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)


def java_homes(environ: Mapping[str, str], places: Iterable[str] = _USUAL_PLACES) -> Iterator[Path]:
    """Yield the folders that may hold a Java: what the user says first, then what is usual."""
    if environ.get("JAVA_HOME"):
        yield Path(environ["JAVA_HOME"])
    on_path = shutil.which("java", path=environ.get("PATH", os.defpath))
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for place in places:
        expanded = Path(environ.get("HOME", "/")) / place[2:] if place[:2] == "~/" else Path(place)
        yield from sorted(Path(expanded.anchor).glob(str(expanded.relative_to(expanded.anchor))))


def java_version(home: Path) -> int | None:
    """Give the major version of the Java in a folder; None where there is none."""
    program = home / "bin" / "java"
    if not os.access(program, os.X_OK):
        return None
    try:
        text = (home / "release").read_text(encoding="utf-8", errors="replace")
        found = re.search(r'^JAVA_VERSION="(\d+)', text, flags=re.MULTILINE)
    except OSError:
        found = None
    if found is None:
        answer = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
        found = re.search(r'version "(\d+)', answer.stderr + answer.stdout)
    return int(found[1]) if found else None


def find_java(environ: Mapping[str, str], places: Iterable[str] = _USUAL_PLACES) -> Path | None:
    """Find the first Java that Spark runs on."""
    homes = java_homes(environ, places)
    return next((home for home in homes if java_version(home) in JAVA_VERSIONS), None)


def find_browser(environ: Mapping[str, str]) -> str | None:
    """Find the Chromium that the browser tests drive."""
    path = environ.get("PATH", os.defpath)
    return next((found for name in BROWSERS if (found := shutil.which(name, path=path))), None)


def apt_prefix() -> list[str] | None:
    """Give the words before ``apt-get`` that make it work without a question; None if nothing does."""
    if shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    asked = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n"] if asked.returncode == 0 else None


def apt_install(candidates: Sequence[str]) -> bool:
    """Install the first of some packages that this system offers; say whether one is there now."""
    prefix = apt_prefix()
    if prefix is None:
        return False
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    subprocess.run([*apt, "update"], stdin=subprocess.DEVNULL, check=False)
    for package in candidates:
        command = [*apt, "install", "-y", "--no-install-recommends", package]
        if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode == 0:
            return True
    return False

"""What is in the checkout says nothing about the machines that it was written on."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from tests.meta.tree import ROOT, product_files

LOCKS = sorted((ROOT / "locks").glob("*.txt"))
# Spelled in parts, so that this file is no example of what it looks for.
MACHINE = re.compile(
    "|".join(
        [
            "/" + r"root/",
            "/" + r"home/[a-z]",
            "/" + r"Users/[A-Za-z]",
            "/" + r"work/",
            r"\." + r"pyenv",
            r"site-" + r"packages/",
        ]
    )
)
ADDRESS = re.compile(r"://|--(?:extra-)?index|--find-links|--trusted-host|\s@\s")
PINNED = re.compile(r"[a-z0-9.-]+(?:\[[a-z,]+\])?==\S+(?: ; .*)? \\")


def machine_places(text: str) -> list[str]:
    """Give the lines that name a place of one machine."""
    return [line.strip() for line in text.splitlines() if MACHINE.search(line)]


def test_no_file_names_a_place_of_one_machine() -> None:
    found = {}
    for path in product_files():
        try:
            lines = machine_places(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue
        if lines:
            found[str(path.relative_to(ROOT))] = lines
    assert found == {}


def test_sees_a_place_of_one_machine() -> None:
    assert machine_places("a = 1\nsee " + "/root" + "/notes\n") == ["see " + "/root" + "/notes"]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_lock_holds_pins_and_hashes_alone(lock: Path) -> None:
    lines = lock.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if ADDRESS.search(line)] == []
    pins = [line for line in lines if not line.startswith("    --hash=sha256:")]
    assert [line for line in pins if not PINNED.fullmatch(line)] == []


def versions(lock: Path) -> set[str]:
    """Give the pins of a lock as ``name==version``."""
    lines = lock.read_text(encoding="utf-8").splitlines()
    return {line.split()[0] for line in lines if not line.startswith(" ")}


@pytest.mark.parametrize("name", ["core.txt", "spark.txt", "airflow.txt"])
def test_locks_agree(name: str) -> None:
    assert versions(ROOT / "locks" / name) <= versions(ROOT / "locks" / "dev.txt")


def test_spark_and_its_client_are_one_version() -> None:
    pins = dict(pin.split("==") for pin in versions(ROOT / "locks" / "airflow.txt"))
    assert pins["pyspark"] == pins["pyspark-client"]


def test_the_widest_lock_holds_whatever_is_asked_for() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)
    asked = [
        *project["project"]["dependencies"],
        *chain(*project["project"]["optional-dependencies"].values()),
        *project["dependency-groups"]["dev"],
        *project["dependency-groups"]["lint"],
        *project["dependency-groups"]["test"],
    ]
    names = {re.split(r"[\[<>=~!; ]", line)[0] for line in asked if isinstance(line, str)}
    assert names <= {
        pin.split("==")[0].partition("[")[0] for pin in versions(ROOT / "locks/dev.txt")
    }

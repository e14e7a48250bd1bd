"""A disk that is full in the middle of a write, a real one: nothing is visible, and room helps."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slacktide.engine.workspace import Workspace
from slacktide.errors import StorageError
from tests.harness.capabilities import DIMENSION, FACTS, NESTED
from tests.harness.constructs import CONSTRUCTS, T, U, W
from tests.harness.faults.kind import change, large
from tests.harness.lab import Lab, bag
from tests.harness.objects import TickingClock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SIZE = 8 << 20
PAGE = 4096
MOST = 40


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    if subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("only who may mount a disk can fill one")
    yield place
    # A task that Spark gave up may still hold its file: the disk goes when the last file is closed.
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(disk: Path, pages: int) -> None:
    """Leave some pages free."""
    ballast = disk / "ballast"
    ballast.unlink(missing_ok=True)
    ballast.touch()
    room = os.statvfs(disk)
    ballast.write_bytes(bytes(max(0, room.f_bavail * room.f_frsize - pages * PAGE)))


CHANGES: dict[str, tuple[Callable[[Lab], None], int]] = {
    "written by the driver": (change, 1),
    "written by Spark": (large, 8),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_disk_that_is_full_at_any_moment(spark: SparkSession, disk: Path, case: str) -> None:
    land, step = CHANGES[case]
    lab = Lab(spark, disk)
    for name, ddl, rows in (("t", T, FACTS), ("u", U, DIMENSION), ("w", W, NESTED)):
        lab.source(name, ddl, *rows)
    lab.view("v", CONSTRUCTS["left join"])
    lab.view("sums", CONSTRUCTS["SUM, COUNT, AVG"])
    lab.refresh()
    land(lab)
    plan = lab.ws.plan()
    number, old = lab.number, {name: lab.bag(name) for name in ("v", "sums")}
    told = []
    for pages in range(0, MOST * step, step):
        fill(disk, pages)
        try:
            report = Workspace.open(lab.ws.root, clock=TickingClock()).refresh(spark, plan.plan_id)
            break
        except StorageError as error:
            told.append(error)
        reader = Workspace.open(lab.ws.root, clock=TickingClock())
        for name, answer in old.items():
            assert bag(tuple(row) for row in reader.read(spark, name).collect()) == answer
        assert lab.number == number
    else:
        pytest.fail("there was never room enough")
    assert len(told) >= 3
    assert all("no space is left" in error.message for error in told), told
    assert all("make room" in error.hint for error in told)
    assert {view.method for view in report.views.values()} == {"incremental"}
    (disk / "ballast").unlink()
    lab.check()
    for name, answer in old.items():
        led = answer.copy()
        for row, count in lab.changes(name, 1).items():
            led[row] += count
        assert {row: n for row, n in led.items() if n} == lab.bag(name)

"""Landed files that are written, damaged or removed while a run reads them: never an answer without their rows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from slacktide import errors as e
from slacktide.engine.running import computing, refreshing
from slacktide.spark.tables import landed
from tests.harness.lab import Lab
from tests.harness.summed import refused

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("content", ["same", "other"])
def test_a_file_that_is_written_while_the_run_reads_it(
    shop: Lab, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have been cut off when it was read, even if it is whole again at the end."""
    shop.land("t", insert=[("c", 1)])
    newest = newest_file(shop)
    whole, compute = newest.read_bytes(), computing.compute

    def computed(*given: Any) -> None:
        compute(*given)
        newest.unlink()
        newest.write_bytes(whole if content == "same" else whole + b" ")
        os.utime(newest, (1, 1))

    plan = shop.ws.plan()
    with monkeypatch.context() as patch:
        patch.setattr(refreshing, "compute", computed)
        with refused(shop, e.CommitConflictError, "was written while the run read it"):
            shop.ws.refresh(shop.spark, plan)
    if content == "same":
        shop.step(sums="incremental")
        return
    with pytest.raises(e.ArrivalChangedError, match=newest.name):
        shop.ws.refresh(shop.spark, plan)


@pytest.mark.parametrize("setting", ["ignoreCorruptFiles", "ignoreMissingFiles"])
def test_files_are_read_whole_whatever_the_session_is_told(shop: Lab, setting: str) -> None:
    """A session that passes over damaged files would leave their rows out."""
    shop.view("copied", "SELECT k, v FROM t")
    shop.refresh()
    shop.land("t", insert=[("c", n) for n in range(1000)])
    name, told = f"spark.sql.files.{setting}", shop.spark._jsc.sc().conf()
    told.set(name, "true")
    try:
        plan = shop.ws.plan()
        newest = newest_file(shop)
        whole = newest.read_bytes()
        build = landed._landed

        def built(*given: Any) -> Any:
            """Spark has seen the file, and has not read it."""
            table = build(*given)
            damage(newest, setting)
            return table

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(landed, "_landed", built)
            patch.setattr(refreshing, "check_unmoved", lambda *_, **__: None)
            with pytest.raises(e.SlacktideError, match=newest.name):
                shop.ws.refresh(shop.spark, plan)
            patch.undo()
        newest.write_bytes(whole)
        shop.step()
    finally:
        told.remove(name)


def newest_file(shop: Lab) -> Path:
    """What has landed last."""
    return max(shop.folder("t").iterdir(), key=lambda path: path.stat().st_mtime_ns)


def damage(path: Path, setting: str) -> None:
    """Have a file be gone, or not be what it was."""
    if setting == "ignoreMissingFiles":
        path.unlink(missing_ok=True)
        return
    content = path.read_bytes()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    path.write_bytes(content[:4] + bytes(len(content) - footer - 4) + content[-footer:])


def test_a_file_that_is_torn_while_the_run_reads_it_is_tried_again(
    shop: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Spark says of it then is not what is wrong with it."""
    shop.land("t", insert=[("c", n) for n in range(1000)])
    newest = newest_file(shop)
    whole, compute = newest.read_bytes(), computing.compute

    def computed(*given: Any) -> None:
        damage(newest, "torn")
        compute(*given)

    plan = shop.ws.plan()
    with monkeypatch.context() as patch:
        patch.setattr(refreshing, "compute", computed)
        with refused(shop, e.CommitConflictError, "was written while the run read it"):
            shop.ws.refresh(shop.spark, plan)
    newest.write_bytes(whole)
    shop.step(sums="incremental")

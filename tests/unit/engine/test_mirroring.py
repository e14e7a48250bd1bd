"""Mirrors are written for sources, and errors say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from slacktide.engine.running.mirroring import Mirrors, write_mirrors
from slacktide.spark.tasks.executor import Executor
from slacktide.spark.tasks.task import Outcome
from tests.unit.engine.test_foreign_keys import world


class Heard:
    """An executor that notes what the tasks are about."""

    def __init__(self) -> None:
        self.titles: list[str] = []

    def run(self, task: Any) -> Outcome:
        self.titles.append(task.title)
        return Outcome()


def test_a_mirror_is_about_its_source(tmp_path: Path) -> None:
    heard = Heard()
    write_mirrors(cast("Executor", heard), world(tmp_path), Mirrors({"o": 2}, {}))
    assert heard.titles == ["source o"]

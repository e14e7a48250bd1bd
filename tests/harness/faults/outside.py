"""What a run writes beside the workspace: answers that are published, rows that are kept apart."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.harness.faults.kind import OUTSIDE, QUARANTINE
from tests.harness.lab import bag


class Outside:
    """The folder of a bench in which sinks and quarantines lie, as it was when it was first looked at."""

    def __init__(self, folder: Path) -> None:
        self._place = folder / OUTSIDE
        self._kept = folder / f"{OUTSIDE} kept"
        self._place.mkdir(exist_ok=True)
        shutil.copytree(self._place, self._kept, symlinks=True)

    def restore(self) -> None:
        """Put everything back."""
        shutil.rmtree(self._place)
        shutil.copytree(self._kept, self._place, symlinks=True)

    def published(self) -> dict[str, Counter[Any]]:
        """What a reader without Slacktide sees, by view."""
        links = [path for path in self._place.iterdir() if path.is_symlink()]
        return {
            link.name: bag(tuple(row.values()) for row in pq.read_table(link).to_pylist())
            for link in links
        }

    def editions(self) -> list[int]:
        """How many editions of each answer there are."""
        folders = self._place.glob(".*.slacktide")
        return [sum(path.is_dir() for path in folder.iterdir()) for folder in folders]

    def misfits(self) -> dict[str, bytes]:
        """The files of rows that did not fit."""
        place = self._place / QUARANTINE
        found = (path for path in place.rglob("*") if path.is_file())
        return {path.relative_to(place).as_posix(): path.read_bytes() for path in found}

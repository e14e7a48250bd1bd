"""What the answer alone takes from mirrors to which changes came: by the author's text, and over signed rows.

    python -m tests.campaigns.full_runs --folder FOLDER --out tests/campaigns/full_runs.json

The 22 views of TPC-H in one workspace with the policy `full`. After the first run, after a scattered arrival of
1 % of the rows and after a clustered one of 10 % both programs run over the same versions in turns, `--repetitions`
times, and nothing of it is committed; which goes first takes turns. Figures are CPU seconds in tasks. A view is compared where both give the
same rows; one that would keep no states has its text alone, and is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from slacktide.algebra.view import ReadView
from slacktide.cli.showcase import Showcase
from slacktide.engine.definitions.expansion import query_of
from slacktide.engine.workspace import Workspace
from slacktide.optimizer.programs.full import without_states
from slacktide.optimizer.programs.upkeep import analysis_of
from slacktide.spark.tasks.task import Task
from slacktide.store.store import Store
from slacktide.workloads.tpch import QUERIES
from tests.harness.by_line import by_line
from tests.harness.objects import TickingClock
from tests.harness.versions import versions
from tests.harness.workspace_on_spark import rounded_bag, rows_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slacktide.program.operator import Program
    from slacktide.store.record import ViewRecord

BUILT = "as built"
ARRIVALS = {"scattered 1 %": ("scattered", 0.01), "clustered 10 %": ("clustered", 0.1)}
WAYS = ("text", "signed")
Cells = Mapping[str, Mapping[str, Any]]


class Pairs:
    """Both programs of each view over what a workspace has taken in.

    Args:
        spark: a session that does nothing else.
        case: a landing zone that is not there yet.
        repetitions: of each program.
    """

    def __init__(self, spark: SparkSession, case: Showcase, repetitions: int) -> None:
        case.generate()
        self._spark, self._root, self._repetitions = spark, str(case.root / "full"), repetitions
        self._runs = 0
        self._workspace = Workspace.create(self._root)
        for source, declaration in case.sources().items():
            self._workspace.add_source(source, **declaration)
        for view, text in case.queries().items():
            self._workspace.add_view(spark, view, text, policy="full")
        self.take_in()

    def take_in(self) -> None:
        """Refresh all views."""
        self._workspace.refresh(self._spark)

    def cells(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What both programs of each view take now."""
        store = Store.open(self._root, clock=TickingClock())
        for name, record in store.world().views.items():
            view = ReadView.from_dict(record.definition)
            alone = without_states(name, view, analysis_of(view))
            if alone.text != alone.signed:
                programs = {"text": alone.text, "signed": alone.signed}
                yield name, self._cell(store, record, view, programs)

    def _cell(
        self, store: Store, record: ViewRecord, view: ReadView, programs: Mapping[str, Program]
    ) -> dict[str, Any]:
        from slacktide.spark.tasks.executor import Executor

        seconds: dict[str, list[float]] = {way: [] for way in programs}
        answers = []
        query = query_of(record.sql, view, {})
        for repetition in range(self._repetitions):
            order = WAYS if repetition % 2 else reversed(WAYS)
            for way in order:
                self._runs += 1
                attempt = f"pair-{self._runs}"
                executor = Executor(
                    self._spark, store, store.world(), attempt=attempt, now=TickingClock()()
                )
                end = dict(record.versions or {})
                task = Task(record.name, programs[way], {}, end, {}, query, kind="view")
                outcome = executor.run(task)
                assert outcome.answer is not None
                seconds[way].append(round(outcome.cost.cpu_seconds, 3))
                answers.append(rounded_bag(rows_in(store, outcome.answer)))
        return {**seconds, "same": all(answer == answers[0] for answer in answers)}


def summary(cells: Cells) -> dict[str, Any]:
    """The figures of a campaign: after each arrival, what signed rows take of what the text takes."""
    ratios: dict[str, list[float]] = {}
    for name, cell in cells.items():
        after = name.partition(" ")[2]
        ratios.setdefault(after, []).append(median(cell["signed"]) / median(cell["text"]))
    return {
        "different": [name for name, cell in cells.items() if not cell["same"]],
        "signed of text": {after: _spread(found) for after, found in ratios.items()},
        "after changes of as built": {
            way: {after: _spread(_grown(cells, way, after)) for after in ARRIVALS} for way in WAYS
        },
    }


def _grown(cells: Cells, way: str, after: str) -> list[float]:
    views = [name.partition(" ")[0] for name in cells if name.endswith(BUILT)]
    pairs = [(cells.get(f"{view} {after}"), cells[f"{view} {BUILT}"]) for view in views]
    return [median(now[way]) / median(then[way]) for now, then in pairs if now]


def _spread(found: list[float]) -> dict[str, float]:
    if not found:
        return {}
    return {
        "least": round(min(found), 2),
        "median": round(median(found), 2),
        "most": round(max(found), 2),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign."""
    from slacktide.spark.sessions.session import start_session

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="that is not there yet")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--views", nargs="+", default=[*QUERIES])
    asked = parser.parse_args(arguments)
    case = Showcase(asked.folder, asked.scale, asked.views)
    conf = case.spark_conf() | {"spark.driver.memory": "4g"}
    spark = start_session("full-runs", conf=conf)
    pairs, cells = Pairs(spark, case, asked.repetitions), {}
    for after in (BUILT, *ARRIVALS):
        if after in ARRIVALS:
            case.land_batch(*ARRIVALS[after])
            pairs.take_in()
        for view, cell in pairs.cells():
            cells[f"{view} {after}"] = cell
            sys.stdout.write(f"{view} {after}: {cell}\n")
            sys.stdout.flush()
    shutil.rmtree(asked.folder)
    machine = {"cores": os.cpu_count(), "machine": platform.machine()}
    setting = {"scale": asked.scale, "repetitions": asked.repetitions}
    found = {**versions(spark), **machine, **setting, "summary": summary(cells), "cells": cells}
    asked.out.write_text(by_line(found, "cells"))
    sys.stdout.write(json.dumps(found["summary"], indent=1) + "\n")
    return int(bool(found["summary"]["different"]))


if __name__ == "__main__":
    raise SystemExit(main())

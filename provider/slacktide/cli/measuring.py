"""Measuring Slacktide beside batch runs, pair after pair, on one machine in one run.

A pair is one arrival: Slacktide refreshes all views, and batch answers each of their queries from
scratch over plain Parquet tables of the same rows, and writes the answers. Which of the two goes
first alternates. The first pairs, in which Java still compiles, are not counted. What a mirror costs
that is written anew stands in the CPU and wall time of the whole alone.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from slacktide import __version__
from slacktide.cli.showcase import Showcase
from slacktide.engine.workspace import Workspace
from slacktide.errors import ExecutionError
from slacktide.spark.measures.metrics import process_cpu_seconds
from slacktide.spark.verification.batch import batch_run

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession

SEED = 20261122
COMPARED = "that of the batch run beside it"
_FILE_ROWS = 1_000_000

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """What is measured.

    Attributes:
        scale: that of TPC-H.
        natures: of the changes.
        shares: rows that an arrival changes, as shares of the base.
        arrivals: pairs for each nature and share.
        views: names of TPC-H queries.
        warming: pairs before those of each nature and share, neither counted nor compared.
    """

    scale: float
    natures: tuple[str, ...]
    shares: tuple[float, ...]
    arrivals: int
    views: tuple[str, ...]
    warming: int = 1


def measure(
    spark: SparkSession,
    folder: Path,
    setting: Setting,
    tell: Callable[[str], None],
    keep: Callable[[Document], None],
) -> Document:
    """Measure all cells of a setting.

    Args:
        spark: a session that does nothing else.
        folder: an empty directory.
        setting: what is measured.
        tell: takes a line on what is done.
        keep: takes what was found so far, after each pair.

    Returns:
        The setting, the machine, what the first build and the check of foreign keys cost, what is kept,
        and for each cell the costs of both sides by view.
    """
    return _Bench(spark, folder, setting, tell).run(keep)


class _Bench:
    def __init__(
        self, spark: SparkSession, folder: Path, setting: Setting, tell: Callable[[str], None]
    ) -> None:
        self._spark = spark
        self._setting = setting
        self._tell = tell
        self._plain = folder / "plain"
        self._answers = folder / "answers"
        self._case = Showcase(folder, setting.scale, setting.views)
        self._pairs = 0

    def run(self, keep: Callable[[Document], None]) -> Document:
        self._tell(f"generating TPC-H at scale {self._setting.scale:g}")
        self._case.generate()
        workspace = Workspace.create(str(self._case.workspace))
        for name, declaration in self._case.sources().items():
            workspace.add_source(name, **declaration)
        for name, text in self._case.queries().items():
            workspace.add_view(self._spark, name, text)
        self._tell("building all answers and states")
        first = self._refresh(workspace)
        self._tell("checking keys and foreign keys")
        references = self._foreign_keys(workspace)
        warming: list[Document] = []
        cells: list[Document] = []
        found = {
            "slacktide": __version__,
            "spark": self._spark.version,
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "seed": SEED,
            "setting": asdict(self._setting),
            "compared": COMPARED,
            "first_build": first,
            "references": references,
            "warming": warming,
            "cells": cells,
        }
        for nature in self._setting.natures:
            for share in self._setting.shares:
                for pair in self._warmed(workspace, nature, share):
                    warming.append(pair)
                    keep(found)
                for cell in self._cells(workspace, nature, share):
                    cells.append(cell)
                    keep(found)
        status = workspace.status()
        return found | {
            "state_bytes": status.state_bytes,
            "mirror_bytes": status.mirror_bytes,
            "answer_bytes": status.answer_bytes,
            "plain_bytes": sum(file.stat().st_size for file in self._plain.rglob("*.parquet")),
            "state_bytes_by_view": {n: v["state_bytes"] for n, v in status.views.items()},
        }

    def _warmed(self, workspace: Workspace, nature: str, share: float) -> Iterator[Document]:
        for number in range(1, self._setting.warming + 1):
            self._tell(f"{nature}, {share:.2%} of the rows, a pair that warms Java up")
            yield self._pair(workspace, nature, share, number)

    def _cells(self, workspace: Workspace, nature: str, share: float) -> Iterator[Document]:
        for number in range(1, self._setting.arrivals + 1):
            self._tell(f"{nature}, {share:.2%} of the rows, arrival {number}")
            pair = self._pair(workspace, nature, share, number)
            yield pair | {"different": self._different(workspace)}

    def _different(self, workspace: Workspace) -> list[str]:
        """The views whose answers are not those of the batch run beside them."""
        verified = workspace.verify(
            self._spark,
            sources={name: str(self._plain / name) for name in self._case.sources()},
            answers={name: str(self._answers / name) for name in self._case.queries()},
        )
        return [name for name, view in verified.views.items() if not view.equal]

    def _pair(self, workspace: Workspace, nature: str, share: float, number: int) -> Document:
        arrived = self._case.land_batch(nature, share, SEED)
        self._write_plain(arrived.files)
        sides = {"slacktide": lambda: self._refresh(workspace), "batch": self._batch}
        self._pairs += 1
        order = [*sides][:: 1 if self._pairs % 2 else -1]
        costs = {side: sides[side]() for side in order}
        return {
            "nature": nature,
            "share": share,
            "arrival": number,
            "order": order,
            "changed_rows": sum(arrived.rows.values()),
            **costs,
        }

    def _refresh(self, workspace: Workspace) -> Document:
        with self._measured() as total:
            report = workspace.refresh(self._spark)
        failed = [name for name, view in report.views.items() if view.method == "failed"]
        if failed:
            raise ExecutionError(
                f"view {failed[0]} failed: {report.views[failed[0]].error}",
                hint="a bench of the views that work: --views",
            )
        total["views"] = {
            name: {"method": view.method, **view.actual} for name, view in report.views.items()
        }
        total["mirrors"] = {
            name: {"piece": mirror.piece, **mirror.actual}
            for name, mirror in report.mirrors.items()
        }
        total["compactions"] = {
            chain: dict(done.actual) for chain, done in report.compactions.items()
        }
        total["asked"] = dict(report.asked)
        return total

    def _foreign_keys(self, workspace: Workspace) -> Document:
        with self._measured() as total:
            verified = workspace.verify_foreign_keys(self._spark)
        total["checks"] = [check.line for check in verified.checks]
        return total

    def _batch(self) -> Document:
        session = self._spark.newSession()
        views = {}
        with self._measured() as total:
            for folder in self._plain.iterdir():
                session.read.parquet(str(folder)).createOrReplaceTempView(folder.name)
            for name, text in self._case.queries().items():
                views[name] = batch_run(session, text, str(self._answers / name)).to_dict()
        total["views"] = views
        return total

    @contextmanager
    def _measured(self) -> Iterator[Document]:
        total: Document = {}
        java, wall = process_cpu_seconds(self._spark), perf_counter()
        yield total
        total["wall_seconds"] = round(perf_counter() - wall, 3)
        total["java_cpu_seconds"] = round(process_cpu_seconds(self._spark) - java, 3)

    def _write_plain(self, changed: Mapping[str, Path]) -> None:
        """Bring the plain tables to the rows that the arrivals leave."""
        for name in self._case.sources():
            if name in changed or not (self._plain / name).exists():
                write_table(self._plain / name, self._case.current(name))


def write_table(folder: Path, batches: Iterator[Any]) -> None:
    """Write rows as plain Parquet, in place of what the folder holds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    held: list[Any] = []
    parts = 0

    def flush(rows: Sequence[Any]) -> None:
        pq.write_table(pa.Table.from_batches(rows), folder / f"part-{parts:05d}.parquet")

    for batch in batches:
        held.append(batch)
        if sum(one.num_rows for one in held) >= _FILE_ROWS:
            flush(held)
            held, parts = [], parts + 1
    if held:
        flush(held)

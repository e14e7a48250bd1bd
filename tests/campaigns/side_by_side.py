"""Workspaces that follow the same arrivals, each in its own way, and what their refreshes cost."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slacktide.cli.showcase import Showcase
from slacktide.engine.planning.knowledge import Knowledge
from slacktide.engine.workspace import Workspace
from slacktide.errors import ExecutionError
from slacktide.optimizer.costs import Vector
from slacktide.optimizer.statistics import Statistics
from slacktide.workloads.tpch import QUERIES
from slacktide.workloads.tpch.stream import ChangeStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slacktide.engine.reports import ViewReport

GROUP = 16
"""Views that go through a campaign together; what an arrival of half the base costs to take in is paid once for all."""
Costs = Mapping[str, Mapping[str, Any]]
Belief = Callable[[Statistics], Statistics]


def as_known(known: Statistics) -> Statistics:
    """What the log tells."""
    return known


@dataclass(frozen=True, slots=True)
class Way:
    """What the views of a workspace go by.

    Attributes:
        policy: of each view.
        belief: what is taken for known in the place of what the log tells.
    """

    policy: str
    belief: Belief = as_known


def options(
    description: str | None,
    arguments: Sequence[str] | None,
    *,
    scale: float,
    repetitions: int,
) -> argparse.Namespace:
    """What a campaign of such workspaces is asked for.

    Args:
        description: of the campaign.
        arguments: as typed; those of the process where there are none.
        scale: of TPC-H, if nothing else is asked for.
        repetitions: the same of arrivals.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--folder", type=Path, required=True, help="of the workspaces of a group")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scale", type=float, default=scale)
    parser.add_argument("--repetitions", type=int, default=repetitions)
    parser.add_argument("--views", nargs="+", default=[*QUERIES], help=f"in groups of {GROUP}")
    return parser.parse_args(arguments)


def session(name: str, asked: argparse.Namespace) -> SparkSession:
    """A session for the workspaces of a campaign."""
    from slacktide.spark.sessions.session import start_session

    conf = Showcase(asked.folder, asked.scale).spark_conf() | {"spark.driver.memory": "4g"}
    return start_session(name, conf=conf)


@contextmanager
def believing(belief: Belief) -> Iterator[None]:
    """Plan by other statistics than the log tells."""
    told = Knowledge.statistics

    def believed(*args: Any) -> Statistics:
        return belief(told(*args))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Knowledge, "statistics", believed)
        yield


class SideBySide:
    """The workspaces and what they follow.

    Args:
        spark: a session that does nothing else.
        case: a landing zone, of which the folder may be there from before.
        ways: that of each workspace.
        seed: of the arrivals.
    """

    def __init__(
        self, spark: SparkSession, case: Showcase, ways: Mapping[str, Way], seed: int
    ) -> None:
        self._spark = spark
        self._case = case
        self._ways = ways
        self._seed = seed
        self._workspaces = {name: self._workspace(name) for name in ways}

    def _workspace(self, name: str) -> Workspace:
        root = self._case.root / name
        if not self._case.landing.exists():
            self._case.generate()
        if root.exists():
            return Workspace.open(str(root))
        workspace = Workspace.create(str(root))
        for source, declaration in self._case.sources().items():
            workspace.add_source(source, **declaration)
        for view, text in self._case.queries().items():
            workspace.add_view(self._spark, view, text, policy=self._ways[name].policy)
        self._costs(name, workspace)
        return workspace

    def round(self, number: int, nature: str, share: float, turn: int) -> dict[str, Any]:
        """Let an arrival land, if it has not yet, and refresh all workspaces.

        Args:
            number: of the arrival, from 1 on.
            nature: of it.
            share: of the base that it changes.
            turn: how often an arrival of its kind has come before, by which workspaces take turns.
        """
        landing, scale = self._case.landing, self._case.scale
        stream = ChangeStream(landing, scale=scale, seed=self._seed, nature=nature, share=share)
        if stream.number < number:
            stream.write_next()
        turns = orders([*self._ways])
        order = turns[turn % len(turns)]
        costs = {name: self._costs(name, self._workspaces[name]) for name in order}
        return {"nature": nature, "share": share, "order": order, **costs}

    def _costs(self, name: str, workspace: Workspace) -> Costs:
        with believing(self._ways[name].belief):
            report = workspace.refresh(self._spark)
        failed = [f"{name}: {view.error}" for name, view in report.views.items() if view.error]
        if failed:
            raise ExecutionError(failed[0], hint="a campaign of the views that work: --views")
        return {name: _cost(view) for name, view in report.views.items()}

    def different(self) -> Mapping[str, Sequence[str]]:
        """The views of each workspace whose answers are not those of batch."""
        return {
            name: [v for v, told in workspace.verify(self._spark).views.items() if not told.equal]
            for name, workspace in self._workspaces.items()
        }


def orders(names: Sequence[str]) -> list[Sequence[str]]:
    """Turns in which each of some names is as often before as behind any other one, if all are taken.

    Who goes first pays for what Java has not yet compiled, and for pages that nobody has read.
    """
    both = (names, names[::-1])
    return [[*one[first:], *one[:first]] for one in both for first in range(len(names))]


def _cost(view: ViewReport) -> dict[str, Any]:
    if view.method == "unchanged":
        return {"choice": view.method}
    way = view.predicted.get("way", view.method)
    return {
        "choice": "incremental" if way == "incremental" else "full",
        "way": way,
        "reasons": [reason.split("(")[0] for reason in view.reasons],
        "switched": view.switched,
        "seconds": view.actual["cpu_seconds"],
        "counted": _amounts(view.actual),
        **(
            {"expected": view.predicted["cpu_seconds"], "work": _amounts(view.predicted)}
            if view.predicted
            else {}
        ),
    }


def _amounts(figures: Mapping[str, Any]) -> dict[str, int]:
    """The work that was counted or expected, without kinds of which there is none."""
    return {kind: amount for kind, amount in Vector.of_report(figures).to_dict().items() if amount}

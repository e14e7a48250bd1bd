r"""The views of TPC-DS, group by group in a workspace each, against batch after every run.

As a campaign, at full length; stopped at any time, it goes on from the last batch of its last group, where
`--work` names a folder that stays:

    python -m tests.campaigns.tpcds_views --batches 8 --out tests/campaigns/tpcds_views.json \
        --work /tmp/tpcds_views

The third batch holds lines back that come late, the fifth is empty; shorter slices keep both kinds. Batch reads
plain Parquet of the rows that have arrived, which DuckDB adds up, never the workspace's copies. The rows and the parameters are those of `tests.harness.tpcds_base` and `tests.harness.tpcds_parameters`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slacktide import Workspace
from slacktide.errors import SlacktideError
from tests.harness.quick import QUICK
from tests.harness.tpcds_feed import KEYS, REFERENCES, arrive, generate_history, write_plain
from tests.harness.tpcds_parameters import workable_queries
from tests.harness.versions import versions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SEED = 20261121
GROUP = 8


@dataclass
class Group:
    """Some views in one workspace; what is recorded of them.

    Attributes:
        refused: by view, the error where it was not added.
        steps: per batch, its kind and what each view did.
        seconds: wall time of adding, of first runs, of the runs and of the comparisons.
    """

    names: list[str]
    refused: dict[str, str] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)


class Tide:
    """A lake that fills batch by batch, and a workspace over it; both may be there already."""

    def __init__(self, root: Path, history: Path, spark: SparkSession) -> None:
        self._lake = root / "lake"
        self._plain = root / "plain"
        self._history = history
        self._spark = spark
        if (root / "workspace").exists():
            self.workspace = Workspace.open(str(root / "workspace"))
            return
        arrive(history, self._lake, 0)
        self.workspace = Workspace.create(str(root / "workspace"))
        for table, key in KEYS.items():
            given = {"references": REFERENCES[table]} if REFERENCES[table] else {}
            path = str(self._lake / table)
            self.workspace.add_source(table, kind="change-feed", path=path, key=list(key), **given)

    def add(self, group: Group) -> None:
        """Add the views of a group, and compute them."""
        texts = workable_queries()
        start = time.perf_counter()
        for name in group.names:
            try:
                # Whatever increments cost beside other work: they are what is held against batch.
                self.workspace.add_view(self._spark, name, texts[name], policy="incremental")
            except SlacktideError as error:
                group.refused[name] = str(error)
        _lap(group, "add", start)
        start = time.perf_counter()
        self.workspace.refresh(self._spark)
        _lap(group, "first run", start)

    def step(self, group: Group, number: int, kind: str) -> dict[str, Any]:
        """Let a batch arrive, refresh and compare; give what was seen."""
        arrived = (self._lake / "store_sales" / f"batch-{number:03d}.parquet").exists()
        arrive(self._history, self._lake, number)
        start = time.perf_counter()
        report = self.workspace.refresh(self._spark)
        if arrived and report.run is None:  # stopped after the run, before it was recorded
            report = self.workspace.history(limit=1)[-1]
        _lap(group, "runs", start)
        start = time.perf_counter()
        plain = write_plain(self._lake, self._plain)
        verification = self.workspace.verify(self._spark, sources=plain)
        _lap(group, "comparisons", start)
        views = {}
        for name in group.names:
            if name in group.refused:
                continue
            done, seen = report.views[name], verification.views.get(name)
            equal = seen is not None and seen.equal
            views[name] = {
                "method": done.method,
                "reasons": list(done.reasons),
                "changed": done.actual.get("rows_out", 0) > 0,
                "empty": seen is None or is_void(self.workspace.read(self._spark, name)),
                "equal": equal,
                "rows_read": done.actual.get("rows_read"),
                "rows_of_sources": done.rows,
                **({"difference": seen.to_dict()} if seen and not equal else {}),
                **({"error": dict(done.error)} if done.error else {}),
            }
        return {"number": number, "kind": kind, "views": views}


def is_void(answer: DataFrame) -> bool:
    """Whether an answer has no rows, or only the one row of totals over nothing."""
    rows = answer.limit(2).collect()
    return not rows or (len(rows) == 1 and not any(rows[0]))


def kinds(batches: int) -> list[str]:
    """Give the kind of every batch."""
    late, empty = (3, 5) if batches >= 5 else (1, 2)
    named = {late: "late", empty: "empty"}
    return [named.get(number, "plain") for number in range(1, batches + 1)]


def groups(names: Sequence[str], size: int) -> Iterator[list[str]]:
    """Give the names in groups of a size."""
    for first in range(0, len(names), size):
        yield list(names[first : first + size])


def run_group(
    group: Group, root: Path, history: Path, spark: SparkSession, batches: int
) -> Iterator[Group]:
    """Run the batches that a group lacks; give it after each."""
    if not group.steps:
        shutil.rmtree(root, ignore_errors=True)
    tide = Tide(root, history, spark)
    if not group.steps:
        tide.add(group)
    for number, kind in list(enumerate(kinds(batches), start=1))[len(group.steps) :]:
        group.steps.append(tide.step(group, number, kind))
        yield group


def main() -> int:
    """Run the campaign; groups that the output holds already are not run again."""
    from slacktide.spark.sessions.session import start_session

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, help="a folder for what is under way")
    parser.add_argument("--group", type=int, default=GROUP, help="views in one workspace")
    parser.add_argument("--views", nargs="+", metavar="NAME", help="only these, such as q14b")
    arguments = parser.parse_args()
    found = json.loads(arguments.out.read_text()) if arguments.out.exists() else {"groups": []}
    done = [Group(**group) for group in found["groups"]]
    with tempfile.TemporaryDirectory() as folder:
        work = arguments.work or Path(folder)
        begun = [g for g in done if (work / g.names[0]).exists() or _is_whole(g, arguments.batches)]
        known = {name for group in begun for name in group.names}
        wanted = arguments.views or workable_queries()
        rest = [name for name in workable_queries() if name in wanted and name not in known]
        every = [*begun, *map(Group, groups(rest, arguments.group))]
        waiting = [group for group in every if not _is_whole(group, arguments.batches)]
        history = work / f"history-{arguments.batches}"
        if waiting and not history.exists():
            shutil.rmtree(work / "unfinished", ignore_errors=True)
            generate_history(work / "unfinished", seed=SEED, kinds=kinds(arguments.batches))
            (work / "unfinished").rename(history)
        spark = start_session("tpcds-views", conf=QUICK)
        for group in waiting:
            root = work / group.names[0]
            for _ in run_group(group, root, history, spark, arguments.batches):
                found["groups"] = [vars(one) for one in every if one.steps]
                found |= {"seed": SEED, "duckdb": version("duckdb"), **versions(spark)}
                arguments.out.write_text(json.dumps(found, indent=1) + "\n")
            shutil.rmtree(root)
    sys.stdout.write(summary(found) + "\n")
    steps = [step for group in found["groups"] for step in group["steps"]]
    return int(any(not view["equal"] for step in steps for view in step["views"].values()))


def _is_whole(group: Group, batches: int) -> bool:
    return len(group.steps) == batches


def summary(found: dict[str, Any]) -> str:
    """One line: how many queries, equal, kept without full runs, filled, changing in half."""
    histories: dict[str, list[dict[str, Any]]] = {}
    for group in found["groups"]:
        for step in group["steps"]:
            for name, view in step["views"].items():
                histories.setdefault(name, []).append(view)
    refused = sum(len(group["refused"]) for group in found["groups"])
    equal = _count(histories, lambda seen: all(view["equal"] for view in seen))
    kept = _count(histories, lambda seen: not {"full", "failed"} & {v["method"] for v in seen})
    filled = _count(histories, lambda seen: not any(view["empty"] for view in seen))
    lively = _count(
        histories,
        lambda seen: (
            sum(v["changed"] for v in seen) >= len(seen) / 2 and not any(v["empty"] for v in seen)
        ),
    )
    return (
        f"{len(histories)} texts added, {refused} refused: {equal} equal after every batch, "
        f"{kept} without full recomputation, {filled} never empty, "
        f"{lively} never empty and changed in at least half of the batches"
    )


def _count(histories: dict[str, list[dict[str, Any]]], holds: Any) -> int:
    return sum(bool(holds(seen)) for seen in histories.values())


def _lap(group: Group, name: str, start: float) -> None:
    spent = group.seconds.get(name, 0.0) + time.perf_counter() - start
    group.seconds[name] = round(spent, 1)


if __name__ == "__main__":
    raise SystemExit(main())

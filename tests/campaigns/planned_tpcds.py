"""Plans of TPC-DS views over three instants, run by Spark, against batch at every instant.

    python -m tests.campaigns.planned_tpcds --out tests/campaigns/planned_tpcds.json

The views are those that tempura.md §7 names (its list, row 32), over the small rows of
`tests.harness.tpcds_base`, which arrive in four patterns: as many at each later instant as were there, a quarter, or
half, and of these with one row for four that goes, of sales or of sales and returns. Every method may be used, and
the plan is what costs least at the last instant by the statistics of scale 1. What the output holds is not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slacktide.algebra.tree import sources
from slacktide.optimizer.choice.choosing import choose
from slacktide.optimizer.choice.objective import LastFirst
from slacktide.optimizer.costs.memo import MemoCosts
from slacktide.optimizer.expand import expand
from slacktide.optimizer.periods.emission import emit
from slacktide.optimizer.periods.plan_space import space_of
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.maintenance import batch
from slacktide.program.operator import Program
from tests.harness.by_line import by_line
from tests.harness.planner.arriving import Arriving, write_histories
from tests.harness.planner.tpcds_views import RETURNS, SALES, TPCDS
from tests.harness.plans import Case, SourceShape
from tests.harness.quick import QUICK
from tests.harness.tpcds import SCHEMAS
from tests.harness.tpcds_base import generate
from tests.harness.tpcds_feed import KEYS
from tests.harness.versions import versions
from tests.harness.workspace_on_spark import Rows, SparkWorkspace, rounded_bag

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEW, INSTANTS = "v", 3
QUERIES = tuple(f"q{n}" for n in (5, 10, 20, 22, 27, 33, 35, 40, 43, 67, 80, 85, 91, 99))
PATTERNS = {
    "delta-big": Arriving(12, 4, 4),
    "delta-small": Arriving(12, 8, 2),
    "delta-R": Arriving(12, 6, 3, SALES),
    "delta-RS": Arriving(12, 6, 3, SALES | RETURNS),
}


def write_tables(root: Path, patterns: Sequence[str] = tuple(PATTERNS)) -> None:
    """Write the histories of patterns; a table that never changes is there at once."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    generate(connection)
    keys = {table: KEYS[table] if table in TPCDS.keys else () for table in SCHEMAS}
    write_histories(connection, root, {name: PATTERNS[name] for name in patterns}, keys, INSTANTS)
    connection.close()


def planned(query: str, pattern: str) -> tuple[dict[int, Program], Counter[str]]:
    """The program of each instant, and how often each rule fired for them."""
    problem = TPCDS.problem(query, INSTANTS, pattern)
    expanded = expand(problem)
    costs = MemoCosts(expanded.memo, TPCDS.statistics(INSTANTS, pattern))
    due = range(1, INSTANTS + 1)
    space = space_of(expanded, due, costs.price, costs.carrying)
    choice = choose(space, LastFirst(INSTANTS))
    return emit(VIEW, expanded, space, choice.plan), expanded.trace.fired


class Side:
    """One of two workspaces over the same files."""

    def __init__(self, spark: SparkSession, root: Path, query: str) -> None:
        relation = TPCDS.relation(query)
        shapes = tuple(
            SourceShape.of(name, ((str(c["name"]), str(c["type"])) for c in SCHEMAS[name]))
            for name in sources(relation)
        )
        self._names = [shape.name for shape in shapes]
        self._workspace = SparkWorkspace(spark, root, Case(relation, shapes), view=VIEW)
        self._versions = dict.fromkeys(self._names, 0)

    def run(self, files: Path, program: Program) -> Rows:
        """Take in what has come, and give the answer that a program makes."""
        start = {name: at for name, at in self._versions.items() if at}
        for name in self._names:
            file = files / f"{name}.parquet"
            if file.exists():
                self._workspace.accept(name, file)
                self._versions[name] += 1
        plan = ViewPlan(VIEW, "full", (), program, start, dict(self._versions), 1)
        return self._workspace.run(plan).answer


def played(spark: SparkSession, history: Path, query: str, pattern: str) -> dict[str, Any]:
    """Run a plan, and batch beside it; tell the rows of each answer, and whether they are equal."""
    programs, fired = planned(query, pattern)
    whole = batch(VIEW, TPCDS.relation(query).columns)
    found: dict[str, Any] = {"rows": [], "equal": [], "fired": dict(sorted(fired.items()))}
    with tempfile.TemporaryDirectory() as folder:
        ours = Side(spark, Path(folder) / "ours", query)
        theirs = Side(spark, Path(folder) / "theirs", query)
        for instant, program in sorted(programs.items()):
            files = history / pattern / str(instant)
            answer, expected = ours.run(files, program), theirs.run(files, whole)
            found["rows"].append(len(expected))
            found["equal"].append(rounded_bag(answer) == rounded_bag(expected))
    return found


def summary(cells: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What the campaign says, in lines."""
    answers = [equal for cell in cells.values() for equal in cell["equal"]]
    rows = [count for cell in cells.values() for count in cell["rows"]]
    yield f"{len(cells)} cells, {len(answers)} answers: {answers.count(False)} differ, {rows.count(0)} are empty"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign, cell by cell."""
    from slacktide.spark.sessions.session import start_session

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--queries", nargs="+", default=QUERIES)
    chosen = parser.parse_args(arguments)
    cells = json.loads(chosen.out.read_text())["cells"] if chosen.out.exists() else {}
    spark = start_session("planned-tpcds", conf=QUICK)
    head = {"versions": versions(spark)}
    with tempfile.TemporaryDirectory() as folder:
        history = Path(folder)
        write_tables(history)
        for query in chosen.queries:
            for pattern in PATTERNS:
                name = f"{query} {pattern}"
                if name not in cells:
                    cells[name] = played(spark, history, query, pattern)
                    chosen.out.write_text(by_line({**head, "cells": cells}, "cells"))
                    sys.stdout.write(f"{name} {cells[name]['rows']} {cells[name]['equal']}\n")
    sys.stdout.write("\n".join(summary(cells)) + "\n")
    return int(not all(equal for cell in cells.values() for equal in cell["equal"]))


if __name__ == "__main__":
    raise SystemExit(main())

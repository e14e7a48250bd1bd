"""What the mixture of all methods costs on Spark beside each method alone: 22 TPC-H views, five patterns of arrival.

    python -m tests.campaigns.measured_methods --out tests/campaigns/measured_methods.json

The patterns are those of tempura.md §7.2, and one where facts stay and dimensions change, over two instants: at the
first there are as many rows as scale 1 has, half of those of scale 2, and at the second come as many again, a quarter,
or half, and of these with one row for four that goes. Plans are chosen by the statistics of scale 1, what its files
tell of columns, and that keys lie anywhere, for what the last instant costs. The mixture is what the memo of all methods gives or what one of them alone does, whichever
program of the last instant is expected to take the least CPU of tasks; of those within a tenth of that, the one that
is expected to read the fewest rows. Methods that give the same programs are run once, under the name of the first of
them. The first instant is run for its states alone; the second is run `--repetitions` times from there, the plans in
turns, and the answer of each is compared with that of full. Each cell names the commit that ran it; what the output
holds is not run again.

The best single method is the one that takes the least CPU. A cell *holds* where the mixture reads at most 1.05 times
its rows, and takes at most 1.15 times its CPU. It holds *in each* where it reads no more than that of the method that
reads the fewest rows either: where the one reads fewer rows and the other takes less CPU, no plan does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from slacktide.algebra.tree import sources
from slacktide.optimizer.costs import Coefficients, Vector, program_work
from slacktide.optimizer.periods.emission import chain_of, emit
from slacktide.optimizer.statistics import StoredFacts, with_columns
from slacktide.optimizer.statistics.memo import GroupSizes
from slacktide.optimizer.statistics.widths import packed
from slacktide.program.operator import Program
from slacktide.store.record import ColumnStatistics
from slacktide.workloads.tpch import TABLES, generate_base
from tests.campaigns.cost_model import COLUMNS
from tests.campaigns.planning import MIXED, Chosen, Compared
from tests.harness.by_line import by_line
from tests.harness.planner.arriving import Arriving, write_histories
from tests.harness.planner.landed import Landed
from tests.harness.planner.tpch_views import TPCH
from tests.harness.plans import SourceShape
from tests.harness.versions import commit, setting_of
from tests.harness.workspace_on_spark import rounded_bag

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSTANTS, FULL = (1, 2), "full"
PARTS = 120
PATTERNS = {
    name: Arriving(
        PARTS, PARTS // 2, int(PARTS // 2 * pattern.share), pattern.retracting, pattern.changing
    )
    for name, pattern in TPCH.patterns.items()
}
PRICES = Path(__file__).with_name("cost_model.json")
ANYWHERE = replace(
    TPCH,
    reach=1.0,
    told={
        table: {name: ColumnStatistics(**known) for name, known in columns.items()}
        for table, columns in json.loads(COLUMNS.read_text(encoding="utf-8")).items()
    },
)
"""The views where the rows of every instant lie anywhere among the others, as those of parts do."""
FITTED = Coefficients.from_dict(json.loads(PRICES.read_text(encoding="utf-8"))["fitted prices"])
"""Prices as `tests.campaigns.cost_model` fits them to the figures of the bench."""
NEAR = 1.1
"""Programs that are expected to cost up to so many times the cheapest one count as equal."""
ROWS, CPU = 1.05, 1.15
Plans = Mapping[str, Mapping[int, Program]]


def write_tables(root: Path, scale: float, pattern: str) -> None:
    """Write the history of a pattern; an order comes with its line items, and under delta-RS goes with them.

    Args:
        root: of what is written.
        scale: of the rows that are there at the first instant.
        pattern: its name.
    """
    import duckdb

    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        generate_base(Path(folder), scale=2 * scale)
        for table in TABLES.values():
            columns = ", ".join(column.name for column in table.columns)
            files = Path(folder) / table.name / "*.parquet"
            connection.execute(f"CREATE VIEW {table.name} AS FROM '{files}' SELECT {columns}")
        keys = {name: TPCH.keys.get(name, ())[:1] for name in TABLES}
        write_histories(connection, root, {pattern: PATTERNS[pattern]}, keys, len(INSTANTS))


def plans_of(query: str, pattern: str) -> tuple[Plans, Mapping[str, str]]:
    """The programs of the mixture and of each method; and for each that is as another, which."""
    found: dict[str, Mapping[int, Program]] = {}
    same: dict[str, str] = {}
    first: dict[frozenset[tuple[int, bytes]], str] = {}
    chosen = Compared(ANYWHERE, query).choices(pattern)
    for name, one in {**chosen, MIXED: chosen[cheapest(query, pattern, chosen)]}.items():
        programs = emit(query, one.expanded, one.space, one.choice.plan)
        digests = frozenset((at, program.digest) for at, program in programs.items())
        alike = first.setdefault(digests, name)
        if alike == name:
            found[name] = programs
        else:
            same[name] = alike
    return found, same


def cheapest(query: str, pattern: str, chosen: Mapping[str, Chosen]) -> str:
    """The name of the plan whose last run is expected to cost least; of those near it, to read the fewest rows."""
    work = {name: _expected(query, pattern, one) for name, one in chosen.items()}
    least = min(map(FITTED.in_tasks, work.values()))
    near = [name for name, of in work.items() if FITTED.in_tasks(of) <= NEAR * least]
    return min(near, key=lambda name: work[name].rows_read)


def _expected(query: str, pattern: str, one: Chosen) -> Vector:
    """The work of the last run of a plan, which reads what runs before it have saved."""
    known, memo = ANYWHERE.statistics(len(INSTANTS), pattern), one.expanded.memo
    sizes = GroupSizes(memo, known)
    stored = {}
    for node, _ in one.choice.plan.saved():
        rows = sizes.of(node)
        size = packed(rows.rows, memo.groups.hole(node).columns)
        stored[chain_of(memo, node)] = StoredFacts(rows.rows.value, size)
    last = emit(query, one.expanded, one.space, one.choice.plan)[INSTANTS[-1]]
    return program_work(last, with_columns(replace(known, stored=stored), TPCH.relation(query)))


def landed(spark: SparkSession, root: Path, files: Path) -> Landed:
    """A workspace in which all of a pattern has arrived, and what loses rows is mirrored.

    Args:
        spark: the session.
        root: of the workspace.
        files: of the pattern.
    """
    shapes = [
        SourceShape.of(name, ((c.name, c.type) for c in table.columns))
        for name, table in TABLES.items()
    ]
    workspace = Landed(spark, root, shapes)
    for instant, table in product(INSTANTS, TABLES):
        path = files / str(instant) / f"{table}.parquet"
        if path.exists():
            workspace.accept(table, path)
    for name in PATTERNS[files.name].losing:
        workspace.mirror(name)
    return workspace


def played(workspace: Landed, query: str, pattern: str, repetitions: int) -> dict[str, Any]:
    """Run the plans of a cell; tell what the last instant took, and which gave another answer than full.

    Names of methods are those of `SINGLE` and `MIXED`; ``as`` tells of a method that has the programs of another
    which; of each other one, ``taken`` has what each repetition took in tasks, in seconds of CPU, rows
    read, rows interpreted, grouped and moved, bytes shuffled and written, files and stages, and ``read`` the rows of each scan.

    Args:
        workspace: of the pattern.
        query: the view.
        pattern: its name.
        repetitions: how often the last instant is run.
    """
    plans, same = plans_of(query, pattern)
    tables = sources(TPCH.relation(query))
    before = dict.fromkeys(tables, 1)
    changing = TPCH.changing(pattern)
    after = {name: 2 if name in changing else 1 for name in tables}
    for programs in plans.values():
        workspace.execute(query, programs[1], {}, before)
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in plans}
    read: dict[str, Mapping[str, Sequence[int]]] = {}
    answers: dict[str, list[Counter[tuple[Any, ...]]]] = {name: [] for name in plans}
    order = [*plans]
    for _ in range(repetitions):
        for name in order:
            outcome = workspace.attempt(query, plans[name][2], before, after)
            assert outcome.answer is not None
            assert outcome.answer_is_base
            answers[name].append(rounded_bag(workspace.rows(outcome.answer)))
            cost = outcome.cost
            taken[name].append(
                {
                    "seconds": round(cost.cpu_seconds, 3),
                    "rows": cost.rows_read,
                    "interpreted": cost.rows_interpreted,
                    "grouped": cost.rows_grouped,
                    "moved": cost.rows_shuffled,
                    "shuffled": cost.bytes_shuffled,
                    "written": cost.bytes_written,
                    "files": cost.files_read,
                    "stages": cost.stages,
                }
            )
            read[name] = _by_label(cost.operators)
        order.append(order.pop(0))
    expected = answers[FULL][0]
    return {
        "rows out": expected.total(),
        "different": [name for name, of in answers.items() if any(rows != expected for rows in of)],
        "as": same,
        "taken": {
            name: {what: [t[what] for t in of] for what in of[0]} for name, of in taken.items()
        },
        "read": read,
    }


def _by_label(scans: Iterable[tuple[str, int | None]]) -> dict[str, Sequence[int]]:
    """The rows that scans of each table or state gave, largest first."""
    found: dict[str, list[int]] = {}
    for label, rows in scans:
        found.setdefault(label, []).append(rows or 0)
    return {label: sorted(rows, reverse=True) for label, rows in sorted(found.items())}


def ratio(cell: Mapping[str, Any], what: str, than: str | None = None) -> float:
    """What the mixture takes of what a single method takes, 1 where it is that method.

    Args:
        cell: as `played` gives it.
        what: is compared.
        than: the method; otherwise the one that takes the least of it.
    """
    medians = {name: float(median(of[what])) for name, of in cell["taken"].items()}
    mixed = medians[cell["as"].get(MIXED, MIXED)]
    other = medians[than or _best(cell, what)]
    return mixed / other if other else 1.0 + mixed


def _best(cell: Mapping[str, Mapping[str, Any]], what: str) -> str:
    single = {name: float(median(of[what])) for name, of in cell["taken"].items() if name != MIXED}
    return min(single, key=lambda name: single[name])


def summary(cells: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of the campaign."""
    rows = {name: ratio(cell, "rows", _best(cell, "seconds")) for name, cell in cells.items()}
    fewest = {name: ratio(cell, "rows") for name, cell in cells.items()}
    seconds = {name: ratio(cell, "seconds") for name, cell in cells.items()}
    held = [name for name in cells if rows[name] <= ROWS and seconds[name] <= CPU]
    in_each = [name for name in held if fewest[name] <= ROWS]
    return {
        "cells": len(cells),
        "different": [name for name, cell in cells.items() if cell["different"]],
        "empty": [name for name, cell in cells.items() if not cell["rows out"]],
        "hold": round(len(held) / max(len(cells), 1), 4),
        "hold in each": round(len(in_each) / max(len(cells), 1), 4),
        "do not": {
            name: [round(rows[name], 3), round(seconds[name], 3)]
            for name in cells
            if name not in held
        },
        "do not in each": {name: round(fewest[name], 3) for name in held if name not in in_each},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign, cell by cell."""
    from slacktide.spark.sessions.session import start_session

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--queries", nargs="+", default=TPCH.queries)
    chosen = parser.parse_args(arguments)
    setting = {"scale": chosen.scale, "repetitions": chosen.repetitions}
    found = json.loads(chosen.out.read_text()) if chosen.out.exists() else {**setting, "cells": {}}
    if any(found[name] != value for name, value in setting.items()):
        raise SystemExit(f"{chosen.out} is of another setting; remove it")
    spark = start_session("measured-methods", conf={"spark.driver.memory": "4g"})
    machine = setting_of(spark) | {"cores": os.cpu_count(), "machine": platform.machine()}
    ran = commit()
    for pattern in PATTERNS:
        left = [
            query
            for query in chosen.queries
            if f"{query} {pattern}" not in found["cells"] and pattern in TPCH.patterns_of(query)
        ]
        if not left:
            continue
        with tempfile.TemporaryDirectory() as folder:
            history = Path(folder) / "landing"
            write_tables(history, chosen.scale, pattern)
            workspace = landed(spark, Path(folder) / "workspace", history / pattern)
            for query in left:
                cell = {
                    "commit": ran,
                    **played(workspace, query, pattern, chosen.repetitions),
                }
                cells = {**found["cells"], f"{query} {pattern}": cell}
                found = {
                    **machine,
                    **setting,
                    "summary": summary(cells),
                    "cells": cells,
                }
                chosen.out.write_text(by_line(found, "cells"))
                sys.stdout.write(f"{query} {pattern} {cell['taken']}\n")
    sys.stdout.write(json.dumps(found["summary"], indent=1) + "\n")
    return int(bool(found["summary"]["different"]))


if __name__ == "__main__":
    raise SystemExit(main())

"""What a refresh opens and reads after many small runs: as planned, and half as long without compaction.

    python -m tests.campaigns.long_chains --runs 200 --out tests/campaigns/long_chains.json

Three views over a feed of 50,000 rows: an additive state, a mirror that is joined, and an operator
that is recomputed from a bag. Every run brings a row and changes three.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slacktide import Workspace
from slacktide.optimizer.compaction import PRICES, Prices
from slacktide.store.naming import segments
from tests.harness.lab import Lab
from tests.harness.versions import versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS, GROUPS = 50_000, 500
NEVER = Prices(file=0, read=0)
VIEWS = {
    "summed": "SELECT g, count(*) AS n, sum(v) AS s FROM sales GROUP BY g",
    "paired": "SELECT s.k, s.v, t.v AS other FROM sales s JOIN sales t ON s.k = t.g",
    "ranked": "SELECT k, g, row_number() OVER (PARTITION BY g ORDER BY v DESC, k) AS r FROM sales",
}


@dataclass(frozen=True)
class Run:
    """What one refresh cost, compaction included, and the longest chain after it."""

    run: int
    jobs: int
    files: int
    rows: int
    cpu_seconds: float
    merged_bytes: int
    pieces: int


def runs(spark: SparkSession, root: Path, prices: Prices, count: int) -> Iterator[Run]:
    """Refresh after every small change; answers are compared with batch at the end."""
    from slacktide.spark.measures.metrics import process_cpu_seconds

    lab = Lab(spark, root)
    lab.ws = Workspace(lab.ws._store, lab.clock, prices=prices)
    first = [(k, k % GROUPS, k % 97) for k in range(ROWS)]
    lab.source("sales", "k INT, g INT, v INT", *first, key=["k"])
    for name, sql in VIEWS.items():
        lab.view(name, sql)
    lab.refresh()
    for number in range(count):
        old = [lab.rows["sales"][(7 * number + step) % 1000] for step in range(3)]
        changed = [(row, (row[0], row[1], row[2] + 1)) for row in old]
        fresh = (ROWS + number, number % GROUPS, number)
        lab.land("sales", insert=[fresh], update=changed)
        before = process_cpu_seconds(spark)
        report = lab.refresh().to_dict()
        spent = process_cpu_seconds(spark) - before
        yield _run(lab, number + 1, report, spent)
    lab.verified()


def _run(lab: Lab, number: int, report: dict[str, Any], spent: float) -> Run:
    done = list(report["compactions"].values())
    costs = [part["actual"] for part in [*report["views"].values(), *done]]
    chains = lab.ws._store.world().chains
    kept = [len(list(segments(c))) for c in chains.values() if not c.id.startswith("changes/")]
    return Run(
        run=number,
        jobs=sum(cost["jobs"] for cost in costs),
        files=sum(cost["files_read"] for cost in costs),
        rows=sum(cost["rows_read"] for cost in costs),
        cpu_seconds=round(spent, 2),
        merged_bytes=sum(one["bytes"][0] for one in done),
        pieces=max(kept),
    )


def main() -> int:
    """Let both workspaces grow, and keep what their refreshes cost."""
    from slacktide.spark.sessions.session import start_session

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    found: dict[str, Any] = {"rows": ROWS, "prices": asdict(PRICES)}
    with start_session("long chains") as spark:
        found |= versions(spark)
        ways = (("compacted", PRICES, arguments.runs), ("never", NEVER, arguments.runs // 2))
        for name, prices, count in ways:
            with tempfile.TemporaryDirectory() as root:
                done = []
                for run in runs(spark, Path(root), prices, count):
                    done.append(asdict(run))
                    sys.stdout.write(f"{name}: {run}\n")
                    sys.stdout.flush()
            found[name] = done
    arguments.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

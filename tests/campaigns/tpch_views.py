"""All TPC-H views in one workspace, over batches of each nature, against batch after every run.

As a campaign, at full length, resumable by nature:

    python -m tests.campaigns.tpch_views --batches 16 --out tests/campaigns/tpch_views.json

The third batch holds rows back that come late, the fifth is empty; shorter slices keep both kinds. Batch
reads plain Parquet of the rows that the stream says are there, never the workspace's copies of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slacktide import Workspace
from slacktide.cli.measuring import write_table
from slacktide.workloads import tpch
from tests.harness.quick import QUICK
from tests.harness.versions import versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCALE = 0.01
SEED = 20261121


@dataclass(frozen=True)
class Step:
    """One batch and the run after it: per view, the method, and whether the answer changed."""

    nature: str
    number: int
    kind: str
    methods: dict[str, str]
    changed: dict[str, bool]
    different: dict[str, Any]
    empty: list[str] = field(default_factory=list)


def build(
    root: Path,
    spark: SparkSession,
    *,
    scale: float = SCALE,
    views: Iterable[str] = tuple(tpch.QUERIES),
    policy: str = "auto",
) -> Workspace:
    """A workspace over fresh base data with views, all 22 if not given, and a first run."""
    tpch.generate_base(root / "lake", scale=scale)
    workspace = Workspace.create(str(root / "workspace"))
    for name, table in tpch.TABLES.items():
        workspace.add_source(
            name, kind="change-feed", path=str(root / "lake" / name), key=list(table.key)
        )
    parameters = tpch.workable_parameters(scale)
    for name in views:
        text = tpch.query(name, **parameters.get(name, {}))
        workspace.add_view(spark, name, text, policy=policy)
    workspace.refresh(spark)
    return workspace


def stream_of(root: Path, nature: str, scale: float) -> tpch.ChangeStream:
    """The batches of a nature over the base of a workspace."""
    return tpch.ChangeStream(
        root / "lake", scale=scale, seed=SEED, nature=nature, share=0.01, masters=True
    )


def plain_rows(root: Path, stream: tpch.ChangeStream) -> dict[str, str]:
    """Write the rows that all batches leave as plain Parquet; give a directory for each table."""
    for name in tpch.TABLES:
        write_table(root / "plain" / name, stream.current(name))
    return {name: str(root / "plain" / name) for name in tpch.TABLES}


def steps(
    root: Path,
    workspace: Workspace,
    spark: SparkSession,
    nature: str,
    batches: int,
    *,
    scale: float = SCALE,
) -> Iterator[Step]:
    """Let batches of a nature arrive, refresh after each, and compare every answer with batch."""
    stream = stream_of(root, nature, scale)
    late, empty = (3, 5) if batches >= 5 else (1, 2)
    for number in range(1, batches + 1):
        stream.write_next(late=number == late, empty=number == empty)
        report = workspace.refresh(spark)
        verification = workspace.verify(spark, sources=plain_rows(root, stream))
        yield Step(
            nature=nature,
            number=number,
            kind={late: "late", empty: "empty"}.get(number, "plain"),
            methods={name: view.method for name, view in report.views.items()},
            changed={
                name: view.actual.get("rows_out", 0) > 0 for name, view in report.views.items()
            },
            different={
                name: view.to_dict() for name, view in verification.views.items() if not view.equal
            },
            empty=[name for name in tpch.QUERIES if workspace.read(spark, name).isEmpty()],
        )


def main() -> int:
    """Run the campaign; natures that the output holds at this length already are not run again."""
    from slacktide.spark.sessions.session import start_session

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=16)
    parser.add_argument("--scale", type=float, default=SCALE, help="of TPC-H")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    found = json.loads(arguments.out.read_text()) if arguments.out.exists() else {"natures": {}}
    spark = start_session("tpch-views", conf=QUICK)
    for nature in tpch.NATURES:
        if len(found["natures"].get(nature, ())) >= arguments.batches:
            continue
        with tempfile.TemporaryDirectory() as folder:
            root, scale = Path(folder), arguments.scale
            workspace = build(root, spark, scale=scale)
            played = steps(root, workspace, spark, nature, arguments.batches, scale=scale)
            done = [vars(step) for step in played]
        found["natures"][nature] = done
        found |= {"scale": scale, "seed": SEED, **versions(spark)}
        arguments.out.write_text(json.dumps(found, indent=1) + "\n")
    sys.stdout.write(summary(found) + "\n")
    return 1 if any(s["different"] for n in found["natures"].values() for s in n) else 0


def summary(found: dict[str, Any]) -> str:
    """One line per nature: runs, differing answers, answers that changed in half of the batches."""
    lines = []
    for nature, done in found["natures"].items():
        half = len(done) / 2
        lively = [n for n in tpch.QUERIES if sum(s["changed"].get(n, False) for s in done) >= half]
        filled = [n for n in tpch.QUERIES if not any(n in s["empty"] for s in done)]
        different = sum(len(s["different"]) for s in done)
        lines.append(
            f"{nature}: {len(done)} runs, {different} answers differ, "
            f"{len(lively)} of 22 changed in at least half, {len(filled)} never empty"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())

"""All TPC-H views in one workspace, over batches of each nature, against batch after every run.

As a campaign, at full length, resumable by nature:

    python -m tests.campaigns.tpch_views --batches 16 --out tests/campaigns/tpch_views.json

The third batch holds rows back that come late, the fifth is empty; shorter slices keep both kinds.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slacktide import Workspace
from slacktide.workloads import tpch
from tests.harness.quick import QUICK

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
        workspace.add_view(spark, name, tpch.query(name, **parameters.get(name, {})))
    workspace.refresh(spark)
    return workspace


def steps(
    root: Path, workspace: Workspace, spark: SparkSession, nature: str, batches: int
) -> Iterator[Step]:
    """Let batches of a nature arrive, refresh after each, and compare every answer with batch."""
    stream = tpch.ChangeStream(
        root / "lake", scale=SCALE, seed=SEED, nature=nature, share=0.01, masters=True
    )
    late, empty = (3, 5) if batches >= 5 else (1, 2)
    for number in range(1, batches + 1):
        stream.write_next(late=number == late, empty=number == empty)
        report = workspace.refresh(spark)
        verification = workspace.verify(spark)
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
    from slacktide.spark.session import local_session

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=16)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    found = json.loads(arguments.out.read_text()) if arguments.out.exists() else {"natures": {}}
    spark = local_session("tpch-views", conf=QUICK)
    for nature in tpch.NATURES:
        if len(found["natures"].get(nature, ())) >= arguments.batches:
            continue
        with tempfile.TemporaryDirectory() as folder:
            workspace = build(Path(folder), spark)
            done = [
                vars(s) for s in steps(Path(folder), workspace, spark, nature, arguments.batches)
            ]
        found["natures"][nature] = done
        found |= {
            "scale": SCALE,
            "seed": SEED,
            "spark": spark.version,
            "python": platform.python_version(),
        }
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

"""The TPC-H views refreshed at paces of their own, against batch over plain Parquet after every refresh.

Seven arrivals: all views refreshed once, after the last of them (pace 1), after each (pace 7), and each view at a pace
that is drawn for it. No view reads another, so that every choice of paces is legal. Resumable by nature and paces:

    python -m tests.campaigns.tpch_paces --scale 0.1 --out tests/campaigns/tpch_paces.json

The third arrival holds rows back that come with the fourth. The views have the policy `incremental`, so that a pace says
how much a refresh takes in, and not whether it does so by changes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from slacktide.workloads import tpch
from tests.campaigns.tpch_views import SEED, build, plain_rows, stream_of
from tests.harness.quick import QUICK
from tests.harness.versions import versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCALE = 0.1
ARRIVALS = 7
LATE = 3
WAYS = ("one", "each", "drawn")
"""All views once at the end, all after each arrival, each view as often as was drawn for it."""

Document = dict[str, Any]


def paces_of(way: str, nature: str, views: Sequence[str], arrivals: int) -> dict[str, int]:
    """How often each view is refreshed within the arrivals."""
    if way == "drawn":
        draw = Random(f"{SEED} {nature}")  # noqa: S311 - not a secret
        return {view: draw.randint(1, arrivals) for view in views}
    return dict.fromkeys(views, 1 if way == "one" else arrivals)


def is_due(pace: int, number: int, arrivals: int) -> bool:
    """Whether a refresh follows an arrival, at a pace: they lie evenly, and one is after the last."""
    return number * pace // arrivals > (number - 1) * pace // arrivals


def play(
    root: Path,
    spark: SparkSession,
    nature: str,
    paces: Mapping[str, int],
    *,
    scale: float,
    arrivals: int = ARRIVALS,
) -> Iterator[Document]:
    """Let arrivals come, refresh the views that are due after each, and compare their answers."""
    workspace = build(root, spark, scale=scale, views=paces, policy="incremental")
    stream = stream_of(root, nature, scale)
    for number in range(1, arrivals + 1):
        stream.write_next(late=number == LATE)
        due = [view for view, pace in paces.items() if is_due(pace, number, arrivals)]
        if not due:
            continue
        report = workspace.refresh(spark, views=due)
        found = workspace.verify(spark, due, sources=plain_rows(root, stream)).views
        yield {
            "arrival": number,
            "methods": {view: report.views[view].method for view in due},
            "full": {
                view: [str(reason) for reason in report.views[view].reasons]
                for view in due
                if report.views[view].method == "full"
            },
            "compared": sorted(found),
            "different": {view: told.to_dict() for view, told in found.items() if not told.equal},
        }


def main() -> int:
    """Run the campaign; what the output holds is not played again."""
    from slacktide.spark.sessions.session import start_session

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=SCALE, help="of TPC-H")
    parser.add_argument(
        "--nature", action="append", help="of the arrivals; all of them if none is named"
    )
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    found = json.loads(arguments.out.read_text()) if arguments.out.exists() else {"plays": []}
    played = {(one["nature"], one["way"]) for one in found["plays"]}
    spark = start_session("tpch-paces", conf=QUICK)
    for nature in arguments.nature or tpch.NATURES:
        for way in WAYS:
            if (nature, way) in played:
                continue
            paces = paces_of(way, nature, tuple(tpch.QUERIES), ARRIVALS)
            with tempfile.TemporaryDirectory() as folder:
                refreshes = [*play(Path(folder), spark, nature, paces, scale=arguments.scale)]
            one = {"nature": nature, "way": way, "paces": paces, "refreshes": refreshes}
            found["plays"].append(one | {"scale": arguments.scale, **versions(spark)})
            found |= {"arrivals": ARRIVALS, "seed": SEED}
            arguments.out.write_text(json.dumps(found, indent=1) + "\n")
            sys.stdout.write(line(one) + "\n")
            sys.stdout.flush()
    return int(any(step["different"] for one in found["plays"] for step in one["refreshes"]))


def line(one: Document) -> str:
    """What was played, and how many answers differ."""
    steps = one["refreshes"]
    compared = sum(len(step["compared"]) for step in steps)
    different = sum(len(step["different"]) for step in steps)
    return f"{one['nature']}, {one['way']}: {compared} answers compared, {different} differ"


if __name__ == "__main__":
    raise SystemExit(main())

"""Random views, all methods, on Spark: what runs of a plan write, against the reference interpreter.

As a campaign, at full length:

    python -m tests.campaigns.planner_on_spark --views 100 --seed 6 \
        --out tests/campaigns/planner_on_spark.json

The views are those of `tests.campaigns.planner`; of each, rounds are planned by all methods together and
by each alone, over drawn prices. A method that gives the same programs as another is not run again.
What Spark itself cannot plan is told apart: a refresh would run the author's text instead.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slacktide.algebra.textual import to_text
from slacktide.errors import ExecutionError
from slacktide.optimizer.expand import METHODS
from tests.campaigns.planner import SINGLE, random_groupings, random_relations, random_trees
from tests.harness.by_line import by_line
from tests.harness.planner.on_spark import Prices, differences, planned_rounds
from tests.harness.plans import Case
from tests.harness.quick import QUICK
from tests.harness.versions import versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEYED = "k"


def views(count: int, seed: int) -> Iterator[Case]:
    """Random relations, random trees of joins and random groupings, in turns."""
    each = -(-count // 3)
    kinds = (random_relations(each, seed), random_trees(each, seed), random_groupings(each, seed))
    for drawn in islice(chain.from_iterable(zip(*kinds, strict=False)), count):
        yield Case(*drawn)


def examine(spark: SparkSession, case: Case, source: random.Random) -> dict[str, Any]:
    """Run a view by every method; tell which programs were run, and what was different."""
    keys = {shape.name: (KEYED,) for shape in case.sources if shape.names[0] == KEYED}
    prices = Prices.drawn(source)
    found: dict[str, Any] = {"view": to_text(case.relation), "methods": {}}
    found |= {"different": [], "failed": []}
    seen: set[tuple[bytes, bytes]] = set()
    for methods in (METHODS, *SINGLE):
        rounds = planned_rounds(case, methods, keys, prices)
        programs = (rounds.anew().program.digest, rounds.onward().program.digest)
        name = named(methods)
        found["methods"][name] = "run" if programs not in seen else "as another"
        if programs in seen:
            continue
        seen.add(programs)
        with tempfile.TemporaryDirectory() as folder:
            try:
                told = [*differences(spark, Path(folder), case, rounds)]
            except ExecutionError as failure:
                found["failed"].append(f"{name}: {failure.message[:200]}")
                continue
            found["different"] += [f"{name}: {what}" for what in told]
    return found


def named(methods: Collection[str]) -> str:
    """The name of some methods: all, or the one that stands beside what each of them needs."""
    if methods == METHODS:
        return "all"
    return max(set(methods) - {"recompute"}, key=lambda one: (one != "derive", one), default="text")


def summary(views: list[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of a campaign."""
    runs = Counter(name for view in views for name, did in view["methods"].items() if did == "run")
    return {
        "views": len(views),
        "programs": dict(runs),
        "different": sum(len(view["different"]) for view in views),
        "failed": sum(len(view["failed"]) for view in views),
    }


def main() -> int:
    """Run the campaign; views that the output holds already are not run again."""
    from slacktide.spark.sessions.session import start_session

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--views", type=int, default=100)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    found: dict[str, Any] = {"seed": arguments.seed, "views": []}
    if arguments.out.exists():
        found = json.loads(arguments.out.read_text())
    spark = start_session("planner", conf=QUICK)
    found["versions"] = versions(spark)
    for number, case in enumerate(views(arguments.views, arguments.seed)):
        if number < len(found["views"]):
            continue
        source = random.Random(arguments.seed * 1_000_003 + number)  # noqa: S311
        found["views"].append(examine(spark, case, source))
        found["summary"] = summary(found["views"])
        arguments.out.write_text(by_line(found, "views"))
        for what in found["views"][-1]["different"]:
            sys.stdout.write(f"view {number}: {what[:300]}\n")
    sys.stdout.write(json.dumps(found["summary"]) + "\n")
    return 1 if found["summary"]["different"] else 0


if __name__ == "__main__":
    raise SystemExit(main())

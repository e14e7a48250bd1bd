"""Every point at which a refresh may end by every kind of view: killed, retried, verified.

Resumable by kind:

    python -m tests.campaigns.faults --out tests/campaigns/faults.json

The points of a kind are counted in an undisturbed run: each write, conditional write and deletion in the
object store, each statement by which Spark writes, and each action that asks Spark for rows. The run ends
before each of them, in the middle of each write of Spark, and after the last one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slacktide.errors import SlacktideError
from tests.harness.faults import KINDS, Bench, counting_spark
from tests.harness.versions import versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def main() -> int:
    """Run the campaign; kinds that the output holds already are not run again."""
    from slacktide.spark.sessions.session import start_session

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    found = json.loads(arguments.out.read_text()) if arguments.out.exists() else {"kinds": {}}
    spark = start_session("faults", conf={"spark.driver.memory": "2g"})
    for name in KINDS:
        if name not in found["kinds"]:
            played = play(spark, name)
            found["kinds"][name] = versions(spark) | {"points": played}
            sys.stdout.write(f"{name}: {len(played)} points, {_wrong(played)} wrong\n")
            sys.stdout.flush()
        done = {kind: found["kinds"][kind] for kind in KINDS if kind in found["kinds"]}
        found |= {"kinds": done, "summary": summary(done)}
        arguments.out.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if found["summary"]["wrong"] else 0


def play(spark: SparkSession, name: str) -> list[dict[str, Any]]:
    """Let the run of one kind end at every point."""
    with tempfile.TemporaryDirectory() as folder, counting_spark():
        try:
            bench = Bench(spark, Path(folder), KINDS[name])
        except (AssertionError, SlacktideError) as wrong:  # an undisturbed run that is not as told
            return [{"when": "never", "step": "prepare", "wrong": f"{wrong!r}"}]
        return [bench.end_at(point).to_dict() for point in bench.points()]


def _wrong(played: list[dict[str, Any]]) -> int:
    return sum(1 for point in played if point.get("wrong"))


def summary(kinds: dict[str, dict[str, Any]]) -> dict[str, int]:
    """How much was tried, and what of it was wrong."""
    return {
        "kinds": len(kinds),
        "points": sum(len(kind["points"]) for kind in kinds.values()),
        "wrong": sum(_wrong(kind["points"]) for kind in kinds.values()),
    }


if __name__ == "__main__":
    raise SystemExit(main())

"""Whether the planner chooses right between increments and full: both are run beside what it chooses.

    python -m tests.campaigns.hindsight --folder FOLDER --out tests/campaigns/hindsight.json

Three workspaces follow the same arrivals: in one the planner chooses, in one each view is maintained by increments
whatever that costs, in one each is computed from its sources. Ten arrivals, each share of the base in each nature
once, let the planner see what its runs cost; then all of them come `--repetitions` times, each time in another
order, as do the workspaces: in five of the six orders that there are. A few views at a time go through all of that, in
workspaces of their own. What the output holds is not run again: a group that is there in part goes on where its folder is, too.

What is right is told by `tests.campaigns.hindsight_cells`, and drawn by `tests.campaigns.hindsight_page`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from slacktide.cli.showcase import Showcase
from tests.campaigns.hindsight_cells import WORKSPACES, summary
from tests.campaigns.side_by_side import GROUP, SideBySide, Way, options, session
from tests.harness.by_line import by_line
from tests.harness.versions import commit, setting_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEED = 20261123
NATURES = ("clustered", "scattered")
SHARES = (0.0001, 0.001, 0.01, 0.1, 0.5)
WAYS = dict(zip(WORKSPACES, (Way("auto"), Way("incremental"), Way("full")), strict=True))
CALIBRATING = tuple(product(NATURES, SHARES))


def rounds(repetitions: int) -> Iterator[tuple[str, float]]:
    """The arrivals in order: those by which the planner learns, then all of them in other orders."""
    yield from CALIBRATING
    draw = random.Random(SEED)  # noqa: S311
    for _ in range(repetitions):
        yield from draw.sample(CALIBRATING, len(CALIBRATING))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign, group by group and arrival by arrival."""
    asked = options(__doc__, arguments, scale=1.0, repetitions=5)
    found = _resumed(asked)
    spark = session("hindsight", asked)
    machine = {"cores": os.cpu_count(), "machine": platform.machine(), "seed": SEED}
    found = {**setting_of(spark), **machine, **found}
    for views in _groups(asked.views, found):
        if " ".join(views) not in found["different"]:
            _play(spark, views, asked, found)
    sys.stdout.write(json.dumps(found["summary"], indent=1) + f"\n{found['different']}\n")
    return int(any(any(told.values()) for told in found["different"].values()))


def _play(
    spark: SparkSession, views: Sequence[str], asked: argparse.Namespace, found: dict[str, Any]
) -> None:
    """Run what is left of a group; its folder goes when its answers were compared.

    Raises:
        SystemExit: rounds of the group are there and its folder is not, or the other way round.
    """
    group, case = " ".join(views), Showcase(asked.folder / "-".join(views), asked.scale, views)
    done = sum(told["group"] == group for told in found["rounds"])
    if bool(done) != case.landing.exists():
        raise SystemExit(
            f"{case.root} is not of the {done} rounds of {group} in {asked.out}: remove both"
        )
    campaign, played = SideBySide(spark, case, WAYS, SEED), commit()
    for number, (nature, share) in enumerate(rounds(asked.repetitions), start=1):
        if number > done:
            turn = (number - 1) // len(CALIBRATING)  # another order, in each cell
            told = campaign.round(number, nature, share, turn)
            told = {"group": group, "number": number, "commit": played, **told}
            found["rounds"].append(told)
            found["summary"] = summary(
                [told for told in found["rounds"] if told["number"] > len(CALIBRATING)]
            )
            asked.out.write_text(by_line(found, "rounds"))
            sys.stdout.write(f"{group}, {number}: {nature}, {share:.2%} of the rows\n")
            sys.stdout.flush()
    found["different"][group] = campaign.different()
    asked.out.write_text(by_line(found, "rounds"))
    shutil.rmtree(case.root)


def _groups(views: Sequence[str], found: Mapping[str, Any]) -> list[Sequence[str]]:
    """The views in groups: those in which some of them were played already, then the others."""
    played = [group.split() for group in dict.fromkeys(told["group"] for told in found["rounds"])]
    asked = [group for group in played if set(group) & set(views)]
    left = [view for view in views if not any(view in group for group in played)]
    return [*asked, *(left[first : first + GROUP] for first in range(0, len(left), GROUP))]


def _resumed(asked: argparse.Namespace) -> dict[str, Any]:
    """What the output holds already.

    Raises:
        SystemExit: it is of another setting.
    """
    setting = {"scale": asked.scale, "repetitions": asked.repetitions}
    if not asked.out.exists():
        return {**setting, "different": {}, "summary": {}, "rounds": []}
    found: dict[str, Any] = json.loads(asked.out.read_text())
    if any(found[name] != value for name, value in setting.items()):
        raise SystemExit(f"{asked.out} is of another setting; remove it")
    return found


if __name__ == "__main__":
    raise SystemExit(main())

"""What it costs to plan by wrong statistics: the planner with and without them, beside full runs.

    python -m tests.campaigns.misled --folder FOLDER --out tests/campaigns/misled.json

Workspaces follow the same arrivals: in one each view is computed from its sources, in one the planner goes by what
the log tells, and in each of the others by something else: nothing at all, sizes a thousand times too small or too
large, changes a thousand times too small that lie close together, or each table's figures taken for those of another.
What runs have cost is told to all of them as it is; answers are compared with batch at the end.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from slacktide.cli.showcase import Showcase
from slacktide.optimizer.statistics import (
    ColumnFacts,
    Figure,
    SourceFacts,
    Statistics,
    StoredFacts,
)
from tests.campaigns.side_by_side import GROUP, SideBySide, Way, options, session
from tests.harness.by_line import by_line
from tests.harness.versions import versions

SEED = 20261126
FACTOR = 1000.0
ARRIVALS = tuple(product(("clustered", "scattered"), (0.001, 0.01, 0.1, 0.5)))


def nothing(_: Statistics) -> Statistics:
    """Nobody knows anything."""
    return Statistics()


def smaller(known: Statistics) -> Statistics:
    """Figures of when all was a thousand times smaller than it is."""
    return _sized(known, 1 / FACTOR)


def larger(known: Statistics) -> Statistics:
    """Figures of when all was a thousand times larger than it is."""
    return _sized(known, FACTOR)


def few_changes(known: Statistics) -> Statistics:
    """Changes are thought a thousand times smaller, and to lie close together."""
    sources = {
        name: replace(
            facts,
            changes=tuple(one.scaled(1 / FACTOR) for one in facts.changes),
            reach=Figure(1 / FACTOR, "observed"),
        )
        for name, facts in known.sources.items()
    }
    return replace(known, sources=sources)


def swapped(known: Statistics) -> Statistics:
    """The figures of each table are those of another one; its columns keep their names."""
    names = sorted(known.sources)
    others = names[1:] + names[:1]
    sources = {
        name: replace(known.sources[other], columns=known.sources[name].columns)
        for name, other in zip(names, others, strict=True)
    }
    return replace(known, sources=sources)


WAYS: Mapping[str, Way] = {
    "full": Way("full"),
    "told": Way("auto"),
    "nothing": Way("auto", nothing),
    "smaller": Way("auto", smaller),
    "larger": Way("auto", larger),
    "few changes": Way("auto", few_changes),
    "swapped": Way("auto", swapped),
}


def _sized(known: Statistics, factor: float) -> Statistics:
    return replace(
        known,
        sources={name: _source(facts, factor) for name, facts in known.sources.items()},
        stored={
            chain: StoredFacts(one.rows * factor, one.bytes * factor, one.files)
            for chain, one in known.stored.items()
        },
        observed={},
        columns={number: _column(one, factor) for number, one in known.columns.items()},
    )


def _source(facts: SourceFacts, factor: float) -> SourceFacts:
    return replace(
        facts,
        rows=facts.rows.scaled(factor),
        bytes=facts.bytes * factor,
        columns={name: _column(one, factor) for name, one in facts.columns.items()},
    )


def _column(facts: ColumnFacts, factor: float) -> ColumnFacts:
    return replace(facts, distinct=facts.distinct and facts.distinct.scaled(factor))


def summary(rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What each workspace took over what full runs took, in all, and the views for which that was most."""
    found = {}
    for way in WAYS:
        ratios = {view: _ratio(rounds, way, [view]) for view in _views(rounds)}
        ranked = sorted(ratios.items(), key=lambda pair: -pair[1])
        found[way] = {
            "of full": round(_ratio(rounds, way, [*ratios]), 3),
            "views above 1.1": {view: round(one, 3) for view, one in ranked if one > 1.1},
            "switched": sum(told[way][v].get("switched", 0) for told in rounds for v in told[way]),
        }
    return found


def _views(rounds: Sequence[Mapping[str, Any]]) -> dict[str, None]:
    return dict.fromkeys(view for told in rounds for view in told["full"])


def _ratio(rounds: Sequence[Mapping[str, Any]], way: str, views: Sequence[str]) -> float:
    """Seconds of CPU of the runs of some views over those of full runs beside them."""
    mine, full = (
        sum(
            told[name][view].get("seconds", 0.0)
            for told in rounds
            for view in views
            if view in told[name]
        )
        for name in (way, "full")
    )
    return mine / full if full else 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign, group by group."""
    asked = options(__doc__, arguments, scale=0.3, repetitions=2)
    spark = session("misled", asked)
    found: dict[str, Any] = {
        **versions(spark),
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "seed": SEED,
        "scale": asked.scale,
        "different": {},
        "summary": {},
        "rounds": [],
    }
    for first in range(0, len(asked.views), GROUP):
        views = asked.views[first : first + GROUP]
        case = Showcase(asked.folder / "-".join(views), asked.scale, views)
        campaign = SideBySide(spark, case, WAYS, SEED)
        arrivals = ARRIVALS * asked.repetitions
        for number, (nature, share) in enumerate(arrivals, start=1):
            told = campaign.round(number, nature, share, number)
            found["rounds"].append({"group": " ".join(views), "number": number, **told})
        found["different"][" ".join(views)] = campaign.different()
        found["summary"] = summary(found["rounds"])
        asked.out.write_text(by_line(found, "rounds"))
        sys.stdout.write(json.dumps(found["summary"], indent=1) + "\n")
        sys.stdout.flush()
        shutil.rmtree(case.root)
    return int(any(any(told.values()) for told in found["different"].values()))


if __name__ == "__main__":
    raise SystemExit(main())

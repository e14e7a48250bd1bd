"""What work before the due refresh is expected to save: TPC-H views, by the model.

    python -m tests.campaigns.progressive_days --out tests/campaigns/progressive_days.json

A period has two refreshes; a second of CPU costs a quarter in the first. Orders and line items change, a share of
their rows before the first refresh, another until the due one, and of them that share which `reach` says is
read where keys of a change bound it. Costs are seconds of CPU at their weights, of the views that read these tables.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.optimizer.periods import planning
from slacktide.optimizer.periods.progress import Progress
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.upkeep import state_sources
from slacktide.optimizer.statistics import ChangeFacts, ColumnFacts, Figure, SourceFacts, Statistics
from slacktide.optimizer.statistics.intervals import united
from slacktide.optimizer.ways.situation import Situation
from tests.harness.planner.tpch_views import TPCH

WEIGHTS = (Fraction(1, 4), Fraction(1))
CHANGING = ("lineitem", "orders")
SHARES = ((0.01, 0.01), (0.1, 0.1), (0.5, 0.1), (0.5, 0.5))
REACHES = (0.02, 1.0)
SCALES = (1, 100)
CONSTANT = ("nation", "region")
MANY = 5_000
"""Columns with more values at scale 1 have more of them at a larger one."""


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    cells = []
    for scale, reach, (early, later) in product(SCALES, REACHES, SHARES):
        cells.append(cell(Day(early, later, reach, scale)))
        sys.stdout.write(line(cells[-1]) + "\n")
        sys.stdout.flush()
    arguments.out.write_text(json.dumps({"cells": cells}, indent=1) + "\n")
    return 0


@dataclass(frozen=True, slots=True)
class Day:
    """What comes in a period.

    Attributes:
        early: the share of the rows of orders and line items that comes before the first refresh.
        later: the share that comes after it.
        reach: the share of a table that is read where keys of a change bound it.
        scale: of TPC-H.
    """

    early: float
    later: float
    reach: float
    scale: int = 1


def cell(day: Day, views: tuple[str, ...] = TPCH.queries) -> dict[str, Any]:
    """Plan the first refresh of all views."""
    found = {name: dict(prices(name, day)) for name in views}
    priced = {name: costs for name, costs in found.items() if costs}
    return {**asdict(day), "views": priced}


def prices(query: str, day: Day) -> Iterator[tuple[str, float]]:
    """What a period costs where all waits, and where something is stored early if that is found cheaper."""
    relation = TPCH.relation(query)
    if not {*sources(relation)} & {*CHANGING}:
        return
    calls: list[tuple[float, float]] = []

    def is_worth(cost: float, instead: float) -> bool:
        calls.append((cost, instead))
        return cost < instead

    view = ReadView(relation=relation, outputs=relation.columns, sources=sources(relation))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "is_worth", is_worth)
        plan = planned(query, view, known(day))
    if calls:
        yield "waiting", calls[0][1]
        yield "planned", calls[1][0] if plan.program is not None else calls[0][1]


def planned(name: str, view: ReadView, statistics: Statistics) -> ViewPlan:
    """Plan the refresh of a view of which all states are there, as of its answer."""
    start = dict.fromkeys(view.sources, 1)
    end = {source: 1 + (source in CHANGING) for source in view.sources}
    scopes = state_sources(view)
    states = {chain: dict.fromkeys(scope, 1) for chain, scope in scopes.items()}
    situation = Situation(start, end, 0.1, states, "auto", 1, statistics=united(statistics))
    quiet = frozenset((n, at) for n in view.sources if n not in CHANGING for at in (2, 3))
    where = Progress(WEIGHTS, 1, "a period", (start,), (), (*scopes,), statistics, quiet)
    return planning.plan_turn(name, view, situation, where)


def known(day: Day) -> Statistics:
    """What is known of the tables."""

    def facts(name: str, source: SourceFacts) -> SourceFacts:
        shares = (day.early, day.later) if name in CHANGING else (0.0, 0.0)
        count = TPCH.rows[name] * (1 if name in CONSTANT else day.scale)
        changes = [ChangeFacts(Figure(count * share, "declared")) for share in shares]
        rows = Figure(count * (1 + sum(shares)), "declared")
        columns = {key: grown(column) for key, column in source.columns.items()}
        reach = Figure(day.reach, "declared")
        return replace(source, rows=rows, changes=tuple(changes), reach=reach, columns=columns)

    def grown(column: ColumnFacts) -> ColumnFacts:
        count = 1.0 if column.distinct is None else column.distinct.value
        return ColumnFacts(Figure(count * (day.scale if count > MANY else 1), "declared"))

    at_rest = TPCH.statistics(1)
    return Statistics({name: facts(name, source) for name, source in at_rest.sources.items()})


def line(found: dict[str, Any]) -> str:
    """A cell in words."""
    views = found["views"].values()
    storing = sum(costs["planned"] < costs["waiting"] for costs in views)
    sums = [sum(costs[way] for costs in views) for way in ("waiting", "planned")]
    return (
        f"scale {found['scale']}, {found['early']:.0%}, {found['later']:.0%}, reach {found['reach']}: {storing} of {len(views)}"
        f" views store something early; waiting {sums[0]:.1f}, as planned {sums[1]:.1f}"
    )


if __name__ == "__main__":
    raise SystemExit(main())

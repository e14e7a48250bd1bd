"""What the campaign of choices in hindsight says of costs that were measured: cells, and how many are right.

A *cell* is a view, a nature and a share. What a way costs in it is the median of its CPU seconds in tasks, though the
planner also reckons with jobs and planning; its noise is the median difference between one run of the way and the
next. A choice is wrong where what was chosen in most repetitions costs more than the other way, by more than the
noise of both; where the two ways differ by less than that, either is right, and the cell is called *even*. Runs
before which a full run had left the states behind had no states to go on from, other than those beside
which they stand: they count as *left* and say nothing of what was chosen in their cell.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from slacktide.engine.telling.hindsight import LACKING, LEAST, NOISE
from slacktide.optimizer.costs import DEFAULTS, Vector

TICK = 0.001
"""Seconds that reports tell apart."""
_DRAWS = 200
WAYS = ("incremental", "full")
WORKSPACES = ("chosen", *WAYS)


@dataclass(frozen=True, slots=True)
class Cell:
    """What was found of a view under arrivals of a nature and a share.

    Attributes:
        view: its name.
        nature: of the arrivals.
        share: of the base that they change.
        choices: ``incremental`` or ``full``, of each repetition but those before which states were left behind.
        seconds: what the runs of each workspace took, in order.
        counted: the same of the repetitions with a choice.
    """

    view: str
    nature: str
    share: float
    choices: Sequence[str]
    seconds: Mapping[str, Sequence[float]]
    counted: Mapping[str, Sequence[float]]

    @property
    def choice(self) -> str:
        """What was chosen in most repetitions."""
        return Counter(self.choices).most_common(1)[0][0]

    @property
    def better(self) -> str:
        """The way that costs less."""
        return min(WAYS, key=self._cost)

    @property
    def best(self) -> float:
        """What the cheaper way costs."""
        return self._cost(self.better)

    @property
    def is_right(self) -> bool:
        """Whether no other way costs less than the chosen one, beyond noise."""
        return self._cost(self.choice) - self.best <= self.noise

    @property
    def is_way_near(self) -> bool:
        """Whether the chosen way costs near what the best one does, each where it is always taken."""
        return _is_near(self._cost(self.choice), self.best)

    @property
    def is_even(self) -> bool:
        """Whether the two ways differ by no more than noise."""
        return abs(self._cost("incremental") - self._cost("full")) <= self.noise

    @property
    def taken(self) -> Mapping[str, float]:
        """Seconds of the planner's runs with a choice, and of both ways in the runs beside them."""
        return {name: median(self.counted[name]) for name in WORKSPACES}

    @property
    def regret(self) -> float:
        """How many times of the better way's seconds the planner's runs took."""
        return self.taken["chosen"] / max(self._best_beside, TICK)

    @property
    def are_runs_near(self) -> bool:
        """Whether what the planner's runs took is near what the best way took beside them: a factor, or seconds."""
        return _is_near(self.taken["chosen"], self._best_beside)

    @property
    def is_beyond_noise(self) -> bool:
        """Whether the planner's runs took more than is near the best, and more than noise tells apart."""
        return not self.are_runs_near and self.taken["chosen"] - self._best_beside > self.noise

    @property
    def _best_beside(self) -> float:
        return min(self.taken[way] for way in WAYS)

    @property
    def noise(self) -> float:
        """Seconds by which one run of a way differs from its next, of both ways together."""
        return sum(_noise(self.seconds[way]) for way in WAYS)

    def _cost(self, workspace: str) -> float:
        return median(self.seconds[workspace])

    def to_dict(self) -> dict[str, Any]:
        """Give the form of the summary."""
        costs = {name: round(self._cost(name), 3) for name in WORKSPACES}
        where = {"view": self.view, "nature": self.nature, "share": self.share}
        told = {"choice": self.choice, "right": self.is_right, "cheap": self.are_runs_near}
        return {**where, **told, **costs, "noise": round(self.noise, 3)}


def _is_near(seconds: float, best: float) -> bool:
    return seconds <= max(NOISE * best, best + LEAST)


def _noise(seconds: Sequence[float]) -> float:
    return median([abs(one - other) for one, other in pairwise(seconds)] or [0.0])


def cells(found: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """The cells of what was measured; a run with nothing to do, or by another way, is left out with those beside it."""
    grouped: dict[tuple[str, str, float], list[dict[str, Any]]] = {}
    for one in found:
        for view in one["chosen"]:
            told = {name: one[name][view] for name in WORKSPACES}
            ways = told["incremental"]["choice"], told["full"]["choice"]
            if ways == ("incremental", "full") and told["chosen"]["choice"] != "unchanged":
                grouped.setdefault((view, one["nature"], one["share"]), []).append(told)
    return [_cell(where, many) for where, many in grouped.items()]


def totals(found: Sequence[Cell]) -> dict[str, float]:
    """Seconds of all runs of each workspace, of the better way of each cell, and of the cheaper one of each arrival for each view."""
    told = {name: sum(sum(cell.seconds[name]) for cell in found) for name in WORKSPACES}
    pairs = (zip(*(cell.seconds[way] for way in WAYS), strict=True) for cell in found)
    return {
        **told,
        "better": sum(sum(cell.seconds[cell.better]) for cell in found),
        "cheaper": sum(min(pair) for many in pairs for pair in many),
    }


def increments_beside_full(found: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """What the planner's runs by increments took, seconds of CPU, and those that turned back in times of the full run beside them."""
    runs = [
        (told, one["full"][view]["seconds"])
        for one in found
        for view, told in one["chosen"].items()
        if told["choice"] == "incremental" and "seconds" in one["full"][view]
    ]
    turned = sorted(told["seconds"] / max(full, TICK) for told, full in runs if told["switched"])
    return {
        "runs": len(runs),
        "seconds": sum(told["seconds"] for told, _ in runs),
        "full": sum(full for _, full in runs),
        "turned": len(turned),
        "median": median(turned or [0.0]),
        "most": max(turned, default=0.0),
    }


def with_jobs(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same rounds, of which the seconds are those of tasks and of what runs take besides, at the default prices."""
    return [
        {
            **one,
            **{name: {v: _with_jobs(told) for v, told in one[name].items()} for name in WORKSPACES},
        }
        for one in found
    ]


def _with_jobs(told: Mapping[str, Any]) -> dict[str, Any]:
    outside = DEFAULTS.outside(Vector(**told.get("counted", {})))
    return {**told, **({"seconds": told["seconds"] + outside} if "seconds" in told else {})}


def missed_by_noise(found: Sequence[Cell]) -> float:
    """How many of some cells are not near the best, on average, where each time the better way is taken.

    Runs are drawn anew from those that were measured, as many of each way as there were, and those of a planner that
    knows the better way besides.
    """
    draw = random.Random(0)  # noqa: S311

    def anew(seconds: Sequence[float]) -> float:
        return median(draw.choices(seconds, k=len(seconds)))

    missed = 0
    for cell in found:
        ways = [cell.counted[way] for way in WAYS]
        better = min(ways, key=median)
        missed += sum(not _is_near(anew(better), min(map(anew, ways))) for _ in range(_DRAWS))
    return missed / _DRAWS


def _cell(where: tuple[str, str, float], many: Sequence[Mapping[str, Any]]) -> Cell:
    told = [one for one in many if LACKING.isdisjoint(one["chosen"]["reasons"])]
    choices = [one["chosen"]["choice"] for one in told]
    return Cell(*where, choices, _seconds(many), _seconds(told))


def _seconds(many: Sequence[Mapping[str, Any]]) -> Mapping[str, Sequence[float]]:
    return {name: [one[name]["seconds"] for one in many] for name in WORKSPACES}


def summary(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of a campaign, of rounds after those by which the planner learns."""
    seen = cells(found)
    told = [cell for cell in seen if cell.choices]
    errors = sorted(_errors(found))
    return {
        "cells": len(told),
        "left": len(seen) - len(told),
        "even": sum(cell.is_even for cell in told),
        "right": round(sum(cell.is_right for cell in told) / max(len(told), 1), 4),
        "way near the best": round(sum(cell.is_way_near for cell in told) / max(len(told), 1), 4),
        "near the best": round(sum(cell.are_runs_near for cell in told) / max(len(told), 1), 4),
        "beyond noise": sum(cell.is_beyond_noise for cell in told),
        "not near by noise alone": round(missed_by_noise(told), 1),
        "not right": [cell.to_dict() for cell in told if not cell.is_right],
        "not near": [cell.to_dict() for cell in told if cell.is_right and not cell.are_runs_near],
        "error of expected CPU": {
            "median": round(errors[len(errors) // 2], 4) if errors else None,
            "90th percentile": round(errors[len(errors) * 9 // 10], 4) if errors else None,
        },
    }


def _errors(found: Sequence[Mapping[str, Any]]) -> Iterator[float]:
    """By which factor less one the CPU of runs was not what was expected, where it is not next to nothing."""
    for one in found:
        for told in one["chosen"].values():
            taken, expected = told.get("seconds", 0.0), told.get("expected")
            if expected and taken > LEAST and not told["switched"]:
                yield max(taken, expected) / min(taken, expected) - 1

"""What all runs of a view took beside the cheapest sequence of ways, of who had known all arrivals before.

A cell tells what a way costs after one kind of arrival, whoever has the states for it. They are an investment: a run
that keeps them, or builds them, may be dearer than another way and pay in the runs to come. So the planner's runs
are held against the best sequence, too: after each arrival the states are there or they are not; increments need
them, and a full run keeps none unless it builds them, for what that took more in the planner's own runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import Any

from tests.campaigns.hindsight_cells import WORKSPACES


@dataclass(frozen=True, slots=True)
class History:
    """The runs of a view after those by which the planner learns.

    Attributes:
        view: its name.
        building: seconds of CPU that a full run takes more where it builds the states, at the median; 0 where none did.
        seconds: what the runs of each workspace took, in order.
    """

    view: str
    building: float
    seconds: Mapping[str, Sequence[float]]

    @property
    def best(self) -> float:
        """Seconds of the cheapest sequence; the states are there at its start."""
        with_states, without = 0.0, inf
        for extended, full in zip(self.seconds["incremental"], self.seconds["full"], strict=True):
            before = min(with_states, without)
            with_states = min(with_states + extended, before + full + self.building)
            without = before + full
        return min(with_states, without)

    @property
    def taken(self) -> Mapping[str, float]:
        """Seconds of all runs of each workspace."""
        return {name: sum(seconds) for name, seconds in self.seconds.items()}

    @property
    def times_of_best(self) -> float:
        """How many times of the cheapest sequence the planner's runs took."""
        return self.taken["chosen"] / self.best


def histories(found: Sequence[Mapping[str, Any]]) -> list[History]:
    """The histories of all views; runs with nothing to do beside them are left out."""
    runs: dict[str, list[dict[str, Any]]] = {}
    for one in found:
        for view in one["chosen"]:
            told = {name: one[name][view] for name in WORKSPACES}
            if all("seconds" in run for run in told.values()):
                runs.setdefault(view, []).append(told)
    return [_history(view, many) for view, many in runs.items()]


def times_of_best(found: Sequence[History]) -> float:
    """How many times of the cheapest sequences the planner's runs took in all; 1 of none."""
    best = sum(one.best for one in found)
    return sum(one.taken["chosen"] for one in found) / best if best else 1.0


def _history(view: str, runs: Sequence[Mapping[str, Any]]) -> History:
    more = [
        told["chosen"]["seconds"] - told["full"]["seconds"]
        for told in runs
        if told["chosen"].get("way") == "rebuild" and not told["chosen"]["switched"]
    ]
    seconds = {name: [told[name]["seconds"] for told in runs] for name in WORKSPACES}
    return History(view, max(median(more), 0.0) if more else 0.0, seconds)

"""What all runs of a view took beside the cheapest sequence of ways, of who had known all arrivals before.

A cell tells what a way costs after one kind of arrival, whoever has the states for it. They are an investment: a run
that keeps them, or builds them, may be dearer than another way and pay in the runs to come. So the planner's runs
are held against the best sequence, too: after each arrival the states are there or they are not; increments need
them, and a full run keeps none unless it builds them, for what that took more in the planner's own runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import Any, NamedTuple

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
        return sum(run.seconds for run in self.sequence)

    @property
    def sequence(self) -> Sequence[Run]:
        """The runs of the cheapest sequence."""
        kept: _Way = (0.0, ())
        left: _Way = (inf, ())
        for extended, full in zip(self.seconds["incremental"], self.seconds["full"], strict=True):
            before = min(kept, left, key=_seconds)
            states = before is kept
            whole = full + self.building
            ways = [
                _and(before, Run("full", states, whole)),
                _and(kept, Run("incremental", True, extended)),
            ]
            kept, left = min(ways, key=_seconds), _and(before, Run("full", states, full))
        return min(kept, left, key=_seconds)[1]

    @property
    def taken(self) -> Mapping[str, float]:
        """Seconds of all runs of each workspace."""
        return {name: sum(seconds) for name, seconds in self.seconds.items()}

    @property
    def times_of_best(self) -> float:
        """How many times of the cheapest sequence the planner's runs took."""
        return self.taken["chosen"] / self.best


class Run(NamedTuple):
    """A run of a sequence: its way, whether there were states before it, and its seconds of CPU."""

    choice: str
    has_states: bool
    seconds: float


_Way = tuple[float, tuple[Run, ...]]


def _seconds(way: _Way) -> float:
    return way[0]


def _and(way: _Way, run: Run) -> _Way:
    return way[0] + run.seconds, (*way[1], run)


def histories(found: Sequence[Mapping[str, Any]]) -> list[History]:
    """The histories of all views; runs with nothing to do beside them are left out."""
    return [_history(view, told) for view, told in _runs(found).items()]


def by_best_sequence(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same rounds, in which what was chosen is the run of the cheapest sequence: what its cells would be.

    Runs before which there were no states have none to choose, as those of the planner.
    """
    best = {one.view: iter(one.sequence) for one in histories(found)}
    return [
        {
            **one,
            "chosen": {
                v: _told(told, best[v]) if _is_whole(one, v) else told
                for v, told in one["chosen"].items()
            },
        }
        for one in found
    ]


def _told(chosen: Mapping[str, Any], best: Iterator[Run]) -> dict[str, Any]:
    run = next(best)
    reasons = [] if run.has_states else ["STATE_MISSING"]
    return {
        **chosen,
        "choice": run.choice,
        "seconds": run.seconds,
        "reasons": reasons,
        "switched": False,
    }


def _is_whole(one: Mapping[str, Any], view: str) -> bool:
    return all("seconds" in one[name][view] for name in WORKSPACES)


def _runs(found: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    runs: dict[str, list[dict[str, Any]]] = {}
    for one in found:
        for view in one["chosen"]:
            if _is_whole(one, view):
                runs.setdefault(view, []).append({name: one[name][view] for name in WORKSPACES})
    return runs


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

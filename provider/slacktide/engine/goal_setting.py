"""The setting `goal` of a view: what its answers are to cost least of."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from slacktide.errors import InvalidSettingError

MOST = 100
"""Refreshes of a period, at most."""


def weights_of(settings: Mapping[str, Any]) -> tuple[Fraction, ...]:
    """The price of work in each refresh of a period, the last of which is due; empty where each one is.

    Args:
        settings: of a view, as they are stored.
    """
    goal = settings.get("goal")
    told = goal.get("weights", ()) if isinstance(goal, Mapping) else ()
    return tuple(Fraction(str(weight)) for weight in told)


def check_goal(view: str, goal: Any) -> None:
    """Check the weights of a goal.

    Raises:
        InvalidSettingError: they are none.
    """
    if not isinstance(goal, Mapping) or "weights" not in goal:
        return
    told = goal["weights"]
    is_list = isinstance(told, list | tuple) and 2 <= len(told) <= MOST
    if not is_list or not all(_is_weight(weight) for weight in told) or len(goal) > 1:
        raise InvalidSettingError(
            f"view {view} has the goal {dict(goal)!r}",
            hint="weights are numbers above 0, one for each refresh of a period, such as "
            '{"weights": [0.25, 0.3, 1]}: the answer is due at the last',
        )


def _is_weight(weight: Any) -> bool:
    is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
    return is_number and 0 < weight < float("inf")

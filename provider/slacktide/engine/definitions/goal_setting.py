"""The setting `goal` of a view: what its answers are to cost least of."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeGuard

from slacktide.errors import InvalidSettingError

MOST_REFRESHES = 100
"""Of a period, at most."""
MOST_ROUNDS = 10_000
"""That a choice of states is made for, at most."""
LEAST, MOST = 1e-6, 1e6
"""What a weight may be."""
_WEIGHTS = "weights are 2 to 100 numbers from 0.000001 to 1000000, one for each refresh of a period"


def weights_of(settings: Mapping[str, Any]) -> tuple[Fraction, ...]:
    """The price of work in each refresh of a period, the last of which is due; empty where each one is.

    Args:
        settings: of a view, as they are stored; an older version may have stored what is no weight.
    """
    goal = settings.get("goal")
    if not isinstance(goal, Mapping) or not _are_weights(goal.get("weights")):
        return ()
    return tuple(Fraction(str(weight)) for weight in goal["weights"])


def rounds_of(settings: Mapping[str, Any]) -> int:
    """How many refreshes a choice of states is made for; 0 where nobody says.

    Args:
        settings: of a view, as they are stored; an older version may have stored what is no such number.
    """
    goal = settings.get("goal")
    rounds = goal.get("rounds") if isinstance(goal, Mapping) else None
    return rounds if _are_rounds(rounds) else 0


def check_goal(view: str, goal: Any) -> None:
    """Check the weights or the rounds of a goal.

    Raises:
        InvalidSettingError: they are not weights, or no number of rounds, or something stands beside them.
    """
    if isinstance(goal, Mapping) and "rounds" in goal:
        if _are_rounds(goal["rounds"]) and len(goal) == 1:
            return
        raise InvalidSettingError(
            f"view {view} has the goal {reprlib.repr(dict(goal))}",
            hint=f"its rounds are a whole number from 1 to {MOST_ROUNDS:,}, the refreshes that a choice of what to "
            'remember is made for, and nothing stands beside it, as in {"rounds": 24}',
        )
    if not isinstance(goal, Mapping) or "weights" not in goal:
        return
    if not _are_weights(goal["weights"]) or len(goal) > 1:
        raise InvalidSettingError(
            f"view {view} has the goal {reprlib.repr(dict(goal))}",
            hint=f"its {_WEIGHTS}, and nothing stands beside them, "
            'as in {"weights": [0.25, 0.3, 1]}: the answer is due at the last',
        )


def check_weights(weights: Sequence[float]) -> None:
    """Check weights that are asked about.

    Raises:
        InvalidSettingError: they are none.
    """
    if not _are_weights([*weights]):
        raise InvalidSettingError(
            f"{reprlib.repr([*weights])} are no weights",
            hint=f"{_WEIGHTS}, as in [0.25, 0.3, 1]: answers are due at the last",
        )


def _are_rounds(told: Any) -> TypeGuard[int]:
    is_number = isinstance(told, int) and not isinstance(told, bool)
    return is_number and 1 <= told <= MOST_ROUNDS


def _are_weights(told: Any) -> bool:
    is_list = isinstance(told, list | tuple) and 2 <= len(told) <= MOST_REFRESHES
    return is_list and all(_is_weight(weight) for weight in told)


def _is_weight(weight: Any) -> bool:
    is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
    return is_number and LEAST <= weight <= MOST

"""What comparisons with constants say of the range of a value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from slacktide.algebra import scalar as s
from slacktide.optimizer.statistics.computed import Known, facts_of
from slacktide.optimizer.statistics.constants import number_of

ORDERED: Final = {"<": -1, "<=": -1, ">": 1, ">=": 1}
"""Comparisons that bound a value, and the side on which it lies."""
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Bound(NamedTuple):
    """A comparison of a value of a known range with a constant.

    Attributes:
        value: it, without casts that count its values alike.
        side: 1 where values above the constant are meant, -1 where those below.
        place: of the constant in the range, from 0 to 1.
    """

    value: s.Scalar
    side: int
    place: float


def bound_of(part: s.Scalar, known: Known) -> Bound | None:
    """What a comparison says of the range of a value; None where it is no comparison, or nobody knows a range."""
    if not isinstance(part, s.Call) or part.function not in ORDERED:
        return None
    function, (left, right) = part.function, part.arguments
    if isinstance(left, s.Literal):
        function, left, right = _MIRRORED[function], right, left
    facts, number = facts_of(left, known), number_of(right)
    while isinstance(left, s.Cast) and facts_of(left.operand, known) == facts:
        left = left.operand
    if number is None or facts.ends is None or facts.low == facts.high:
        return None
    low, high = facts.ends
    place = min(max((number - low) / (high - low), 0.0), 1.0)
    if low <= number <= high and facts.values is not None:
        place = _beside(place, function, 1.0 / max(facts.values.value, 1.0))
    return Bound(left, ORDERED[function], place)


def _beside(place: float, function: str, share: float) -> float:
    """The place of a constant that is a value itself: a bound leaves that out or has it, even where it is the first or the last one."""
    return max(place, share) if function in {"<=", ">"} else min(place, 1.0 - share)


def ends_of(bounds: Iterable[Bound]) -> tuple[float, float]:
    """The places between which several bounds leave a value; the second may be before the first."""
    found = [*bounds]
    low = max((bound.place for bound in found if bound.side > 0), default=0.0)
    return low, min((bound.place for bound in found if bound.side < 0), default=1.0)

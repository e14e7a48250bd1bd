"""Which rows of two bags are the same but for the last digits of doubles: these depend on the order of a sum.

Rows have a signed multiplicity last. It stays a number, as a row may have millions of copies, and a row is
held against those alone that agree with it in all columns without doubles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TOLERANCE = 1e-9
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """How large the numbers are that made the doubles of some rows; zero where that is not known.

    Attributes:
        places: of the columns by which rows are found.
        known: by these columns, a magnitude for every column.
    """

    places: Sequence[int] = ()
    known: Mapping[tuple[str, ...], list[float]] = field(default_factory=dict)

    def of(self, row: Row) -> list[float]:
        """The magnitudes of a row."""
        key = tuple(repr(row[place]) for place in self.places)
        return self.known.get(key, [0.0] * (len(row) - 1))


UNKNOWN = Magnitudes()


def unmatched(
    rows: Iterable[Row], floats: Sequence[bool], magnitudes: Magnitudes = UNKNOWN
) -> list[Row]:
    """Take away pairs that differ only in floating-point numbers, and these within tolerance.

    Args:
        rows: with their signed multiplicities, positive and negative ones.
        floats: which columns hold doubles, or values with doubles in them.
        magnitudes: of the numbers that made these.
    """
    extra: list[Row] = []
    missing: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row[-1] > 0:
            extra.append(row)
        else:
            missing.setdefault(_exact(row, floats), []).append(row)
    left: list[Row] = []
    for row in extra:
        others = missing.get(_exact(row, floats), [])
        count, others[:] = _taken(row, others, floats, magnitudes.of(row))
        if count:
            left.append((*row[:-1], count))
    return [*left, *(row for others in missing.values() for row in others)]


class Alike:
    """Numbers rows so that those which differ in the last digits of doubles alone have the same number.

    Args:
        rows: all that are to be numbered, without multiplicities.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._numbers: dict[str, int] = {}
        alike: dict[tuple[str, ...], dict[str, Row]] = {}
        for row in rows:
            alike.setdefault(_exact(row, [True] * len(row)), {})[repr(tuple(row))] = row
        for group in alike.values():
            self._number(sorted(group.values(), key=_first_double))

    def of(self, row: Row) -> int:
        """The number of a row."""
        return self._numbers[repr(tuple(row))]

    def _number(self, group: Sequence[Row]) -> None:
        """Number rows that agree in all but doubles, in the order of the first of these."""
        for place, row in enumerate(group):
            number = len(self._numbers)
            for other in reversed(group[:place]):
                if not math.isclose(_first_double(other), _first_double(row), rel_tol=TOLERANCE):
                    break
                if _is_close(other, row, [True] * len(row), [0.0] * len(row)):
                    number = self.of(other)
                    break
            self._numbers[repr(tuple(row))] = number


def _first_double(value: Any) -> float:
    """The first double in a value; NaN comes after all numbers, so that they have an order."""
    match value:
        case float():
            return math.inf if math.isnan(value) else value
        case dict():
            return _first_double(list(value.values()))
        case tuple() | list():
            return next((x for part in value if (x := _first_double(part)) != -math.inf), -math.inf)
        case _:
            return -math.inf


def _exact(row: Row, floats: Sequence[bool]) -> tuple[str, ...]:
    """What must be the same in both rows; unlike ==, repr tells -0.0 from 0.0."""
    return tuple(
        repr(_masked(row[place]) if is_float else row[place])
        for place, is_float in enumerate(floats)
    )


def _masked(value: Any) -> Any:
    """A value with all its doubles alike, those inside of structs, arrays and maps too."""
    match value:
        case float():
            return 0.0
        case dict():
            return {key: _masked(part) for key, part in value.items()}
        case tuple() | list():
            return [type(value).__name__, *map(_masked, value)]
        case _:
            return value


def _taken(
    row: Row, others: Sequence[Row], floats: Sequence[bool], sizes: Sequence[float]
) -> tuple[int, list[Row]]:
    """How many copies of a row are left, and what is left of the others, when close ones are taken away."""
    count, left = int(row[-1]), list[Row]()
    for place, other in enumerate(others):
        if not count:
            return 0, [*left, *others[place:]]
        if not _is_close(row, other, floats, sizes):
            left.append(other)
            continue
        pairs = min(count, -other[-1])
        count -= pairs
        if other[-1] + pairs:
            left.append((*other[:-1], other[-1] + pairs))
    return count, left


def _is_close(left: Row, right: Row, floats: Sequence[bool], sizes: Sequence[float]) -> bool:
    return all(
        _is_near(left[place], right[place], sizes[place])
        for place, is_float in enumerate(floats)
        if is_float
    )


def _is_near(left: Any, right: Any, size: float) -> bool:
    """Whether values that agree in all but their doubles agree in these within tolerance."""
    match left:
        case float():
            return _is_near_number(left, right, size)
        case dict():
            return all(_is_near(part, right[key], size) for key, part in left.items())
        case tuple() | list():
            return all(_is_near(*parts, size) for parts in zip(left, right, strict=True))
        case _:
            return True


def _is_near_number(left: float, right: float, size: float) -> bool:
    if left == right == 0:
        return math.copysign(1, left) == math.copysign(1, right)
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    most = TOLERANCE * size if math.isfinite(size) else 0.0
    return math.isclose(left, right, rel_tol=TOLERANCE, abs_tol=most)

"""Coefficients from past runs: non-negative least squares that shrink to what was known before.

With work x_i and CPU y_i of run i, the coefficients c ≥ 0 minimise

    Σ H(log(max(x_i · c, floor) / max(y_i, floor))) + strength · Σ_j ((c_j − p_j) / p_j)²

where p are those known before. The residuals are logarithms, as runs differ by a thousand and twice too much shall count as
half too little does: relative to y alone, prices become too low, and one run that took next to nothing rules them. H is the
square, and linear beyond `FAR` (P. J. Huber, *Robust Estimation of a Location Parameter*, 1964). With few runs, or runs that
say nothing of a kind of work, c stays at p. A kind whose p is zero stays at zero.

It is found by least squares whose weights are made anew in each round, of what the last one predicts, so that the slopes are
those of H, until prices hardly move; each by the active set of C. L. Lawson and R. J. Hanson, *Solving Least Squares Problems*, 1974, §23.3, on the normal
equations for the unknowns u_j = c_j / p_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import median, quantiles
from typing import Final

from slacktide.optimizer.costs.coefficients import TASKS, Coefficients
from slacktide.optimizer.costs.vector import Vector

STRENGTH: Final = 0.03
"""What it costs to move a price by all it was, where a run that is 2.7 times off costs 1."""
FLOOR: Final = 0.05
"""Seconds of CPU below which runs tell of noise more than of work."""
FAR: Final = 1.0
"""The logarithm beyond which a run is an odd one: predicted and measured are 2.7 times apart."""
MOST_ROUNDS: Final = 30
_STILL: Final = 0.01
_TINY: Final = 1e-12

Matrix = list[list[float]]
Row = list[float]


@dataclass(frozen=True, slots=True)
class Sample:
    """The work of a run, and the seconds of CPU that its tasks took."""

    work: Vector
    seconds: float


@dataclass(frozen=True, slots=True)
class Fit:
    """Coefficients, and how far they are from the runs that they were fitted to.

    Attributes:
        samples: how many runs there were.
        median_error: of |predicted − measured| / measured; None without runs.
        tail_factor: the 90th percentile of the larger over the smaller; None with fewer than two runs.
    """

    coefficients: Coefficients
    samples: int
    median_error: float | None
    tail_factor: float | None

    def errors(self) -> dict[str, float | None]:
        """Give the figures without the coefficients, as they are printed."""
        return {
            "runs": self.samples,
            "median_error": None if self.median_error is None else round(self.median_error, 3),
            "tail_factor": None if self.tail_factor is None else round(self.tail_factor, 3),
        }


def fit(
    samples: Sequence[Sample],
    before: Coefficients,
    *,
    kinds: Sequence[str] = TASKS,
) -> Fit:
    """Fit the coefficients of some kinds of work; the others stay as they are.

    Args:
        samples: work, and what it took of that which these kinds are paid with.
        before: the coefficients that were known.
        kinds: by default those that are paid in tasks.
    """
    kinds = [kind for kind in kinds if getattr(before, kind) > 0]
    prices: Row = [getattr(before, kind) for kind in kinds]
    rows: Matrix = [
        [getattr(sample.work, kind) * price for kind, price in zip(kinds, prices, strict=True)]
        for sample in samples
    ]
    measured = [max(sample.seconds, FLOOR) for sample in samples]
    shares = [1.0] * len(kinds)
    for _ in range(MOST_ROUNDS if samples else 0):
        latest, shares = shares, _round(rows, measured, shares)
        if all(abs(u - old) <= _STILL * old for u, old in zip(shares, latest, strict=True)):
            break
    found = {kind: p * u for kind, p, u in zip(kinds, prices, shares, strict=True)}
    coefficients = replace(before, **found)
    return Fit(coefficients, len(samples), *_errors(samples, coefficients))


def _round(rows: Matrix, measured: Row, latest: Row) -> Row:
    """The unknowns of one round, with weights of what the latest ones predict.

    Args:
        rows: of each run, what each kind of its work takes at the prices before.
        measured: seconds that each run took.
        latest: unknowns of the round before.
    """
    places = range(len(latest))
    gram: Matrix = [[STRENGTH if i == j else 0.0 for j in places] for i in places]
    target: Row = [STRENGTH] * len(latest)
    for row, seconds in zip(rows, measured, strict=True):
        weight = _weight(sum(r * u for r, u in zip(row, latest, strict=True)), seconds)
        for i, left in enumerate(row):
            target[i] += weight * left * seconds
            for j, right in enumerate(row):
                gram[i][j] += weight * left * right
    return solve_non_negative(gram, target)


def _weight(predicted: float, measured: float) -> float:
    """By which a squared difference has the slope of H: H'(log p/y) / p = 2 · weight · (p − y); 0 where neither is above the floor."""
    if predicted <= FLOOR >= measured:
        return 0.0
    predicted = max(predicted, FLOOR)
    far = abs(log(predicted / measured))
    if far < _TINY:
        return 1.0 / predicted**2
    return min(far, FAR) / (predicted * abs(predicted - measured))


def _errors(
    samples: Sequence[Sample], coefficients: Coefficients
) -> tuple[float | None, float | None]:
    pairs = [
        (max(coefficients.in_tasks(one.work), FLOOR), max(one.seconds, FLOOR)) for one in samples
    ]
    if not pairs:
        return None, None
    middle = median(abs(predicted - measured) / measured for predicted, measured in pairs)
    factors = [max(p / m, m / p) for p, m in pairs]
    return middle, quantiles(factors, n=10, method="inclusive")[-1] if len(pairs) > 1 else None


def solve_non_negative(gram: Matrix, target: Row) -> Row:
    """Minimise ½ uᵀ G u − tᵀ u over u ≥ 0, for a symmetric positive definite G."""
    size = len(target)
    found, passive = [0.0] * size, list[int]()
    for _ in range(3 * size + 3):
        slopes = [
            target[i] - sum(g * u for g, u in zip(gram[i], found, strict=True)) for i in range(size)
        ]
        rising = [i for i in range(size) if i not in passive and slopes[i] > _TINY]
        if not rising:
            break
        passive.append(max(rising, key=lambda i: slopes[i]))
        found = _settle(gram, target, found, passive)
    return found


def _settle(gram: Matrix, target: Row, found: Row, passive: list[int]) -> Row:
    """Solve for the passive unknowns; those that would become negative leave the set."""
    while True:
        part = _solve(
            [[gram[i][j] for j in passive] for i in passive], [target[i] for i in passive]
        )
        wanted = [0.0] * len(target)
        for i, value in zip(passive, part, strict=True):
            wanted[i] = value
        falling = [i for i in passive if wanted[i] <= 0]
        if not falling:
            return wanted
        step = min(found[i] / (found[i] - wanted[i]) if found[i] > 0 else 0.0 for i in falling)
        found = [u + step * (w - u) for u, w in zip(found, wanted, strict=True)]
        for i in [i for i in falling if found[i] <= _TINY]:
            found[i] = 0.0
            passive.remove(i)


def _solve(matrix: Matrix, target: Row) -> Row:
    """Gauss-Jordan with pivots; G is positive definite, so that none is zero."""
    rows = [[*row, value] for row, value in zip(matrix, target, strict=True)]
    for at in range(len(rows)):
        pivot = max(range(at, len(rows)), key=lambda i: abs(rows[i][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        head = rows[at][at]
        rows[at] = [value / head for value in rows[at]]
        for i, row in enumerate(rows):
            if i != at and row[at]:
                factor = row[at]
                rows[i] = [a - factor * b for a, b in zip(row, rows[at], strict=True)]
    return [row[-1] for row in rows]

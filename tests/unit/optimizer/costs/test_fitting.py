"""Coefficients from past runs: the least squares, against brute force, and what few runs can do."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations, product
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slacktide.optimizer.costs import DEFAULTS, Coefficients, Sample, Vector, fit
from slacktide.optimizer.costs.fitting import FAR, FLOOR, STRENGTH, solve_non_negative

NUMBERS = st.floats(-10, 10, allow_nan=False).map(lambda x: round(x, 3))


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[list[float]], list[float]]:
    """A positive definite matrix AᵀA + I and a right side."""
    size = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(NUMBERS, min_size=size, max_size=size), min_size=1, max_size=6))
    gram = [
        [sum(row[i] * row[j] for row in rows) + (i == j) for j in range(size)] for i in range(size)
    ]
    return gram, draw(st.lists(NUMBERS, min_size=size, max_size=size))


def value(gram: list[list[float]], target: list[float], u: list[float]) -> float:
    return sum(0.5 * u[i] * gram[i][j] * u[j] for i in range(len(u)) for j in range(len(u))) - sum(
        t * x for t, x in zip(target, u, strict=True)
    )


def by_force(gram: list[list[float]], target: list[float]) -> float:
    """The least value over all sets of unknowns that are not zero."""
    import numpy as np

    best = 0.0
    for count in range(1, len(target) + 1):
        for chosen in combinations(range(len(target)), count):
            part = np.linalg.solve(
                np.array([[gram[i][j] for j in chosen] for i in chosen]),
                np.array([target[i] for i in chosen]),
            )
            if (part >= 0).all():
                whole = [0.0] * len(target)
                for i, x in zip(chosen, part, strict=True):
                    whole[i] = float(x)
                best = min(best, value(gram, target, whole))
    return best


@given(problems())
def test_the_least_squares_are_those_of_brute_force(
    problem: tuple[list[list[float]], list[float]],
) -> None:
    gram, target = problem
    found = solve_non_negative(gram, target)
    assert all(x >= 0 for x in found)
    assert value(gram, target, found) == pytest.approx(by_force(gram, target), rel=1e-6, abs=1e-6)


def test_without_runs_nothing_is_learned() -> None:
    found = fit([], DEFAULTS)
    assert (found.samples, found.median_error, found.tail_factor) == (0, None, None)
    assert found.coefficients.to_dict() == pytest.approx(DEFAULTS.to_dict())


def test_one_run_moves_what_it_tells_of_and_nothing_else() -> None:
    slow = Sample(Vector(rows_read=1e7), 10 * 1e7 * DEFAULTS.rows_read)
    found = fit([slow], DEFAULTS).coefficients
    assert DEFAULTS.rows_read < found.rows_read < 10 * DEFAULTS.rows_read
    assert found.bytes_shuffled == pytest.approx(DEFAULTS.bytes_shuffled)
    assert found.jobs == DEFAULTS.jobs


def test_many_runs_are_believed() -> None:
    true = Coefficients(rows_read=3e-7, bytes_shuffled=2e-8, stages=0.05)
    works = [
        Vector(rows_read=1e6 * (1 + n % 7), bytes_shuffled=1e7 * (n % 5), stages=2 + n % 11)
        for n in range(500)
    ]
    found = fit([Sample(work, true.in_tasks(work)) for work in works], DEFAULTS)
    assert found.coefficients.rows_read == pytest.approx(3e-7, rel=0.1)
    assert found.coefficients.stages == pytest.approx(0.05, rel=0.15)
    assert found.median_error is not None
    assert found.median_error < 0.05
    assert found.tail_factor is not None
    assert found.tail_factor < 1.1


def test_twice_as_much_counts_as_half_as_little() -> None:
    """Relative to what was measured alone, the price of a row would be 0.59 of what it is."""
    work = Vector(rows_read=1e8)
    usual = DEFAULTS.in_tasks(work)
    runs = [Sample(work, usual * times) for times in (0.5, 2.0)]
    found = fit(100 * runs, DEFAULTS).coefficients
    assert found.rows_read == pytest.approx(DEFAULTS.rows_read, rel=0.01)


@pytest.mark.parametrize("seconds", [0.0, 0.05, 1000.0])
def test_one_odd_run_does_not_rule_the_others(seconds: float) -> None:
    works = [Vector(rows_read=1e8 * n, stages=2.0) for n in range(1, 21)]
    usual = [Sample(work, DEFAULTS.in_tasks(work)) for work in works]
    found = fit([*usual, Sample(works[9], seconds)], DEFAULTS).coefficients
    assert found.rows_read == pytest.approx(DEFAULTS.rows_read, rel=0.06)


def test_runs_that_take_next_to_nothing_teach_nothing() -> None:
    runs = 100 * [Sample(Vector(stages=2.0), 0.0)]
    assert fit(runs, DEFAULTS).coefficients == DEFAULTS


def loss(samples: list[Sample], prices: Coefficients) -> float:
    """What `fitting` minimises, as its head writes it."""
    ratios = [
        log(max(prices.in_tasks(one.work), FLOOR) / max(one.seconds, FLOOR)) for one in samples
    ]
    moved = [getattr(prices, kind) / getattr(DEFAULTS, kind) - 1.0 for kind in KINDS]
    far = [x * x if abs(x) <= FAR else FAR * (2.0 * abs(x) - FAR) for x in ratios]
    return float(sum(far) + STRENGTH * sum(x * x for x in moved))


KINDS = ("rows_read", "rows_grouped", "bytes_shuffled", "stages")


@pytest.mark.parametrize("seed", range(20))
def test_no_prices_beside_those_that_are_found_fit_better(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    true = {kind: getattr(DEFAULTS, kind) * draw.choice([0.2, 1.0, 10.0]) for kind in KINDS}
    most = {"rows_read": 1e8, "rows_grouped": 1e7, "bytes_shuffled": 1e9, "stages": 40.0}
    works = [Vector(**{k: draw.uniform(0.0, most[k]) for k in KINDS}) for _ in range(20)]
    spoilt = [draw.choice([0.5, 1.0, 1.0, 2.0, 30.0]) for _ in works]
    samples = [
        Sample(work, Coefficients(**true).in_tasks(work) * times)
        for work, times in zip(works, spoilt, strict=True)
    ]
    found = fit(samples, DEFAULTS, kinds=KINDS).coefficients
    least = loss(samples, found)
    assert least < loss(samples, DEFAULTS)
    for kind, times in product(KINDS, (0.8, 1.25)):
        beside = replace(found, **{kind: times * getattr(found, kind)})
        assert loss(samples, beside) >= 0.999 * least, kind


@given(
    st.lists(
        st.builds(
            Sample,
            st.builds(
                Vector,
                rows_read=st.floats(0, 1e9),
                bytes_shuffled=st.floats(0, 1e10),
                bytes_written=st.floats(0, 1e9),
                stages=st.floats(0, 100),
            ),
            st.floats(0, 1000),
        ),
        max_size=20,
    )
)
def test_no_run_makes_a_price_negative(samples: list[Sample]) -> None:
    assert all(price >= 0 for price in fit(samples, DEFAULTS).coefficients.to_dict().values())

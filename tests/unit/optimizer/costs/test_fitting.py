"""Coefficients from past runs: the least squares, against brute force, and what few runs can do."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slacktide.optimizer.costs import DEFAULTS, Coefficients, Sample, Vector, fit
from slacktide.optimizer.costs.fitting import solve_non_negative

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
    """Relative to what was measured alone, the price of a row would be 0.71 of what it is."""
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
    assert found.rows_read == pytest.approx(DEFAULTS.rows_read, rel=0.25)


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

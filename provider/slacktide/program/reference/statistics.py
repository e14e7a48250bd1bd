"""Variance and its family: computed exactly, rounded at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from slacktide.algebra.types import DataType
from slacktide.errors import DataError
from slacktide.program.reference.ordering import Row

Function = Callable[[DataType, Sequence[Row]], Any]
Numbers = Sequence[Fraction]
Finite = Callable[..., float | None]


def _about_mean(values: Numbers) -> Numbers:
    mean = sum(values, Fraction(0)) / len(values)
    return [value - mean for value in values]


def _sum_of_products(left: Numbers, right: Numbers) -> Fraction:
    pairs = zip(_about_mean(left), _about_mean(right), strict=True)
    return sum((one * other for one, other in pairs), Fraction(0))


def _moment(values: Numbers, power: int) -> Fraction:
    """The sum of the powers of the distances from the mean."""
    return sum((value**power for value in _about_mean(values)), Fraction(0))


def _variance(spare: int) -> Finite:
    def evaluate(values: Numbers) -> float | None:
        rows = len(values) - spare
        return float(_moment(values, 2) / rows) if rows else None

    return evaluate


def _deviation(spare: int) -> Finite:
    def evaluate(values: Numbers) -> float | None:
        variance = _variance(spare)(values)
        return None if variance is None else math.sqrt(variance)

    return evaluate


def _skewness(values: Numbers) -> float | None:
    square = _moment(values, 2)
    if not square:
        return None
    return math.sqrt(len(values)) * float(_moment(values, 3)) / math.sqrt(float(square**3))


def _kurtosis(values: Numbers) -> float | None:
    square = _moment(values, 2)
    return float(len(values) * _moment(values, 4) / square**2 - 3) if square else None


def _covariance(spare: int) -> Finite:
    def evaluate(left: Numbers, right: Numbers) -> float | None:
        rows = len(left) - spare
        return float(_sum_of_products(left, right) / rows) if rows else None

    return evaluate


def _correlation(left: Numbers, right: Numbers) -> float | None:
    """NULL for one row; Spark divides by zero where a side has only one value."""
    if len(left) == 1:
        return None
    squares = _moment(left, 2) * _moment(right, 2)
    if not squares:
        raise DataError("corr divides by zero: one side has only one value")
    return float(_sum_of_products(left, right)) / math.sqrt(float(squares))


def _slope(left: Numbers, right: Numbers) -> float | None:
    square = _moment(right, 2)
    return float(_sum_of_products(left, right) / square) if square else None


def _intercept(left: Numbers, right: Numbers) -> float | None:
    square = _moment(right, 2)
    if not square:
        return None
    slope = _sum_of_products(left, right) / square
    return float((sum(left, Fraction(0)) - slope * sum(right, Fraction(0))) / len(left))


def _determination(left: Numbers, right: Numbers) -> float | None:
    own, other = _moment(left, 2), _moment(right, 2)
    if not other:
        return None
    return float(_sum_of_products(left, right) ** 2 / (own * other)) if own else 1.0


def _mean_of(side: int) -> Finite:
    def evaluate(*values: Numbers) -> float:
        return float(sum(values[side], Fraction(0)) / len(values[side]))

    return evaluate


def _products_of(one: int, other: int) -> Finite:
    def evaluate(*values: Numbers) -> float:
        return float(_sum_of_products(values[one], values[other]))

    return evaluate


def _over_finite(function: Finite) -> Function:
    """NULL over nothing, NaN where a value is not finite."""

    def evaluate(_type: DataType, inputs: Sequence[Row]) -> Any:
        if not inputs:
            return None
        columns = [[float(value) for value in column] for column in zip(*inputs, strict=True)]
        if not all(math.isfinite(value) for column in columns for value in column):
            return math.nan
        return function(*([Fraction(value) for value in column] for column in columns))

    return evaluate


_FINITE: Final[Mapping[str, Finite]] = {
    "std": _deviation(1),
    "stddev": _deviation(1),
    "stddev_samp": _deviation(1),
    "stddev_pop": _deviation(0),
    "variance": _variance(1),
    "var_samp": _variance(1),
    "var_pop": _variance(0),
    "skewness": _skewness,
    "kurtosis": _kurtosis,
    "covar_pop": _covariance(0),
    "covar_samp": _covariance(1),
    "corr": _correlation,
    "regr_avgx": _mean_of(1),
    "regr_avgy": _mean_of(0),
    "regr_sxx": _products_of(1, 1),
    "regr_sxy": _products_of(0, 1),
    "regr_syy": _products_of(0, 0),
    "regr_slope": _slope,
    "regr_intercept": _intercept,
    "regr_r2": _determination,
}
STRICT: Final[Mapping[str, Function]] = {
    name: _over_finite(function) for name, function in _FINITE.items()
}

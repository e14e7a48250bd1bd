"""Which operators look at the order in which their rows come."""

from __future__ import annotations

from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import WindowCall

IN_ANY_ORDER: Final = frozenset(
    {"count", "count_if", "regr_count", "sum", "try_sum", "avg", "try_avg", "min", "max"}
    | {"bool_and", "every", "bool_or", "some", "any", "bit_and", "bit_or", "bit_xor"}
)
"""Aggregates whose value follows from their rows as a bag, in whatever order these come."""

_NEARLY_IN_ANY_ORDER: Final = (
    IN_ANY_ORDER
    | {"stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "skewness"}
    | {"kurtosis", "corr", "covar_samp", "covar_pop", "approx_count_distinct"}
    | {"percentile", "percentile_cont", "percentile_disc", "median"}
)
"""Aggregates that look at no order but in the last digits of sums of doubles."""


def takes_as_they_come(rel: r.Aggregate | r.Window) -> bool:
    """Whether an operator may give another value for another order of its rows, and has none of its own."""
    if isinstance(rel, r.Aggregate):
        return any(one.call.function not in _NEARLY_IN_ANY_ORDER for one in rel.measures)
    return not rel.order and any(map(_goes_by_order, rel.functions))


def _goes_by_order(one: WindowCall) -> bool:
    """Whether a function over a window without an order may see it: one of values by a frame of some rows alone."""
    is_whole = not one.frame or one.frame.count("UNBOUNDED") == 2
    return one.call.function not in _NEARLY_IN_ANY_ORDER or not is_whole

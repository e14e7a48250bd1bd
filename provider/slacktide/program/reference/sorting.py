"""The order that sort keys ask for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from slacktide.algebra.scalar import SortKey
from slacktide.program.reference.ordering import Row, compare


def by_keys(keys: Sequence[SortKey]) -> Callable[[Row], Any]:
    """Make a key for `sorted` of the values of sort keys."""
    return functools.cmp_to_key(functools.partial(in_order, keys))


def in_order(keys: Iterable[SortKey], left: Row, right: Row) -> int:
    """Give -1, 0 or 1 for the values that the sort keys have in two rows."""
    for key, one, other in zip(keys, left, right, strict=True):
        order = in_order_of(key, one, other)
        if order:
            return order
    return 0


def in_order_of(key: SortKey, left: Any, right: Any) -> int:
    """Give -1, 0 or 1 for the values that one sort key has in two rows."""
    if left is None or right is None:
        order = (left is not None) - (right is not None)
        return order if key.nulls_first else -order
    return compare(left, right) * (1 if key.ascending else -1)

"""How much of a table the keys of changes reach."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.common.ranges import (
    MOST_KEYS,
    MOST_RANGES,
    covered,
    covered_evenly,
    few_ranges,
)
from slacktide.optimizer.statistics import ChangeFacts, Figure, SourceFacts
from slacktide.optimizer.statistics.spans import reached
from tests.unit.optimizer.views import JOINED, LINES, ORDERS, SUMMED, column, equal

UNKNOWN = SourceFacts().reach.value
keys = st.lists(st.integers(-1000, 1000), max_size=60)


@given(keys)
def test_few_ranges_hold_all_keys_and_do_not_meet(values: list[int]) -> None:
    found = few_ranges((value, value) for value in values)
    assert len(found) <= MOST_RANGES
    assert all(any(low <= value <= high for low, high in found) for value in values)
    assert [bound for pair in found for bound in pair] == sorted(b for pair in found for b in pair)
    assert all(one[1] < other[0] for one, other in pairwise(found))
    assert {bound for pair in found for bound in pair} <= {*values}


@pytest.mark.parametrize(
    ("ranges", "count", "share"),
    [
        ([(1.0, 10.0), (5.0, 20.0)], 7, 0.2),
        ([(-50.0, 10.0), (91.0, 400.0)], None, 0.2),
        ([(3.0, 3.0)], 1, 0.01),
        ([(500.0, 900.0)], 3, 0.0),
        ([], 0, 0.0),
        ([(3.0, 3.0)], MOST_KEYS + 1, 1.0),
    ],
)
def test_the_share_of_a_range(
    ranges: list[tuple[float, float]], count: int | None, share: float
) -> None:
    assert covered(ranges, count, 1.0, 100.0) == pytest.approx(share)


@pytest.mark.parametrize("size", [1, 2, 12, 25, 100, 5000])
def test_all_keys_of_a_domain_cover_it(size: int) -> None:
    every = [(float(key), float(key)) for key in range(size)]
    assert covered(every, size, 0.0, size - 1.0) >= 0.85
    assert covered([(0.0, size - 1.0)], size, 0.0, size - 1.0) == 1.0


@pytest.mark.parametrize("count", [1, 12, 13, 24, 100, 2000])
def test_what_keys_cover_that_are_drawn_evenly(count: int) -> None:
    draw = random.Random(count)  # noqa: S311
    shares = [
        sum(high - low for low, high in few_ranges((key, key) for key in keys))
        for keys in ([draw.random() for _ in range(count)] for _ in range(200))
    ]
    assert covered_evenly(count) == pytest.approx(sum(shares) / len(shares), abs=0.01)


def facts(rows: float = 1.0, **shares: float) -> SourceFacts:
    told = {name: Figure(share, "observed") for name, share in shares.items()}
    return SourceFacts(changes=(ChangeFacts(Figure(rows), covered=told),))


def reach(root: r.Rel, **known: SourceFacts) -> dict[str, float]:
    return {name: one.reach.value for name, one in reached(root, known).items()}


def test_a_source_is_reached_by_the_changes_of_those_that_it_meets() -> None:
    assert reach(SUMMED, orders=facts(c1=0.1), lines=facts(c11=0.7)) == {
        "orders": 0.7,
        "lines": 0.1,
    }
    assert reach(JOINED, orders=facts(0.0), lines=facts(c11=0.7)) == {
        "orders": 0.7,
        "lines": UNKNOWN,
    }
    assert reach(JOINED, orders=facts(c2=0.1), lines=facts()) == dict.fromkeys(
        ("orders", "lines"), UNKNOWN
    )


def test_a_source_that_lies_in_the_order_of_another_column_is_reached_whole() -> None:
    near = {"orders": facts(c1=0.1), "lines": facts(c11=0.2)}
    for order, share in (("c11", 0.1), ("c12", 1.0)):
        lines = replace(near["lines"], sorted_by=order)
        assert reach(JOINED, **{**near, "lines": lines}) == {"orders": 0.2, "lines": share}


def test_the_column_by_which_most_is_reached_counts_through_projections_and_unions() -> None:
    renamed = r.Project(ORDERS, (s.Assignment(column(31), s.reference(column(1))),))
    once = r.Project(ORDERS, (s.Assignment(column(32), s.reference(column(2))),))
    both = r.Union((renamed, once), (column(41),))
    met = r.Join(both, LINES, "inner", equal(41, 11))
    known = {"orders": facts(c1=0.1, c2=0.3), "lines": facts(c11=0.2)}
    assert reach(met, **known) == {"orders": 0.2, "lines": 0.3}
    one = {**known, "orders": facts(c1=0.1)}
    assert reach(met, **one)["lines"] == UNKNOWN, "of one of them nobody knows"
    grouped = r.Aggregate(renamed, (s.Assignment(column(51), s.reference(column(31))),), ())
    assert reach(r.Join(grouped, LINES, "semi", equal(51, 11)), **known)["lines"] == 0.1
    computed = replace(renamed, outputs=(s.Assignment(column(31), s.Literal("1", "INT", False)),))
    assert reach(r.Join(computed, LINES, "inner", equal(31, 11)), **known)["lines"] == UNKNOWN
